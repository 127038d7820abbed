/* SPDX-License-Identifier: Apache-2.0 */
#include "parser_test.h"

#define HEADER                                                                                 \
    "Inter-|   Receive                                                |  Transmit\n"           \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs " \
    "drop fifo colls carrier compressed\n"

static const char whole[] =
    HEADER "    lo:    3245      30    1    2    3     4          5         6     3246      31    "
           "7    8    "
           "0     0       0          0\n"
           "enp1s0f0v1: 130426777    4429 10 20 0 0 0 0   281694    3595 30 40 0 0 0 0\n";

/* bytes sent, bytes received, packets sent, packets received, errors in, out, drops in, out */
static const uint64_t lo[] = {3246, 3245, 31, 30, 1, 7, 2, 8};
static const uint64_t nic[] = {281694, 130426777, 3595, 4429, 10, 30, 20, 40};

static size_t read_lines(const char *text, size_t len, sonde__net_line *line, size_t max,
                         char name[][SONDE__NET_NAME_BYTES])
{
    char *copy = exact_copy(text, len);
    sonde__scan scan = sonde__scan_of(copy, len);
    size_t count = 0;
    while (count < max && sonde__net_dev_next(&scan, &line[count])) {
        assert_true(line[count].name >= copy &&
                    line[count].name + line[count].name_len <= copy + len);
        assert_true(line[count].name_len < SONDE__NET_NAME_BYTES);
        snprintf(name[count], SONDE__NET_NAME_BYTES, "%.*s", (int)line[count].name_len,
                 line[count].name);
        count++;
    }
    free(copy);
    return count;
}

static sonde__net_line one_line(const char *text, char name[1][SONDE__NET_NAME_BYTES])
{
    sonde__net_line line[2];
    char names[2][SONDE__NET_NAME_BYTES];
    assert_int_equal(read_lines(text, strlen(text), line, 2, names), 1);
    strcpy(name[0], names[0]);
    return line[0];
}

static void reads_counters_in_psutils_order(void **state)
{
    (void)state;
    sonde__net_line line[3];
    char name[3][SONDE__NET_NAME_BYTES];
    assert_int_equal(read_lines(whole, sizeof whole - 1, line, 3, name), 2);
    assert_string_equal(name[0], "lo");
    assert_string_equal(name[1], "enp1s0f0v1");
    assert_numbers(line[0].counter, lo, SONDE__NET_COUNTERS);
    assert_numbers(line[1].counter, nic, SONDE__NET_COUNTERS);
    assert_false(line[0].garbled || line[1].garbled);
}

static void headers_alone_are_no_interface(void **state)
{
    (void)state;
    sonde__net_line line[1];
    char name[1][SONDE__NET_NAME_BYTES];
    assert_int_equal(read_lines(HEADER, sizeof HEADER - 1, line, 1, name), 0);
    assert_int_equal(read_lines("", 0, line, 1, name), 0);
}

/* Old kernels set no blank after the colon of a long number; aliases hold a colon themselves. */
static void colons_are_told_apart(void **state)
{
    (void)state;
    char name[1][SONDE__NET_NAME_BYTES];
    sonde__net_line line = one_line("  eth0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", name);
    const uint64_t expected[] = {9, 1, 10, 2, 3, 11, 4, 12};
    assert_string_equal(name[0], "eth0");
    assert_false(line.garbled);
    assert_numbers(line.counter, expected, SONDE__NET_COUNTERS);
    line = one_line("eth0:1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", name);
    assert_string_equal(name[0], "eth0:1");
    assert_false(line.garbled);
}

static void garbled_counters_keep_the_name(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "eth0:\n",
        "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n",
        "eth0: 1 2 x 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        "eth0: 1 2 3x 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        "eth0: -1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        "eth0: " TOO_BIG " 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char name[1][SONDE__NET_NAME_BYTES];
        assert_true(one_line(texts[i], name).garbled);
        assert_string_equal(name[0], "eth0");
    }
}

/* Cause: such lines were skipped, and the sum over all interfaces came out too low. */
static void line_without_a_name_is_not_skipped(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "eth0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        "sixteen_letters_: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", /* cut off before its newline */
        "\n",
        "e",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char name[1][SONDE__NET_NAME_BYTES];
        sonde__net_line line = one_line(texts[i], name);
        assert_true(line.garbled);
        assert_int_equal(line.name_len, 0);
    }
}

static void cut_text_gives_no_wrong_line(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof whole - 1; cut++) {
        sonde__net_line line[3];
        char name[3][SONDE__NET_NAME_BYTES];
        size_t count = read_lines(whole, cut, line, 3, name);
        bool at_line_end = cut == 0 || whole[cut - 1] == '\n';
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(line[i].garbled, !at_line_end && i == count - 1);
            if (!line[i].garbled)
                assert_numbers(line[i].counter, i ? nic : lo, SONDE__NET_COUNTERS);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_counters_in_psutils_order),
        cmocka_unit_test(headers_alone_are_no_interface),
        cmocka_unit_test(colons_are_told_apart),
        cmocka_unit_test(garbled_counters_keep_the_name),
        cmocka_unit_test(line_without_a_name_is_not_skipped),
        cmocka_unit_test(cut_text_gives_no_wrong_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
