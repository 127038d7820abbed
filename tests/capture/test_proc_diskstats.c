/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/diskstats and files /sys/block/NAME/stat: 11 columns, 15 since Linux 4.18
   (discards), 17 since 5.5 (flushes). */
#include "parser_test.h"

static const char newer[] =
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    " 254       0 vda 77907 10956 5507922 82581 67986 19614 2443656 13926 3 28968 99402 13931 39 "
    "838008 2238 12993 657\n"
    " 254       1 vda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";

/* reads, writes, read bytes, written bytes, read ms, write ms, reads merged, writes merged, busy */
static const uint64_t vda[] = {
    77907, 67986, 5507922ull * 512, 2443656ull * 512, 82581, 13926, 10956, 19614, 28968};

static size_t read_lines(const char *text, size_t len, sonde__disk_line *line, size_t max,
                         char name[][SONDE__DISK_NAME_BYTES])
{
    char *copy = exact_copy(text, len);
    sonde__scan scan = sonde__scan_of(copy, len);
    size_t count = 0;
    while (count < max && sonde__diskstats_next(&scan, &line[count])) {
        assert_true(line[count].name >= copy &&
                    line[count].name + line[count].name_len <= copy + len);
        snprintf(name[count], SONDE__DISK_NAME_BYTES, "%.*s", (int)line[count].name_len,
                 line[count].name);
        count++;
    }
    free(copy);
    return count;
}

static sonde__disk_line one_line(const char *text, char name[1][SONDE__DISK_NAME_BYTES])
{
    sonde__disk_line line[2];
    char names[2][SONDE__DISK_NAME_BYTES];
    assert_int_equal(read_lines(text, strlen(text), line, 2, names), 1);
    strcpy(name[0], names[0]);
    return line[0];
}

static void reads_counters_in_psutils_order(void **state)
{
    (void)state;
    sonde__disk_line line[4];
    char name[4][SONDE__DISK_NAME_BYTES];
    assert_int_equal(read_lines(newer, sizeof newer - 1, line, 4, name), 3);
    assert_string_equal(name[0], "loop0");
    assert_string_equal(name[1], "vda");
    assert_string_equal(name[2], "vda1");
    const uint64_t vda1[] = {1, 5, 3 * 512, 7 * 512, 4, 8, 2, 6, 10};
    assert_numbers(line[1].counter, vda, SONDE__DISK_COUNTERS);
    assert_numbers(line[2].counter, vda1, SONDE__DISK_COUNTERS);
    for (unsigned i = 0; i < 3; i++)
        assert_false(line[i].garbled);
}

static void older_kernels_have_fewer_columns(void **state)
{
    (void)state;
    char name[1][SONDE__DISK_NAME_BYTES];
    const uint64_t expected[] = {1, 5, 3 * 512, 7 * 512, 4, 8, 2, 6, 10};
    sonde__disk_line line = one_line("8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n", name);
    assert_false(line.garbled);
    assert_numbers(line.counter, expected, SONDE__DISK_COUNTERS);
    line = one_line("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n", name);
    assert_numbers(line.counter, expected, SONDE__DISK_COUNTERS);
    line = one_line("   8    1 sda1 21 22 23 24\n", name); /* before Linux 2.6.25 */
    const uint64_t partition[] = {21, 23, 22 * 512, 24 * 512, 0, 0, 0, 0, 0};
    assert_false(line.garbled);
    assert_numbers(line.counter, partition, SONDE__DISK_COUNTERS);
}

static void garbled_counters_keep_the_name(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "8 0 sda\n",
        "8 0 sda 1 2 3\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10 x\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10x 11\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10 11x\n",
        "8 0 sda 1 -2 3 4 5 6 7 8 9 10 11\n",
        "8 0 sda 1 2 3 4 x\n",
        "8 0 sda " TOO_BIG " 2 3 4 5 6 7 8 9 10 11\n",
        "8 0 sda 1 2 " BIGGEST " 4 5 6 7 8 9 10 11\n", /* sectors whose bytes do not fit */
        "8 0 sda 1 2 3 4 5 6 " BIGGEST " 8 9 10 11\n",
        "8 1 sda 1 " BIGGEST " 3 4\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char name[1][SONDE__DISK_NAME_BYTES];
        sonde__disk_line line = one_line(texts[i], name);
        if (!line.garbled)
            fail_msg("taken for good: %s", texts[i]);
        assert_string_equal(name[0], "sda");
    }
}

/* Cause: such lines were skipped, and the sum over all disks came out too low. */
static void line_without_a_name_is_not_skipped(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\n",
        "x 0 sda 1 2 3 4 5 6 7 8 9 10 11\n",
        "8 sda 1 2 3 4 5 6 7 8 9 10 11\n",
        "8 0\n",
        "8 0 a_name_that_is_longer_than_32_bytes 1 2 3 4 5 6 7 8 9 10 11\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10 11", /* cut off before its newline */
        "8",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char name[1][SONDE__DISK_NAME_BYTES];
        sonde__disk_line line = one_line(texts[i], name);
        assert_true(line.garbled);
        assert_int_equal(line.name_len, 0);
    }
}

static void empty_text_has_no_line(void **state)
{
    (void)state;
    sonde__disk_line line[1];
    char name[1][SONDE__DISK_NAME_BYTES];
    assert_int_equal(read_lines("", 0, line, 1, name), 0);
}

static void cut_text_gives_no_wrong_line(void **state)
{
    (void)state;
    sonde__disk_line whole[4], line[4];
    char name[4][SONDE__DISK_NAME_BYTES], other[4][SONDE__DISK_NAME_BYTES];
    read_lines(newer, sizeof newer - 1, whole, 4, name);
    for (size_t cut = 0; cut < sizeof newer - 1; cut++) {
        size_t count = read_lines(newer, cut, line, 4, other);
        bool at_line_end = cut == 0 || newer[cut - 1] == '\n';
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(line[i].garbled, !at_line_end && i == count - 1);
            if (line[i].garbled)
                continue;
            assert_string_equal(other[i], name[i]);
            assert_numbers(line[i].counter, whole[i].counter, SONDE__DISK_COUNTERS);
        }
    }
}

static sonde_status block_stat(const char *text, uint64_t *counter)
{
    char *copy = exact_copy(text, strlen(text));
    sonde_status status = sonde__parse_block_stat(copy, strlen(text), counter);
    free(copy);
    return status;
}

static void reads_a_block_stat_file(void **state)
{
    (void)state;
    uint64_t counter[SONDE__DISK_COUNTERS];
    assert_int_equal(block_stat("   77907    10956  5507922    82581    67986    19614  2443656    "
                                "13926        3    28968    99402    13931       39   838008     "
                                "2238    12993      657\n",
                                counter),
                     SONDE_OK);
    assert_numbers(counter, vda, SONDE__DISK_COUNTERS);
    assert_int_equal(block_stat("1 2 3 4 5 6 7 8 9 10 11\n", counter), SONDE_OK);
    static const char *const bad[] = {
        "", "\n", "1", "1 2 3 4 5 6 7 8 9 10 11", "x\n", "1 2 3 4 5 6 7 8 9 10\n"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(block_stat(bad[i], counter), SONDE_EBADDATA);
}

static void partitions_follow_the_kernels_naming(void **state)
{
    (void)state;
    static const struct {
        const char *disk;
        const char *name;
        bool is;
    } cases[] = {
        {"sda", "sda1", true},
        {"sda", "sda15", true},
        {"sda", "sda", false},
        {"sda", "sdaa", false},
        {"sda", "sdb1", false},
        {"sda", "sd", false},
        {"nvme0n1", "nvme0n1p1", true},
        {"nvme0n1", "nvme0n1p128", true},
        {"nvme0n1", "nvme0n1p", false},
        {"nvme0n1", "nvme0n10", false},
        {"nvme0n1", "nvme0n1px", false},
        {"mmcblk0", "mmcblk0p1", true},
        {"md127", "md127p1", true},
        {"mmcblk0", "mmcblk0boot0", false},
        {"md0", "md01", false},
        {"loop1", "loop10", false},
        {"dm-1", "dm-10", false},
        {"", "sda1", false},
        {"sda", "sda1p1", false},
        {"cciss/c0d0", "cciss/c0d0p1", true},
        {"sda", "", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t name_len = strlen(cases[i].name), disk_len = strlen(cases[i].disk);
        char *name = exact_copy(cases[i].name, name_len);
        char *disk = exact_copy(cases[i].disk, disk_len);
        if (sonde__is_partition(name, name_len, disk, disk_len) != cases[i].is)
            fail_msg("%s of %s", cases[i].name, cases[i].disk);
        free(name);
        free(disk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_counters_in_psutils_order),
        cmocka_unit_test(older_kernels_have_fewer_columns),
        cmocka_unit_test(garbled_counters_keep_the_name),
        cmocka_unit_test(line_without_a_name_is_not_skipped),
        cmocka_unit_test(empty_text_has_no_line),
        cmocka_unit_test(cut_text_gives_no_wrong_line),
        cmocka_unit_test(reads_a_block_stat_file),
        cmocka_unit_test(partitions_follow_the_kernels_naming),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
