/* SPDX-License-Identifier: Apache-2.0 */
/* What metrics are and are not: names, labels, limits, cells, percentiles. */
#include "metric_test.h"
#include "record/histogram_table.h"
#include "record/metric_limits.h"
#include "sonde/sonde.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sonde_metric_stats stats_now(void)
{
    sonde_metric_stats stats;
    sonde_metric_stats_get(&stats);
    return stats;
}

static void test_same_name_same_handle(void **state)
{
    (void)state;
    sonde_counter *a = sonde_counter_get("same_total", "help", SONDE_LABELS("k", "1"));
    assert_ptr_equal(a, sonde_counter_get("same_total", NULL, SONDE_LABELS("k", "1")));
    assert_ptr_not_equal(a, sonde_counter_get("same_total", NULL, SONDE_LABELS("k", "2")));
    sonde_family *family = sonde_counter_family("same_total", NULL, SONDE_KEYS("k"));
    assert_ptr_equal(a, sonde_counter_with(family, SONDE_VALUES("1")));
    assert_int_equal(a->status, SONDE_OK);
}

static void test_names_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "1x", "a-b", "a b", "caf\xc3\xa9", NULL};
    sonde_metric_stats before = stats_now();
    for (int i = 0; bad[i]; i++) {
        sonde_counter *counter = sonde_counter_get(bad[i], NULL, NULL);
        assert_int_equal(counter->status, SONDE_EINVAL);
        sonde_counter_add(counter, 1); /* does nothing */
        assert_int_equal(sonde_counter_value(counter), 0);
    }
    assert_int_equal(sonde_gauge_get(NULL, NULL, NULL)->status, SONDE_EINVAL);
    assert_int_equal(sonde_gauge_get("ok", NULL, SONDE_LABELS("a:b", "1"))->status, SONDE_EINVAL);
    assert_int_equal(sonde_gauge_get("ok", NULL, SONDE_LABELS("__a", "1"))->status, SONDE_EINVAL);
    assert_int_equal(sonde_gauge_get("ok", NULL, SONDE_LABELS("a", "1", "a", "2"))->status,
                     SONDE_EINVAL);
    assert_int_equal(sonde_gauge_get("ok", NULL, SONDE_LABELS("a"))->status, SONDE_EINVAL);
    assert_int_equal(sonde_counter_get("ns:a_1", NULL, NULL)->status, SONDE_OK);
    assert_true(stats_now().refused >= before.refused + 10);
}

static void test_other_kind_or_keys_is_refused(void **state)
{
    (void)state;
    sonde_counter_get("taken_total", NULL, SONDE_LABELS("a", "1"));
    assert_int_equal(sonde_gauge_get("taken_total", NULL, SONDE_LABELS("a", "1"))->status,
                     SONDE_EINVAL);
    assert_int_equal(sonde_counter_get("taken_total", NULL, NULL)->status, SONDE_EINVAL);
    assert_int_equal(sonde_counter_get("taken_total", NULL, SONDE_LABELS("b", "1"))->status,
                     SONDE_EINVAL);
    sonde_family *family = sonde_counter_family("taken_total", NULL, SONDE_KEYS("a"));
    assert_int_equal(sonde_gauge_with(family, SONDE_VALUES("1"))->status, SONDE_EINVAL);
}

static void test_counter_rejects_negative_steps(void **state)
{
    (void)state;
    sonde_counter *counter = sonde_counter_get("steps_total", NULL, NULL);
    sonde_metric_stats before = stats_now();
    sonde_counter_add(counter, 5);
    sonde_counter_add(counter, -2);
    sonde_counter_inc(counter);
    assert_int_equal(sonde_counter_value(counter), 6);
    assert_int_equal(stats_now().negative_steps, before.negative_steps + 1);
    sonde_counter_reset(counter);
    assert_int_equal(sonde_counter_value(counter), 0);
    sonde_counter_add(counter, 3);
    assert_int_equal(sonde_counter_value(counter), 3);
}

static void test_not_a_number_is_counted_not_stored(void **state)
{
    (void)state;
    sonde_metric_stats before = stats_now();
    sonde_gauge *gauge = sonde_gauge_get("level", NULL, NULL);
    sonde_gauge_set(gauge, 2.5);
    sonde_gauge_set(gauge, NAN);
    sonde_gauge_add(gauge, NAN);
    assert_same(sonde_gauge_value(gauge), 2.5);
    sonde_histogram *histogram = sonde_histogram_get("nan_seconds", NULL, NULL);
    sonde_histogram_observe(histogram, NAN);
    sonde_histogram_observe(histogram, -NAN);
    assert_int_equal(sonde_histogram_count(histogram), 0);
    assert_int_equal(stats_now().not_numbers, before.not_numbers + 4);
}

/* Every boundary, and its neighbours, falls into the bucket whose upper bound is inclusive. */
static void test_bounds_are_upper_inclusive(void **state)
{
    (void)state;
    sonde_histogram *histogram = sonde_histogram_get("bounds", NULL, NULL);
    sonde_histogram_reading *reading = sonde_histogram_reading_create();
    for (unsigned bucket = 0; bucket < 64; bucket++) {
        double bound = sonde_bucket_bound(3, bucket);
        assert_true(fabs(bound / exp2(3 + (bucket + 1) / 64.0) - 1) < 1e-15);
        sonde_histogram_observe(histogram, bound);
        sonde_histogram_observe(histogram, nextafter(bound, 0));
        sonde_histogram_observe(histogram, nextafter(bound, INFINITY));
    }
    const sonde_distribution *all = sonde_histogram_read(histogram, reading);
    assert_int_equal(all->octave_count, 2);
    assert_int_equal(all->octaves[0].exponent, 3);
    assert_int_equal(all->octaves[0].bucket[0], 2);
    for (unsigned bucket = 1; bucket < 64; bucket++)
        assert_int_equal(all->octaves[0].bucket[bucket], 3);
    assert_int_equal(all->octaves[1].bucket[0], 1);
    sonde_histogram_reading_destroy(reading);
}

static void test_table_guesses_follow_from_bounds(void **state)
{
    (void)state;
    const sonde_histogram_table *table = &sonde__histogram_table;
    for (unsigned slot = 0; slot < 128; slot++) {
        unsigned first = 0;
        unsigned last = 0;
        while (table->bound[first] <= (uint64_t)slot << 45)
            first++;
        while (table->bound[last] <= ((uint64_t)(slot + 1) << 45) - 1)
            last++;
        assert_int_equal(table->guess[slot], first);
        assert_true(last - first <= 1);
    }
}

static void test_values_outside_the_buckets(void **state)
{
    (void)state;
    sonde_histogram *histogram = sonde_histogram_get("outside", NULL, NULL);
    static const double given[] = {0,    -0.0,   -1,     -INFINITY, 0x1p-64, 5e-324,
                                   1e19, 0x1p64, 0x1p65, INFINITY,  1.5};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        sonde_histogram_observe(histogram, given[i]);
    sonde_histogram_reading *reading = sonde_histogram_reading_create();
    const sonde_distribution *all = sonde_histogram_read(histogram, reading);
    assert_int_equal(all->count, 11);
    assert_int_equal(all->zero, 2);
    assert_int_equal(all->negative, 2);
    assert_int_equal(all->under, 2);
    assert_int_equal(all->over, 2);
    assert_true(isinf(all->min) && all->min < 0);
    assert_true(isinf(all->max) && all->max > 0);
    assert_true(sonde_distribution_percentile(all, 100) > 1e300);
    assert_same(sonde_distribution_percentile(all, 30), 0);
    sonde_histogram_reading_destroy(reading);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static void test_percentiles_are_within_half_a_percent(void **state)
{
    (void)state;
    enum { N = 5000 };
    static double values[N];
    sonde_histogram *histogram = sonde_histogram_get("spread", NULL, NULL);
    srand(7);
    double sum = 0;
    for (int i = 0; i < N; i++) {
        values[i] = exp(20.0 * ((double)rand() / RAND_MAX - 0.5));
        sum += values[i];
        sonde_histogram_observe(histogram, values[i]);
    }
    qsort(values, N, sizeof *values, compare);
    sonde_histogram_reading *reading = sonde_histogram_reading_create();
    const sonde_distribution *all = sonde_histogram_read(histogram, reading);
    assert_int_equal(all->count, N);
    assert_same(all->min, values[0]);
    assert_same(all->max, values[N - 1]);
    assert_same(all->sum, sum);
    for (double p = 0; p <= 100; p += 0.5) {
        size_t index = (size_t)(N * (p / 100.0));
        double exact = values[index < N ? index : N - 1];
        double got = sonde_distribution_percentile(all, p);
        assert_true(fabs(got / exact - 1) < 0.0055);
    }
    assert_same(sonde_distribution_percentile(all, -1), values[0]);
    assert_same(sonde_distribution_percentile(all, 150), values[N - 1]);
    sonde_histogram_reading_destroy(reading);
}

static void test_cardinality_is_bounded_and_counts_stay_exact(void **state)
{
    (void)state;
    enum { GIVEN = SONDE__FAMILY_SERIES_MAX + 500 };
    sonde_family *family = sonde_counter_family("users_total", NULL, SONDE_KEYS("user"));
    sonde_metric_stats before = stats_now();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < GIVEN; i++) {
            char user[16];
            snprintf(user, sizeof user, "u%d", i);
            sonde_counter_add(sonde_counter_with(family, SONDE_VALUES(user)), 1);
        }
    sonde_metric_set *set = sonde_metric_set_create();
    assert_int_equal(sonde_metric_set_collect(set), SONDE_OK);
    uint64_t sum = 0;
    uint64_t over = 0;
    size_t series = 0;
    for (size_t i = 0; i < sonde_metric_set_count(set); i++) {
        const sonde_metric *metric = sonde_metric_set_at(set, i);
        if (strcmp(metric->name, "users_total") != 0)
            continue;
        sum += metric->counter;
        over += metric->overflow ? metric->counter : 0;
        series++;
    }
    assert_int_equal(series, SONDE__FAMILY_SERIES_MAX + 1);
    assert_int_equal(sum, 2 * GIVEN);
    assert_int_equal(over, 2 * 500);
    assert_int_equal(stats_now().series_over, before.series_over + 1000);
    sonde_metric_set_destroy(set);
}

static void test_long_values_are_cut_and_stay_apart(void **state)
{
    (void)state;
    char a[400];
    char b[400];
    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    a[398] = 'a';
    b[398] = 'b';
    a[399] = b[399] = '\0';
    sonde_metric_stats before = stats_now();
    sonde_counter *first = sonde_counter_get("long_total", NULL, SONDE_LABELS("k", a));
    assert_ptr_equal(first, sonde_counter_get("long_total", NULL, SONDE_LABELS("k", a)));
    assert_ptr_not_equal(first, sonde_counter_get("long_total", NULL, SONDE_LABELS("k", b)));
    assert_int_equal(stats_now().values_cut, before.values_cut + 2);
}

static void test_set_lists_labels_and_help(void **state)
{
    (void)state;
    sonde_counter_add(
        sonde_counter_get("listed_total", "What it is", SONDE_LABELS("b", "2", "a", "1")), 7);
    sonde_metric_set *set = sonde_metric_set_create();
    assert_int_equal(sonde_metric_set_collect(set), SONDE_OK);
    const sonde_metric *metric = sonde_metric_set_find(set, "listed_total", SONDE_LABELS("a", "1"));
    assert_non_null(metric);
    assert_string_equal(metric->help, "What it is");
    assert_int_equal(metric->counter, 7);
    assert_int_equal(metric->label_count, 2);
    assert_string_equal(metric->labels[0].key, "b");
    assert_null(sonde_metric_set_find(set, "listed_total", SONDE_LABELS("a", "2")));
    sonde_metric_set_destroy(set);
}

static void test_pool_exhaustion_keeps_counts(void **state)
{
    (void)state;
    /* more octaves than there are blocks: 100 histograms x 128 octaves */
    sonde_family *family = sonde_histogram_family("greedy", NULL, SONDE_KEYS("n"));
    double expected_max = 0;
    for (int h = 0; h < 100; h++) {
        char n[16];
        snprintf(n, sizeof n, "%d", h);
        sonde_histogram *histogram = sonde_histogram_with(family, SONDE_VALUES(n));
        for (int exponent = -64; exponent < 64; exponent++)
            sonde_histogram_observe(histogram, expected_max = ldexp(1.5, exponent));
        assert_int_equal(sonde_histogram_count(histogram), 128);
    }
    sonde_metric_stats stats = stats_now();
    assert_true(stats.blocks < SONDE__METRIC_BLOCKS);
    assert_true(stats.shared_cells > 0);
    sonde_metric_set *set = sonde_metric_set_create();
    sonde_metric_set_collect(set);
    const sonde_metric *last = sonde_metric_set_find(set, "greedy", SONDE_LABELS("n", "99"));
    assert_true(last->histogram->unplaced > 0);
    assert_int_equal(last->histogram->count, 128);
    assert_same(last->histogram->max, expected_max);
    sonde_metric_set_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_name_same_handle),
        cmocka_unit_test(test_names_are_checked),
        cmocka_unit_test(test_other_kind_or_keys_is_refused),
        cmocka_unit_test(test_counter_rejects_negative_steps),
        cmocka_unit_test(test_not_a_number_is_counted_not_stored),
        cmocka_unit_test(test_bounds_are_upper_inclusive),
        cmocka_unit_test(test_table_guesses_follow_from_bounds),
        cmocka_unit_test(test_values_outside_the_buckets),
        cmocka_unit_test(test_percentiles_are_within_half_a_percent),
        cmocka_unit_test(test_cardinality_is_bounded_and_counts_stay_exact),
        cmocka_unit_test(test_long_values_are_cut_and_stay_apart),
        cmocka_unit_test(test_set_lists_labels_and_help),
        cmocka_unit_test(test_pool_exhaustion_keeps_counts),
    };
    return cmocka_run_group_tests_name("metric", tests, NULL, NULL);
}
