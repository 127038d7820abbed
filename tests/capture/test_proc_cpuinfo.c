/* SPDX-License-Identifier: Apache-2.0 */
#include "parser_test.h"

static const char two_cpus[] = "processor\t: 0\nmodel name\t: Some CPU @ 2.40GHz\n"
                               "cpu MHz\t\t: 2400.125\ncache size\t: 512 KB\n"
                               "flags\t\t: fpu tsc aperfmperf sse\n\n"
                               "processor\t: 1\ncpu MHz\t\t: 800.375\nflags\t\t: fpu tsc\n\n";

static const char aarch64[] = "processor\t: 0\nBogoMIPS\t: 50.00\n"
                              "Features\t: fp asimd evtstrm aes\nCPU implementer\t: 0x41\n\n";

static sonde_status mhz_of(const char *text, size_t len, double *mhz)
{
    char *copy = exact_copy(text, len);
    sonde_status status = sonde__cpuinfo_mhz(copy, len, mhz);
    free(copy);
    return status;
}

static bool is_dynamic(const char *text)
{
    size_t len = strlen(text);
    char *copy = exact_copy(text, len);
    bool dynamic = sonde__cpuinfo_is_dynamic(copy, len);
    free(copy);
    return dynamic;
}

static void assert_mhz(const char *text, double expected)
{
    double mhz = -1;
    assert_int_equal(mhz_of(text, strlen(text), &mhz), SONDE_OK);
    if (mhz != expected)
        fail_msg("%f MHz, expected %f", mhz, expected);
}

static void frequency_is_the_mean(void **state)
{
    (void)state;
    assert_mhz(two_cpus, 1600.25);
    assert_mhz("cpu MHz\t\t: 2445.432\n", 2445.432);
    assert_mhz("cpu MHz: 3000\n", 3000);
    assert_mhz("cpu MHz\t\t: 0.000\n", 0);
    assert_mhz("cpu MHz : 1.0625\ncpu MHz : 1.0\n", 1.03125);
}

static void no_line_means_absent(void **state)
{
    (void)state;
    double mhz = -1;
    static const char *const texts[] = {"", "\n", "cpu MHz", "cpu MHz : 5", aarch64};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(mhz_of(texts[i], strlen(texts[i]), &mhz), SONDE_EABSENT);
    assert_true(mhz == -1);
}

/* Cause: the mean was taken over the lines that could be read, whatever the others said. */
static void garbled_line_makes_no_mean(void **state)
{
    (void)state;
    double mhz = -1;
    static const char *const texts[] = {
        "cpu MHz\n",
        "cpu MHz\t\t:\n",
        "cpu MHz\t\t: x\n",
        "cpu MHz\t\t: 1.\n",
        "cpu MHz\t\t: 1. 5\n",
        "cpu MHz\t\t: 1.5x\n",
        "cpu MHz\t\t: 15x\n",
        "cpu MHz\t\t: -1.5\n",
        "cpu MHz\t\t: " TOO_BIG ".5\n",
        "cpu MHz\t\t: 5." TOO_BIG "\n",
        "cpu MHz\t\t: 1000.0\ncpu MHz\t\t: 1x00.0\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(mhz_of(texts[i], strlen(texts[i]), &mhz), SONDE_EBADDATA);
    assert_true(mhz == -1);
}

static void aperfmperf_tells_a_dynamic_frequency(void **state)
{
    (void)state;
    assert_true(is_dynamic(two_cpus));
    assert_true(is_dynamic("flags : aperfmperf\n"));
    assert_false(is_dynamic("flags\t\t: fpu vme tsc\n"));
    assert_false(is_dynamic("flags : xaperfmperf\n"));
    assert_true(is_dynamic("")); /* not known: better read again than wrong */
    assert_true(is_dynamic(aarch64));
}

/* Either nothing, or the mean of the CPUs whose line is whole. */
static void cut_text_gives_no_wrong_frequency(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof two_cpus - 1; cut++) {
        double mhz = -1;
        sonde_status status = mhz_of(two_cpus, cut, &mhz);
        if (status == SONDE_OK)
            assert_true(mhz == 2400.125 || mhz == 1600.25);
        else
            assert_int_equal(status, SONDE_EABSENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequency_is_the_mean),
        cmocka_unit_test(no_line_means_absent),
        cmocka_unit_test(garbled_line_makes_no_mean),
        cmocka_unit_test(aperfmperf_tells_a_dynamic_frequency),
        cmocka_unit_test(cut_text_gives_no_wrong_frequency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
