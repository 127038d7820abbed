/* SPDX-License-Identifier: Apache-2.0 */
#include "parser_test.h"

static const char whole[] = "nr_free_pages 912663\nnr_zone_active_anon 391\npgpgin 2753997\n"
                            "pgpgout 1221828\npswpin 123\npswpout 4567\npgalloc_dma 0\n"
                            "zswpin 77\nzswpout 88\n";

static sonde_status parse(const char *text, size_t len, uint64_t *in, uint64_t *out)
{
    char *copy = exact_copy(text, len);
    sonde_status status = sonde__parse_vmstat(copy, len, in, out);
    free(copy);
    return status;
}

static void reads_both_counters(void **state)
{
    (void)state;
    uint64_t in = 0, out = 0;
    assert_int_equal(parse(whole, sizeof whole - 1, &in, &out), SONDE_OK);
    assert_int_equal(in, 123);
    assert_int_equal(out, 4567);
    const char biggest[] = "a 1\npswpin " BIGGEST "\npswpout " BIGGEST "\n";
    assert_int_equal(parse(biggest, sizeof biggest - 1, &in, &out), SONDE_OK);
    assert_true(in == UINT64_MAX && out == UINT64_MAX);
}

static void counters_may_come_first(void **state)
{
    (void)state;
    uint64_t in = 0, out = 0;
    const char text[] = "pswpin 5\npswpout 6\n";
    assert_int_equal(parse(text, sizeof text - 1, &in, &out), SONDE_OK);
    assert_int_equal(in, 5);
    assert_int_equal(out, 6);
}

static void assert_fails(const char *text, sonde_status expected)
{
    uint64_t in = 1, out = 2;
    assert_int_equal(parse(text, strlen(text), &in, &out), expected);
    assert_int_equal(in, 1);
    assert_int_equal(out, 2);
}

/* A kernel without CONFIG_SWAP or CONFIG_VM_EVENT_COUNTERS. */
static void missing_counters_are_absent(void **state)
{
    (void)state;
    assert_fails("", SONDE_EABSENT);
    assert_fails("nr_free_pages 5\npgpgin 1\n", SONDE_EABSENT);
    assert_fails("a 1\npswpin 5\n", SONDE_EABSENT);
    assert_fails("a 1\nzpswpin 5\nzpswpout 6\npswpinx 7\n", SONDE_EABSENT);
}

static void garbled_counters_are_bad(void **state)
{
    (void)state;
    assert_fails("a 1\npswpin x\npswpout 6\n", SONDE_EBADDATA);
    assert_fails("a 1\npswpin 5x\npswpout 6\n", SONDE_EBADDATA);
    assert_fails("a 1\npswpin 5\npswpout -6\n", SONDE_EBADDATA);
    assert_fails("a 1\npswpin " TOO_BIG "\npswpout 6\n", SONDE_EBADDATA);
    assert_fails("a 1\npswpin \npswpout 6\n", SONDE_EBADDATA);
}

static void cut_text_gives_no_wrong_counter(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof whole - 1; cut++) {
        uint64_t in = 0, out = 0;
        if (parse(whole, cut, &in, &out) != SONDE_OK)
            continue;
        assert_int_equal(in, 123);
        assert_int_equal(out, 4567);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_counters),
        cmocka_unit_test(counters_may_come_first),
        cmocka_unit_test(missing_counters_are_absent),
        cmocka_unit_test(garbled_counters_are_bad),
        cmocka_unit_test(cut_text_gives_no_wrong_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
