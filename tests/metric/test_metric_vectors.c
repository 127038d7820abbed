/* SPDX-License-Identifier: Apache-2.0 */
/* PyVeda's own numbers (tests/vectors/pyveda/). Documented differences: a counter refuses a
   negative step and counts whole steps; a percentile below 0 is the smallest value, not one from
   the end. */
#include "base/json_read.h"
#include "metric_test.h"
#include "record/metric_window.h"
#include "sonde/sonde.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 16];
static sonde__json_reader json;

static void open_vector(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, SONDE_SOURCE_DIR "/tests/vectors/pyveda/%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(len > 0 && len < sizeof text);
    sonde__json_reader_init(&json, text, len);
}

static void expect(sonde__json_token token)
{
    assert_int_equal(sonde__json_next(&json), token);
}

static void expect_key(const char *key)
{
    expect(SONDE__JSON_KEY);
    assert_true(sonde__json_equals(&json, key));
}

static double number(void)
{
    double value = 0;
    expect(SONDE__JSON_NUMBER);
    assert_int_equal(sonde__json_get_double(&json, &value), SONDE_OK);
    return value;
}

static void test_percentile_index(void **state)
{
    (void)state;
    open_vector("pyveda_percentile_index.json");
    expect(SONDE__JSON_OBJECT_BEGIN);
    expect_key("columns");
    assert_true(sonde__json_skip(&json));
    expect_key("rule");
    expect(SONDE__JSON_STRING);
    expect_key("rows");
    expect(SONDE__JSON_ARRAY_BEGIN);
    unsigned rows = 0;
    while (sonde__json_next(&json) == SONDE__JSON_ARRAY_BEGIN) {
        size_t n = (size_t)number();
        double percent = number();
        size_t index = (size_t)number();
        assert_int_equal(sonde__percentile_index(n, percent), index);
        expect(SONDE__JSON_ARRAY_END);
        rows++;
    }
    assert_true(rows > 300);
}

static void observe_samples(sonde_histogram *histogram)
{
    expect_key("samples");
    expect(SONDE__JSON_ARRAY_BEGIN);
    while (sonde__json_next(&json) == SONDE__JSON_NUMBER) {
        double value = 0;
        assert_int_equal(sonde__json_get_double(&json, &value), SONDE_OK);
        sonde_histogram_observe(histogram, value);
    }
}

static void check_percentiles(const sonde_distribution *all)
{
    expect_key("percentiles");
    expect(SONDE__JSON_OBJECT_BEGIN);
    while (sonde__json_next(&json) == SONDE__JSON_KEY) {
        double percent = strtod(json.slice, NULL);
        double expected = number();
        if (percent < 0)
            expected = all->window_count ? all->window[0] : 0;
        assert_same(sonde_distribution_percentile(all, percent), expected);
    }
    expect(SONDE__JSON_OBJECT_END);
}

static void test_percentiles(void **state)
{
    (void)state;
    sonde_histogram_reading *reading = sonde_histogram_reading_create();
    open_vector("pyveda_percentiles.json");
    expect(SONDE__JSON_ARRAY_BEGIN);
    unsigned cases = 0;
    while (sonde__json_next(&json) == SONDE__JSON_OBJECT_BEGIN) {
        expect_key("id");
        expect(SONDE__JSON_STRING);
        char id[32] = "";
        snprintf(id, sizeof id, "%.*s", (int)json.slice_len, json.slice);
        sonde_histogram *histogram =
            sonde_histogram_get_exact("vector_ms", NULL, SONDE_LABELS("id", id), 10000);
        if (strcmp(id, "window_10050") == 0) {
            /* the vector tells how its samples were made instead of listing them */
            for (int i = 0; i < 10050; i++)
                sonde_histogram_observe(histogram, (double)i);
            expect_key("samples");
            assert_true(sonde__json_skip(&json));
        } else {
            observe_samples(histogram);
        }
        expect_key("max_samples");
        assert_int_equal((int)number(), 10000);
        const sonde_distribution *all = sonde_histogram_read(histogram, reading);
        expect_key("count");
        assert_int_equal(all->window_count, (size_t)number());
        expect_key("mean");
        assert_same(sonde_distribution_mean(all), number());
        check_percentiles(all);
        cases++;
    }
    assert_int_equal(cases, 7);
    sonde_histogram_reading_destroy(reading);
}

/* {"op": ..., "arg": ..., "value": ...}; false at the end of the list. has_arg: it is not null. */
static bool next_step(char op[16], double *arg, bool *has_arg, double *value)
{
    if (sonde__json_next(&json) != SONDE__JSON_OBJECT_BEGIN)
        return false;
    expect_key("op");
    expect(SONDE__JSON_STRING);
    snprintf(op, 16, "%.*s", (int)json.slice_len, json.slice);
    expect_key("arg");
    *has_arg = sonde__json_next(&json) == SONDE__JSON_NUMBER;
    if (*has_arg)
        assert_int_equal(sonde__json_get_double(&json, arg), SONDE_OK);
    expect_key("value");
    *value = number();
    expect(SONDE__JSON_OBJECT_END);
    return true;
}

static void test_counter_and_gauge(void **state)
{
    (void)state;
    char op[16];
    double arg = 0;
    double value = 0;
    bool has_arg = false;
    double refused = 0; /* what PyVeda took and Sonde does not */
    sonde_counter *counter = sonde_counter_get("vector_total", NULL, NULL);
    sonde_gauge *gauge = sonde_gauge_get("vector", NULL, NULL);
    open_vector("pyveda_counter_gauge.json");
    expect(SONDE__JSON_OBJECT_BEGIN);
    expect_key("counter");
    expect(SONDE__JSON_ARRAY_BEGIN);
    while (next_step(op, &arg, &has_arg, &value)) {
        if (strcmp(op, "reset") == 0) {
            sonde_counter_reset(counter);
            refused = 0;
        } else if (has_arg && (arg < 0 || arg != (double)(int64_t)arg)) {
            sonde_counter_add(counter, arg < 0 ? (int64_t)arg : 0);
            refused += arg;
        } else {
            sonde_counter_add(counter, has_arg ? (int64_t)arg : 1);
        }
        assert_same((double)sonde_counter_value(counter), value - refused);
    }
    expect_key("gauge");
    expect(SONDE__JSON_ARRAY_BEGIN);
    while (next_step(op, &arg, &has_arg, &value)) {
        if (strcmp(op, "set") == 0)
            sonde_gauge_set(gauge, arg);
        else
            sonde_gauge_add(gauge, (strcmp(op, "dec") == 0 ? -1 : 1) * (has_arg ? arg : 1));
        assert_same(sonde_gauge_value(gauge), value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentile_index),
        cmocka_unit_test(test_percentiles),
        cmocka_unit_test(test_counter_and_gauge),
    };
    return cmocka_run_group_tests_name("metric_vectors", tests, NULL, NULL);
}
