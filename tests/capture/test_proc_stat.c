/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of /proc/stat: "cpu" and "cpuN", 4 columns (Linux 2.4) to 10 (2.6.33 and later). */
#include "parser_test.h"

static const char newest[] = "cpu  10132153 290696 3084719 46828483 16683 25195 175628 4 30 5\n"
                             "cpu0 1393280 32966 572056 13343292 6130 0 17875 1 20 2\n"
                             "cpu11 1335534 28612 520417 6 7 8 9 10 11 12\n"
                             "intr 1462898 122 0\nctxt 2\n";

/* The lines of a text, as many as fit. */
static size_t read_lines(const char *text, size_t len, sonde__cpu_line *line, size_t max)
{
    char *copy = exact_copy(text, len);
    sonde__scan scan = sonde__scan_of(copy, len);
    size_t count = 0;
    while (count < max && sonde__proc_stat_next(&scan, &line[count]))
        count++;
    free(copy);
    return count;
}

static void assert_one_line(const char *text, int id, unsigned columns)
{
    sonde__cpu_line line[2];
    assert_int_equal(read_lines(text, strlen(text), line, 2), 1);
    assert_int_equal(line[0].id, id);
    assert_int_equal(line[0].columns, columns);
}

static void reads_all_columns(void **state)
{
    (void)state;
    sonde__cpu_line line[4];
    assert_int_equal(read_lines(newest, sizeof newest - 1, line, 4), 3);
    const uint64_t total[] = {10132153, 290696, 3084719, 46828483, 16683, 25195, 175628, 4, 30, 5};
    const uint64_t last[] = {1335534, 28612, 520417, 6, 7, 8, 9, 10, 11, 12};
    assert_int_equal(line[0].id, -1);
    assert_int_equal(line[1].id, 0);
    assert_int_equal(line[2].id, 11);
    assert_numbers(line[0].ticks, total, SONDE__CPU_TIMES);
    assert_numbers(line[2].ticks, last, SONDE__CPU_TIMES);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(line[i].columns, 10);
}

static void older_kernels_have_fewer_columns(void **state)
{
    (void)state;
    assert_one_line("cpu  1 2 3 4\n", -1, 4);
    assert_one_line("cpu  1 2 3 4 5 6 7\n", -1, 7);
    assert_one_line("cpu3 1 2 3 4 5 6 7 8 9\n", 3, 9);
}

static void later_columns_are_left_alone(void **state)
{
    (void)state;
    assert_one_line("cpu3 1 2 3 4 5 6 7 8 9 10 11 later\n", 3, 10);
    assert_one_line("cpu  1 2 3 4 5 6 7 8 9 10 \n", -1, 10);
}

static void garbled_lines_have_no_columns(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "cpu  \n",
        "cpu  1 2 3\n",
        "cpu  1 2 3 x\n",
        "cpu  1 2 3 4 -5 6 7 8 9 10\n",
        "cpu  1 2 3 4x 5 6 7 8 9 10\n",
        "cpu  1 2 3 4 5 6 7 8 9 10x\n",
        "cpu  1 2 3 " TOO_BIG " 5 6 7 8 9 10\n",
        "cpu\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_one_line(texts[i], -1, 0);
    assert_one_line("cpu7 1 2 3\n", 7, 0);
}

static void biggest_number_is_read(void **state)
{
    (void)state;
    sonde__cpu_line line[1];
    const char text[] = "cpu  " BIGGEST " 2 3 4\n";
    assert_int_equal(read_lines(text, sizeof text - 1, line, 1), 1);
    assert_int_equal(line[0].columns, 4);
    assert_true(line[0].ticks[0] == UINT64_MAX);
}

/* Cause: such a line was taken for the total, whose values were then lost. */
static void line_of_an_unknown_cpu_is_not_the_total(void **state)
{
    (void)state;
    static const char *const texts[] = {"cpux 1 2 3 4\n", "cpu1x 1 2 3 4\n", "cpu99999 1 2 3 4\n",
                                        "cpu" TOO_BIG " 1 2 3 4\n"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_one_line(texts[i], SONDE__CPU_UNKNOWN, 0);
}

static void ends_at_the_first_other_line(void **state)
{
    (void)state;
    static const char *const texts[] = {"",  "\n", "intr 1\ncpu  1 2 3 4\n",   "CPU 1 2 3 4\n",
                                        "c", "cp", "cpu  1 2 3 4 5 6 7 8 9 10"};
    sonde__cpu_line line[1];
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(read_lines(texts[i], strlen(texts[i]), line, 1), 0);
}

/* Whatever is cut off: lines that come out are the whole ones. */
static void cut_text_gives_whole_lines_only(void **state)
{
    (void)state;
    sonde__cpu_line whole[4], line[4];
    read_lines(newest, sizeof newest - 1, whole, 4);
    for (size_t cut = 0; cut < sizeof newest - 1; cut++) {
        size_t count = read_lines(newest, cut, line, 4);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(line[i].id, whole[i].id);
            assert_int_equal(line[i].columns, 10);
            assert_numbers(line[i].ticks, whole[i].ticks, SONDE__CPU_TIMES);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_columns),
        cmocka_unit_test(older_kernels_have_fewer_columns),
        cmocka_unit_test(later_columns_are_left_alone),
        cmocka_unit_test(garbled_lines_have_no_columns),
        cmocka_unit_test(biggest_number_is_read),
        cmocka_unit_test(line_of_an_unknown_cpu_is_not_the_total),
        cmocka_unit_test(ends_at_the_first_other_line),
        cmocka_unit_test(cut_text_gives_whole_lines_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
