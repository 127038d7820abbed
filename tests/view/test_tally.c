/* SPDX-License-Identifier: Apache-2.0 */
#include "view/json_indent.h"
#include "view/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 20;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Against sorting all of them. */
static void quantiles_are_within_the_promise(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static uint64_t values[COUNT];
    sonde__times times;
    sonde__times_init(&times);
    for (int i = 0; i < COUNT; i++) {
        values[i] = next_random() >> (next_random() % 44);
        sonde__times_add(&times, values[i]);
    }
    qsort(values, COUNT, sizeof *values, compare);
    for (int percent = 1; percent <= 100; percent++) {
        double exact = (double)values[(size_t)percent * COUNT / 100 - 1];
        double got = (double)sonde__times_quantile(&times, percent / 100.0);
        assert_true(got >= exact * 0.992 - 1 && got <= exact * 1.008 + 1);
    }
    assert_int_equal(times.min_ns, values[0]);
    assert_int_equal(times.max_ns, values[COUNT - 1]);
    sonde__times_free(&times);
    assert_int_equal(sonde__times_quantile(&times, 0.5), 0);
}

static void quantiles_of_one_value_are_it(void **state)
{
    (void)state;
    static const uint64_t cases[] = {0, 1, 63, 64, 127, 128, 1000001, UINT64_MAX};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sonde__times times;
        sonde__times_init(&times);
        sonde__times_add(&times, cases[i]);
        assert_int_equal(sonde__times_quantile(&times, 0.001), cases[i]);
        assert_int_equal(sonde__times_quantile(&times, 1), cases[i]);
        sonde__times_free(&times);
    }
}

/* Against marking every nanosecond. */
static void busy_time_is_the_union(void **state)
{
    (void)state;
    enum { SPAN = 20000, ROUNDS = 50, COUNT = 60 };
    static bool marked[SPAN];
    for (int round = 0; round < ROUNDS; round++) {
        sonde__busy busy = {0};
        uint64_t ends[COUNT];
        memset(marked, 0, sizeof marked);
        for (int i = 0; i < COUNT; i++)
            ends[i] = 500 + next_random() % (SPAN - 500);
        qsort(ends, COUNT, sizeof *ends, compare);
        for (int i = 0; i < COUNT; i++) {
            uint64_t start = ends[i] - next_random() % 400;
            sonde__busy_add(&busy, start, ends[i]);
            for (uint64_t at = start; at < ends[i]; at++)
                marked[at] = true;
        }
        uint64_t expected = 0;
        for (int at = 0; at < SPAN; at++)
            expected += marked[at];
        assert_int_equal(sonde__busy_sum(&busy).busy_ns, expected);
    }
}

static void gaps_are_counted_over_any_number(void **state)
{
    (void)state;
    sonde__busy busy = {0};
    for (uint64_t i = 1; i <= 10000; i++)
        sonde__busy_add(&busy, i * 100, i * 100 + (i == 5000 ? 10 : 60));
    sonde__busy_total total = sonde__busy_sum(&busy);
    assert_int_equal(total.busy_ns, 9999 * 60 + 10);
    assert_int_equal(total.gaps, 9999);
    assert_int_equal(total.longest_gap.start_ns, 500010);
    assert_int_equal(total.longest_gap.end_ns - total.longest_gap.start_ns, 90);
}

static sonde__packet make(const char *operation, const char *device, uint64_t start, uint64_t end)
{
    return (sonde__packet){.operation = {operation, strlen(operation)},
                           .device = {device, strlen(device)},
                           .worker = {operation, strlen(operation)},
                           .layer = 1,
                           .success = true,
                           .end_ns = end,
                           .duration_ns = end - start};
}

static void contention_is_overlap_of_cpu_and_igpu(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        uint64_t start, end;
    } cases[] = {{"cpu", 100, 200},  {"igpu", 200, 300}, /* touching is not overlapping */
                 {"cpu", 250, 350},                      /* 1 */
                 {"igpu", 340, 360},                     /* 2 */
                 {"npu", 300, 365},  {"cpu", 400, 500},  {"cpu", 410, 510}, /* the same device */
                 {"igpu", 405, 600}};                                       /* 3 */
    sonde__tally tally;
    sonde__tally_init(&tally, SONDE__TALLY_SUMMARY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sonde__packet packet = make("op", cases[i].device, cases[i].start, cases[i].end);
        sonde__tally_add(&tally, &packet);
    }
    assert_int_equal(tally.contention, 3);
    sonde__tally_free(&tally);
}

static void names_beyond_the_limit_are_counted_together(void **state)
{
    (void)state;
    sonde__tally tally;
    sonde__tally_init(&tally, SONDE__TALLY_ALL);
    for (int i = 0; i < 3 * SONDE__GROUPS_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, "operation_%d", i);
        sonde__packet packet = make(name, "cpu", 10, 20);
        sonde__tally_add(&tally, &packet);
    }
    const sonde__group_table *table = &tally.by[SONDE__BY_ACTIVITY];
    uint64_t sum = 0;
    for (size_t i = 0; i < table->count; i++)
        sum += table->groups[i]->count;
    assert_int_equal(sum, 3 * SONDE__GROUPS_MAX);
    assert_int_equal(table->count, SONDE__GROUPS_MAX + 1);
    assert_int_equal(sonde__group_find(table, "(others)")->count, 2 * SONDE__GROUPS_MAX);
    assert_int_equal(sonde__group_find(table, "operation_7")->count, 1);
    sonde__tally_free(&tally);
}

static void json_is_indented(void **state)
{
    (void)state;
    static const char compact[] = "{\"a\":[],\"b\":{\"c,:\\\"[\":1,\"d\":[1,2]},\"e\":{}}";
    static const char expected[] =
        "{\n  \"a\": [],\n  \"b\": {\n    \"c,:\\\"[\": 1,\n    \"d\": [\n"
        "      1,\n      2\n    ]\n  },\n  \"e\": {}\n}\n";
    sonde__buf buf;
    sonde__buf_init(&buf, 4096);
    sonde__json_indent(&buf, compact, sizeof compact - 1);
    assert_int_equal(buf.len, sizeof expected - 1);
    assert_memory_equal(buf.data, expected, buf.len);
    sonde__buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_within_the_promise),
        cmocka_unit_test(quantiles_of_one_value_are_it),
        cmocka_unit_test(busy_time_is_the_union),
        cmocka_unit_test(gaps_are_counted_over_any_number),
        cmocka_unit_test(contention_is_overlap_of_cpu_and_igpu),
        cmocka_unit_test(names_beyond_the_limit_are_counted_together),
        cmocka_unit_test(json_is_indented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
