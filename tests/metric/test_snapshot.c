/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots: PyVeda's fields with the values it never got right, readers that do not disturb each
   other, collection in the background. */
#include "metric_test.h"

#include "base/clock.h"
#include "base/json_read.h"
#include "sonde/sonde.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/sonde-snapshot-XXXXXX";
static sonde_session *session;

static int set_up(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = mkdtemp(dir);
    options.journal_only = 1;
    return sonde_open("s", &options, &session) == SONDE_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sonde_close(session);
    char path[sizeof dir + 16];
    snprintf(path, sizeof path, "%s/s.sonde", dir);
    unlink(path);
    return rmdir(dir);
}

/* A finished task of the given length. */
static void record(const char *activity, double milliseconds, sonde_task_status status,
                   const char *device)
{
    sonde_task_info info = {
        .activity = sonde_name_get(activity),
        .start_wall_ns = sonde__clock_wall_ns() - 1000000000u,
        .duration_ns = (uint64_t)(milliseconds * 1e6),
        .status = status,
        .device = device,
    };
    assert_int_not_equal(sonde_task_record(&info).span, 0);
}

static void assert_near(double value, double expected)
{
    assert_true(fabs(value / expected - 1) < 0.0055);
}

static void test_counts_and_latencies(void **state)
{
    (void)state;
    sonde_snapshot_reader *reader;
    assert_int_equal(sonde_snapshot_reader_open(&reader), SONDE_OK);
    for (int i = 1; i <= 100; i++)
        record("work", i, i <= 3 ? SONDE_ERROR : SONDE_FINISHED, i % 2 ? "cuda:0" : "cpu");
    record("other", 1000, SONDE_FINISHED, NULL);
    sonde_snapshot all;
    assert_int_equal(sonde_snapshot_take(reader, &all), SONDE_OK);
    assert_int_equal(all.tasks_executed, 101);
    assert_int_equal(all.tasks_failed, 3);
    assert_int_equal(all.tasks_pending, 0);
    assert_near(all.avg_latency_ms, 6050 / 101.0);
    assert_near(all.p50_latency_ms, 51);
    assert_near(all.p95_latency_ms, 96);
    assert_near(all.p99_latency_ms, 100);
    assert_true(all.throughput_tasks_per_sec > 0);
    assert_true(all.memory_used_mb > 1);
    assert_true(isnan(all.gpu_utilization_percent));
    sonde_snapshot one;
    assert_int_equal(sonde_snapshot_take_activity(reader, "other", &one), SONDE_OK);
    assert_int_equal(one.tasks_executed, 1);
    assert_near(one.p50_latency_ms, 1000);
    assert_int_equal(sonde_snapshot_take_device(reader, "cuda:0", &one), SONDE_OK);
    assert_int_equal(one.tasks_executed, 50);
    assert_int_equal(one.tasks_failed, 2);
    assert_int_equal(sonde_snapshot_take_activity(reader, "none of that name", &one), SONDE_OK);
    assert_int_equal(one.tasks_executed, 0);
    assert_same(one.p99_latency_ms, 0);
    sonde_snapshot_reader_close(reader);
}

/* Queued work is pending until it begins, and its latency counts from its submission. */
static void test_pending_and_queue_time(void **state)
{
    (void)state;
    sonde_snapshot_reader *reader;
    assert_int_equal(sonde_snapshot_reader_open(&reader), SONDE_OK);
    sonde_ticket tickets[5];
    for (int i = 0; i < 5; i++)
        tickets[i] = sonde_task_submit(SONDE_NAME("queued"));
    sonde_snapshot now;
    sonde_snapshot_take_activity(reader, "queued", &now);
    assert_int_equal(now.tasks_pending, 5);
    assert_int_equal(now.tasks_executed, 0);
    usleep(20000);
    sonde_task first = sonde_task_begin_ticket(&tickets[0]);
    sonde_snapshot_take_activity(reader, "queued", &now);
    assert_int_equal(now.tasks_pending, 4);
    sonde_task_end(first);
    for (int i = 1; i < 5; i++)
        sonde_task_end(sonde_task_begin_ticket(&tickets[i]));
    sonde_snapshot_take_activity(reader, "queued", &now);
    assert_int_equal(now.tasks_pending, 0);
    assert_int_equal(now.tasks_executed, 5);
    assert_true(now.p50_latency_ms >= 19);
    sonde_snapshot_reader_close(reader);
}

static void test_readers_do_not_disturb_each_other(void **state)
{
    (void)state;
    sonde_snapshot_reader *fast;
    sonde_snapshot_reader *slow;
    assert_int_equal(sonde_snapshot_reader_open(&fast), SONDE_OK);
    assert_int_equal(sonde_snapshot_reader_open(&slow), SONDE_OK);
    sonde_snapshot mine;
    double fast_sum = 0;
    uint64_t start = sonde__clock_monotonic_ns();
    uint64_t before = start;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 100; i++)
            sonde_task_end(sonde_task_begin(SONDE_NAME("rates")));
        usleep(2000);
        sonde_snapshot_take_activity(fast, "rates", &mine);
        uint64_t now = sonde__clock_monotonic_ns();
        fast_sum += mine.throughput_tasks_per_sec * (double)(now - before) / 1e9;
        before = now;
    }
    sonde_snapshot other;
    sonde_snapshot_take_activity(slow, "rates", &other);
    assert_int_equal(mine.tasks_executed, 1000);
    assert_int_equal(other.tasks_executed, 1000);
    double elapsed = (double)(sonde__clock_monotonic_ns() - start) / 1e9;
    /* each has counted every task once, over its own windows; clocks are read beside the calls */
    assert_true(fabs(fast_sum - 1000) < 200);
    assert_true(fabs(other.throughput_tasks_per_sec * elapsed - 1000) < 200);
    sonde_snapshot_reader_close(fast);
    sonde_snapshot_reader_close(slow);
}

/* --- JSON --- */

static char text[1 << 16];

/* The same tokens, numbers by value: PyVeda writes 10 where it was given an int, Sonde 10.0. */
static void assert_same_json(const char *a, size_t a_len, const char *b, size_t b_len)
{
    sonde__json_reader left;
    sonde__json_reader right;
    sonde__json_reader_init(&left, a, a_len);
    sonde__json_reader_init(&right, b, b_len);
    for (;;) {
        sonde__json_token token = sonde__json_next(&left);
        assert_int_equal(sonde__json_next(&right), token);
        assert_int_not_equal(token, SONDE__JSON_ERROR);
        if (token == SONDE__JSON_END)
            return;
        double one = 0;
        double two = 0;
        if (token == SONDE__JSON_KEY) {
            assert_int_equal(left.slice_len, right.slice_len);
            assert_memory_equal(left.slice, right.slice, left.slice_len);
        } else if (token == SONDE__JSON_NUMBER) {
            assert_int_equal(sonde__json_get_double(&left, &one), SONDE_OK);
            assert_int_equal(sonde__json_get_double(&right, &two), SONDE_OK);
            assert_same(one, two);
        }
    }
}

static double next_number(sonde__json_reader *json)
{
    double value = NAN;
    assert_int_equal(sonde__json_next(json), SONDE__JSON_KEY);
    if (sonde__json_next(json) == SONDE__JSON_NUMBER)
        assert_int_equal(sonde__json_get_double(json, &value), SONDE_OK);
    return value;
}

static sonde_snapshot read_snapshot(sonde__json_reader *json)
{
    sonde_snapshot s;
    assert_int_equal(sonde__json_next(json), SONDE__JSON_OBJECT_BEGIN);
    s.wall_ns = (uint64_t)llround(next_number(json) * 1000) * 1000000u;
    s.tasks_executed = (uint64_t)next_number(json);
    s.tasks_failed = (uint64_t)next_number(json);
    s.tasks_pending = (uint64_t)next_number(json);
    s.avg_latency_ms = next_number(json);
    s.p50_latency_ms = next_number(json);
    s.p95_latency_ms = next_number(json);
    s.p99_latency_ms = next_number(json);
    s.throughput_tasks_per_sec = next_number(json);
    s.cpu_utilization_percent = next_number(json);
    s.memory_used_mb = next_number(json);
    s.gpu_utilization_percent = next_number(json);
    s.gpu_memory_used_mb = next_number(json);
    assert_int_equal(sonde__json_next(json), SONDE__JSON_OBJECT_END);
    return s;
}

static void test_json_has_the_shape_of_the_guide(void **state)
{
    (void)state;
    FILE *file = fopen(SONDE_SOURCE_DIR "/tests/vectors/pyveda/pyveda_snapshots.json", "r");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    sonde__json_reader json;
    sonde__json_reader_init(&json, text, len);
    assert_int_equal(sonde__json_next(&json), SONDE__JSON_ARRAY_BEGIN);
    unsigned cases = 0;
    while (sonde__json_next(&json) == SONDE__JSON_OBJECT_BEGIN) {
        sonde_snapshot snapshot = {0};
        while (sonde__json_next(&json) == SONDE__JSON_KEY) {
            char expected[1024];
            char out[SONDE_SNAPSHOT_JSON_BYTES];
            if (sonde__json_equals(&json, "snapshot")) {
                snapshot = read_snapshot(&json);
            } else if (sonde__json_equals(&json, "JSONExporter_compact")) {
                assert_int_equal(sonde__json_next(&json), SONDE__JSON_STRING);
                size_t expected_len = sonde__json_unescape(&json, expected);
                assert_int_equal(sonde_snapshot_json(&snapshot, out, sizeof out), SONDE_OK);
                assert_same_json(out, strlen(out), expected, expected_len);
                cases++;
            } else {
                sonde__json_next(&json);
                sonde__json_skip(&json);
            }
        }
    }
    assert_int_equal(cases, 5);
    char small[10];
    sonde_snapshot none = {0};
    assert_int_equal(sonde_snapshot_json(&none, small, sizeof small), SONDE_ELIMIT);
}

/* --- collection --- */

static void test_collector_keeps_a_bounded_history(void **state)
{
    (void)state;
    sonde_collector_options options = SONDE_COLLECTOR_OPTIONS_DEFAULT;
    options.interval_ns = 2000000;
    options.history = 5;
    sonde_collector *collector;
    assert_int_equal(sonde_collector_start(&options, &collector), SONDE_OK);
    for (int i = 0; i < 50; i++) {
        sonde_task_end(sonde_task_begin(SONDE_NAME("collected")));
        usleep(1000);
    }
    sonde_collector_stop(collector);
    sonde_snapshot history[10];
    assert_int_equal(sonde_collector_history(collector, history, 10), 5);
    for (int i = 1; i < 5; i++) {
        assert_true(history[i].wall_ns >= history[i - 1].wall_ns);
        assert_true(history[i].tasks_executed >= history[i - 1].tasks_executed);
    }
    assert_int_equal(sonde_collector_history(collector, history, 2), 2);
    const char *json;
    size_t len;
    assert_int_equal(sonde_collector_json(collector, &json, &len), SONDE_OK);
    assert_int_equal(strlen(json), len);
    unsigned objects = 0;
    for (const char *at = json; (at = strstr(at, "\"timestamp\":")); at++)
        objects++;
    assert_int_equal(objects, 5);
    sonde_collector_clear(collector);
    assert_int_equal(sonde_collector_history(collector, history, 10), 0);
    sonde_collector_destroy(collector);
}

static void test_stop_returns_at_once(void **state)
{
    (void)state;
    sonde_collector_options options = SONDE_COLLECTOR_OPTIONS_DEFAULT;
    options.interval_ns = 3600000000000u;
    sonde_collector *collector;
    assert_int_equal(sonde_collector_start(&options, &collector), SONDE_OK);
    uint64_t start = sonde__clock_monotonic_ns();
    sonde_collector_stop(collector);
    assert_true(sonde__clock_monotonic_ns() - start < 2000000000u);
    sonde_snapshot last;
    assert_int_equal(sonde_collector_history(collector, &last, 1), 1);
    sonde_collector_destroy(collector);
    options.history = 0;
    assert_int_equal(sonde_collector_start(&options, &collector), SONDE_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_and_latencies),
        cmocka_unit_test(test_pending_and_queue_time),
        cmocka_unit_test(test_readers_do_not_disturb_each_other),
        cmocka_unit_test(test_json_has_the_shape_of_the_guide),
        cmocka_unit_test(test_collector_keeps_a_bounded_history),
        cmocka_unit_test(test_stop_returns_at_once),
    };
    return cmocka_run_group_tests_name("snapshot", tests, set_up, tear_down);
}
