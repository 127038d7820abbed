/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of /proc/PID/{stat,statm,status,io}. */
#include "parser_test.h"

static const char stat_text[] =
    "29221 (cat) R 29193 29193 15482 0 -1 4194304 97 0 0 0 111 22 33 44 20 0 5 0 255821 3133440 "
    "356 "
    "18446744073709551615 94616614506496 94616614526377 140733087456432 0 0 0 0 0 0 0 0 0 17 1 0 0 "
    "66 0 0 94616614542384 94616614544000 94617518268416 140733087464068 140733087464137 "
    "140733087464137 140733087465451 0\n";

static const char status_text[] = "Name:\tcat\nState:\tR (running)\nPid:\t29221\nThreads:\t1\n"
                                  "Mems_allowed_list:\t0\nvoluntary_ctxt_switches:\t150\n"
                                  "nonvoluntary_ctxt_switches:\t545\n";

static const char io_text[] = "rchar: 8687\nwchar: 1711\nsyscr: 14\nsyscw: 2\nread_bytes: 4096\n"
                              "write_bytes: 8192\ncancelled_write_bytes: 3\n";

static sonde_status parse_stat(const char *text, size_t len, sonde__pid_stat *out)
{
    char *copy = exact_copy(text, len);
    sonde_status status = sonde__parse_pid_stat(copy, len, out);
    free(copy);
    return status;
}

static void assert_stat(const sonde__pid_stat *stat, uint64_t iowait)
{
    const uint64_t value[] = {
        stat->pid,          stat->user_ticks,          stat->system_ticks,
        stat->threads,      stat->start_ticks,         stat->cpu,
        stat->iowait_ticks, stat->children_user_ticks, stat->children_system_ticks};
    const uint64_t expected[] = {29221, 111, 22, 5, 255821, 1, iowait, 33, 44};
    assert_numbers(value, expected, COUNT_OF(expected));
}

static void stat_is_read(void **state)
{
    (void)state;
    sonde__pid_stat stat;
    assert_int_equal(parse_stat(stat_text, sizeof stat_text - 1, &stat), SONDE_OK);
    assert_stat(&stat, 66);
}

/* The name of a program is up to 15 bytes of anything but NUL. */
static void stat_of_any_name_is_read(void **state)
{
    (void)state;
    static const char *const names[] = {
        "", ")", "((((", "a) R 1 2 3 4 5", " a b", "tab\tnew\nline", "\xff\xfe)", ") S 1 2 3"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char text[1024];
        int len = snprintf(text, sizeof text, "29221 (%s%s", names[i], strchr(stat_text, ')'));
        sonde__pid_stat stat;
        assert_int_equal(parse_stat(text, (size_t)len, &stat), SONDE_OK);
        assert_stat(&stat, 66);
    }
}

/* Linux before 2.6.18 ends after the policy, two columns before the time waiting for I/O. */
static void older_stat_has_no_iowait(void **state)
{
    (void)state;
    char text[sizeof stat_text];
    size_t len = (size_t)(strstr(stat_text, " 66 ") - stat_text);
    memcpy(text, stat_text, len);
    text[len++] = '\n';
    sonde__pid_stat stat;
    assert_int_equal(parse_stat(text, len, &stat), SONDE_OK);
    assert_stat(&stat, 0);
}

static void garbled_stat_is_bad(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n",
                                        "29221\n",
                                        "29221 (cat) \n",
                                        "x (cat) R 1 2\n",
                                        "(cat) R 1 2\n",
                                        "29221 (cat R 1 2\n",
                                        "29221 (cat) RR 1 2\n",
                                        "29221 (cat) R 1 2 3\n"};
    sonde__pid_stat stat;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(parse_stat(texts[i], strlen(texts[i]), &stat), SONDE_EBADDATA);
}

/* Every byte of the numbers we use, replaced by one that is no digit. */
static void garbled_byte_in_stat_gives_no_wrong_value(void **state)
{
    (void)state;
    size_t first = (size_t)(strchr(stat_text, ')') - stat_text) + 4;
    size_t last = (size_t)(strstr(stat_text, " 66 ") - stat_text) + 3;
    for (size_t at = first; at < last; at++) {
        if (stat_text[at] < '0' || stat_text[at] > '9')
            continue;
        char text[sizeof stat_text];
        memcpy(text, stat_text, sizeof text);
        text[at] = 'x';
        sonde__pid_stat stat;
        assert_int_equal(parse_stat(text, sizeof text - 1, &stat), SONDE_EBADDATA);
    }
}

/* Cause: cut after the 37th column, the time waiting for I/O was told to be 0. */
static void cut_stat_gives_no_wrong_value(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof stat_text - 1; cut++) {
        sonde__pid_stat stat;
        if (parse_stat(stat_text, cut, &stat) == SONDE_OK)
            assert_stat(&stat, 66);
    }
}

static sonde_status parse_statm(const char *text, size_t len, uint64_t pages[7])
{
    char *copy = exact_copy(text, len);
    sonde_status status = sonde__parse_statm(copy, len, pages);
    free(copy);
    return status;
}

static void statm_is_read(void **state)
{
    (void)state;
    const char text[] = "765 400 372 5 0 123 0\n";
    const uint64_t expected[] = {765, 400, 372, 5, 0, 123, 0};
    uint64_t pages[7];
    assert_int_equal(parse_statm(text, sizeof text - 1, pages), SONDE_OK);
    assert_numbers(pages, expected, 7);
    for (size_t cut = 0; cut < sizeof text - 1; cut++)
        assert_int_equal(parse_statm(text, cut, pages), SONDE_EBADDATA);
}

static void garbled_statm_is_bad(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n",
                                        "1 2 3 4 5 6\n",
                                        "1 2 3 x 5 6 7\n",
                                        "1 2 3 -4 5 6 7\n",
                                        "1 2 3 4 5 6 7x\n",
                                        "1 " TOO_BIG " 3 4 5 6 7\n"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        uint64_t pages[7] = {42};
        assert_int_equal(parse_statm(texts[i], strlen(texts[i]), pages), SONDE_EBADDATA);
        assert_int_equal(pages[0], 42);
    }
}

static sonde_status parse_status(const char *text, size_t len, uint64_t value[2])
{
    char *copy = exact_copy(text, len);
    sonde_status status = sonde__parse_pid_status(copy, len, &value[0], &value[1]);
    free(copy);
    return status;
}

static void status_is_read(void **state)
{
    (void)state;
    uint64_t value[2] = {0};
    const uint64_t expected[2] = {150, 545};
    assert_int_equal(parse_status(status_text, sizeof status_text - 1, value), SONDE_OK);
    assert_numbers(value, expected, 2);
    const char later[] = "nonvoluntary_ctxt_switches:\t545\nvoluntary_ctxt_switches:\t150\n"
                         "x86_Thread_features:\t\n";
    assert_int_equal(parse_status(later, sizeof later - 1, value), SONDE_OK);
    assert_numbers(value, expected, 2);
}

static void status_without_switches_is_told(void **state)
{
    (void)state;
    uint64_t value[2] = {1, 2};
    static const char *const absent[] = {"", "\n", "Name:\tcat\n", "voluntary_ctxt_switches:\t1\n",
                                         ("xvoluntary_ctxt_switches: 1\n"
                                          "nonvoluntary_ctxt_switches: 2\n")};
    static const char *const bad[] = {
        "voluntary_ctxt_switches:\tx\nnonvoluntary_ctxt_switches:\t1\n",
        "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t\n",
        "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t1x\n",
        "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t" TOO_BIG "\n"};
    for (size_t i = 0; i < COUNT_OF(absent); i++)
        assert_int_equal(parse_status(absent[i], strlen(absent[i]), value), SONDE_EABSENT);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(parse_status(bad[i], strlen(bad[i]), value), SONDE_EBADDATA);
    assert_true(value[0] == 1 && value[1] == 2);
}

static void cut_status_gives_no_value(void **state)
{
    (void)state;
    uint64_t value[2];
    for (size_t cut = 0; cut < sizeof status_text - 1; cut++)
        assert_int_equal(parse_status(status_text, cut, value), SONDE_EABSENT);
}

static sonde_status parse_io(const char *text, size_t len, uint64_t counter[6])
{
    char *copy = exact_copy(text, len);
    sonde_status status = sonde__parse_pid_io(copy, len, counter);
    free(copy);
    return status;
}

static void io_is_read(void **state)
{
    (void)state;
    uint64_t counter[6];
    const uint64_t expected[] = {14, 2, 4096, 8192, 8687, 1711};
    assert_int_equal(parse_io(io_text, sizeof io_text - 1, counter), SONDE_OK);
    assert_numbers(counter, expected, 6);
    size_t needed = (size_t)(strstr(io_text, "cancelled") - io_text);
    for (size_t cut = 0; cut < needed; cut++)
        assert_int_equal(parse_io(io_text, cut, counter), SONDE_EBADDATA);
}

static void garbled_io_is_bad(void **state)
{
    (void)state;
    static const char *const bad[] = {"x", "-1", "1x", "", TOO_BIG, "0x10"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char text[256];
        int len = snprintf(text, sizeof text,
                           "rchar: 1\nwchar: %s\nsyscr: 1\nsyscw: 1\nread_bytes: 1\n"
                           "write_bytes: 1\n",
                           bad[i]);
        uint64_t counter[6] = {42};
        assert_int_equal(parse_io(text, (size_t)len, counter), SONDE_EBADDATA);
        assert_int_equal(counter[0], 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_is_read),
        cmocka_unit_test(stat_of_any_name_is_read),
        cmocka_unit_test(older_stat_has_no_iowait),
        cmocka_unit_test(garbled_stat_is_bad),
        cmocka_unit_test(garbled_byte_in_stat_gives_no_wrong_value),
        cmocka_unit_test(cut_stat_gives_no_wrong_value),
        cmocka_unit_test(statm_is_read),
        cmocka_unit_test(garbled_statm_is_bad),
        cmocka_unit_test(status_is_read),
        cmocka_unit_test(status_without_switches_is_told),
        cmocka_unit_test(cut_status_gives_no_value),
        cmocka_unit_test(io_is_read),
        cmocka_unit_test(garbled_io_is_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
