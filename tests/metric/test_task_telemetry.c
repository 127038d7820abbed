/* SPDX-License-Identifier: Apache-2.0 */
/* Readings at the edges of tasks, samples in between, sharing, sampling, the bound on the cost. */
#include "metric_test.h"

#include "base/clock.h"
#include "base/json_read.h"
#include "capture/telemetry_codec.h"
#include "record/readings.h"
#include "sonde/sonde.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char dir[] = "/tmp/sonde-measured-XXXXXX";
static sonde_session *session;
static sonde_reader *reader;

static void open_session(sonde_options *options)
{
    options->dir = dir;
    assert_int_equal(sonde_open("t", options, &session), SONDE_OK);
}

/* Closes the session and opens it for reading. */
static void close_and_read(void)
{
    char path[sizeof dir + 16];
    snprintf(path, sizeof path, "%s", sonde_session_path(session));
    sonde_close(session);
    assert_int_equal(sonde_reader_open(path, NULL, &reader), SONDE_OK);
    unlink(path);
}

/* The next task of that name. */
static bool next_task(const char *name, sonde_record *out)
{
    while (sonde_reader_next(reader, out) == SONDE_OK)
        if (out->kind == SONDE_RECORD_TASK && out->name_len == strlen(name) &&
            memcmp(out->name, name, out->name_len) == 0)
            return true;
    return false;
}

static void close_reader(void)
{
    sonde_reader_stats stats;
    sonde_record record;
    while (sonde_reader_next(reader, &record) == SONDE_OK)
        ;
    sonde_reader_stats_get(reader, &stats);
    assert_int_equal(stats.missing + stats.lost + stats.refused + stats.bad_bytes, 0);
    sonde_reader_close(reader);
}

static void take_text(void *user, const char *text, size_t len)
{
    char *out = user;
    assert_true(len < 60000);
    memcpy(out, text, len);
    out[len] = '\0';
}

/* Keys of the sections of a JSON object, in order, separated by blanks. */
static void keys_of(const char *text, char *out)
{
    sonde__json_reader json;
    sonde__json_reader_init(&json, text, strlen(text));
    assert_int_equal(sonde__json_next(&json), SONDE__JSON_OBJECT_BEGIN);
    while (sonde__json_next(&json) == SONDE__JSON_KEY) {
        out += sprintf(out, "%.*s ", (int)json.slice_len, json.slice);
        assert_true(sonde__json_skip(&json));
    }
}

static void test_readings_have_captures_shape(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.telemetry_start = options.telemetry_end = SONDE_MEASURE_FULL;
    options.overhead_limit = 0;
    open_session(&options);
    sonde_task task = sonde_task_begin(SONDE_NAME("shape"));
    sonde_task_end(task);
    close_and_read();
    sonde_record record;
    assert_true(next_task("shape", &record));
    assert_non_null(record.telemetry_start);
    assert_non_null(record.telemetry_end);
    assert_ptr_not_equal(record.telemetry_start, record.telemetry_end);
    static char ours[65536];
    char mine[256];
    char theirs[256];
    assert_int_equal(
        sonde_reading_json(record.telemetry_end, record.telemetry_end_len, take_text, ours),
        SONDE_OK);
    sonde_capture *capture;
    const sonde_telemetry *now;
    const char *text;
    size_t len;
    assert_int_equal(sonde_capture_open(NULL, &capture), SONDE_OK);
    assert_int_equal(sonde_capture_read(capture, &now), SONDE_OK);
    assert_int_equal(sonde_capture_json(capture, &text, &len), SONDE_OK);
    keys_of(ours, mine);
    keys_of(text, theirs);
    assert_string_equal(mine, theirs);
    sonde_capture_close(capture);
    close_reader();
}

/* What is encoded comes back as the same JSON, byte for byte. */
static void test_codec_gives_back_what_it_got(void **state)
{
    (void)state;
    sonde_capture *capture;
    const sonde_telemetry *now;
    const char *text;
    size_t len;
    assert_int_equal(sonde_capture_open(NULL, &capture), SONDE_OK);
    assert_int_equal(sonde_capture_read(capture, &now), SONDE_OK);
    assert_int_equal(sonde_capture_json(capture, &text, &len), SONDE_OK);
    static uint8_t bytes[32768];
    static char back[65536];
    uint64_t cut = 0;
    size_t size = sonde__telemetry_encode(now, bytes, sizeof bytes, &cut);
    assert_int_equal(cut, 0);
    assert_int_equal(sonde_reading_json(bytes, size, take_text, back), SONDE_OK);
    assert_string_equal(back, text);
    /* damaged bytes are refused or read, never more than that */
    srand(5);
    for (int i = 0; i < 5000; i++) {
        static uint8_t bad[32768];
        memcpy(bad, bytes, size);
        bad[(size_t)rand() % size] = (uint8_t)rand();
        size_t short_size = rand() % 2 ? size : (size_t)rand() % size;
        sonde_telemetry out = {0};
        sonde__telemetry_decode(bad, short_size, &out);
        sonde__telemetry_free(&out);
    }
    sonde_capture_close(capture);
}

static void test_tags_are_different(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++)
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(sonde__telemetry_tag(sonde_field_describe((sonde_field)i)->path),
                                 sonde__telemetry_tag(sonde_field_describe((sonde_field)j)->path));
}

/* The least of many, because this machine has other things to do. */
static void test_duration_does_not_include_readings(void **state)
{
    (void)state;
    enum { EMPTY = 200 };
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.telemetry_start = options.telemetry_end = SONDE_MEASURE_FULL;
    options.overhead_limit = 0;
    open_session(&options);
    for (int i = 0; i < EMPTY; i++)
        sonde_task_end(sonde_task_begin(SONDE_NAME("empty")));
    close_and_read();
    sonde_record record;
    uint64_t least = UINT64_MAX;
    int tasks = 0;
    for (; next_task("empty", &record); tasks++)
        if (record.duration_ns < least)
            least = record.duration_ns;
    assert_int_equal(tasks, EMPTY);
    assert_true(least < 2000);
    close_reader();
}

static void test_peak_between_the_readings(void **state)
{
    (void)state;
    enum { BYTES = 500 << 20 };
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.sample_interval_ns = 5000000;
    options.overhead_limit = 0;
    open_session(&options);
    sonde_task task = sonde_task_begin_measured(SONDE_NAME("peak"), SONDE_MEASURE_LIGHT);
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    munmap(memory, BYTES);
    sonde_task_end_measured(task, SONDE_FINISHED, NULL, SONDE_MEASURE_LIGHT);
    /* the second time the high-water mark is known already: only samples can tell */
    task = sonde_task_begin_measured(SONDE_NAME("peak"), SONDE_MEASURE_LIGHT);
    memory = mmap(NULL, BYTES / 2, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    usleep(200000);
    munmap(memory, BYTES / 2);
    sonde_task_end_measured(task, SONDE_FINISHED, NULL, SONDE_MEASURE_LIGHT);
    close_and_read();
    sonde_record record;
    assert_true(next_task("peak", &record));
    assert_non_null(record.usage);
    assert_true(record.usage->rss_bytes_max >= BYTES);
    assert_true(record.usage->cpu_seconds > 0);
    assert_true(next_task("peak", &record));
    assert_true(record.usage->samples >= 1);
    assert_true(record.usage->rss_bytes_max >= BYTES / 2);
    assert_true(record.usage->rss_bytes_max < BYTES);
    assert_true(record.usage->rss_bytes_mean > 10e6);
    close_reader();
}

static void test_tasks_share_a_young_reading(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.telemetry_start = options.telemetry_end = SONDE_MEASURE_LIGHT;
    options.telemetry_max_age_ns = 3600000000000u;
    open_session(&options);
    for (int i = 0; i < 100; i++)
        sonde_task_end(sonde_task_begin(SONDE_NAME("shared")));
    close_and_read();
    sonde_record record;
    const void *first = NULL;
    for (int i = 0; i < 100; i++) {
        assert_true(next_task("shared", &record));
        first = first ? first : record.telemetry_start;
        assert_ptr_equal(record.telemetry_start, first);
        assert_ptr_equal(record.telemetry_end, first);
    }
    close_reader();
}

static void *measured_tasks(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("many"));
        sonde_task_measure(task, SONDE_MEASURE_LIGHT);
        sonde_task_end(task);
    }
    return NULL;
}

static void test_threads_measure_at_once(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.telemetry_start = SONDE_MEASURE_LIGHT;
    options.telemetry_end = SONDE_MEASURE_REGULAR;
    options.overhead_limit = 0;
    open_session(&options);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, measured_tasks, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    close_and_read();
    sonde_record record;
    int tasks = 0;
    for (; next_task("many", &record); tasks++) {
        assert_non_null(record.telemetry_start);
        assert_non_null(record.telemetry_end);
        assert_non_null(record.usage);
    }
    assert_int_equal(tasks, 800);
    close_reader();
}

static void test_sampling_keeps_counts_exact(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    open_session(&options);
    sonde_name *name = SONDE_NAME("sampled");
    sonde_name_sample(name, 10);
    for (int i = 0; i < 1000; i++) {
        sonde_task task = sonde_task_begin(name);
        sonde_task_int(task, SONDE_USED, SONDE_NAME("i"), i);
        sonde_task_end_with(task, i % 4 == 0 ? SONDE_ERROR : SONDE_FINISHED, NULL);
    }
    sonde_snapshot_reader *snapshots;
    sonde_snapshot now;
    assert_int_equal(sonde_snapshot_reader_open(&snapshots), SONDE_OK);
    assert_int_equal(sonde_snapshot_take_activity(snapshots, "sampled", &now), SONDE_OK);
    assert_int_equal(now.tasks_executed, 1000);
    assert_int_equal(now.tasks_failed, 250);
    sonde_snapshot_reader_close(snapshots);
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    assert_int_equal(stats.stale, 0);
    close_and_read();
    sonde_record record;
    int tasks = 0;
    while (next_task("sampled", &record))
        tasks++;
    assert_int_equal(tasks, 100);
    close_reader();
}

/* A limit that nothing can keep: less and less is read, and each change is a record. */
static void test_overhead_limit_lowers_the_level(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.telemetry_start = options.telemetry_end = SONDE_MEASURE_REGULAR;
    options.overhead_limit = 1e-9;
    open_session(&options);
    uint64_t end = sonde__clock_monotonic_ns() + 2300000000u;
    while (sonde__clock_monotonic_ns() < end) {
        sonde_task_end(sonde_task_begin(SONDE_NAME("costly")));
        usleep(2000);
    }
    close_and_read();
    sonde_record record;
    int changes = 0;
    while (next_task("sonde.overhead_limit", &record)) {
        changes++;
        assert_int_equal(record.attr_count, 3);
    }
    assert_true(changes >= 2);
    close_reader();
}

/* A task that began long ago, and more readings since than a reader keeps; its own are all there.
 */
static void test_readings_of_a_long_session(void **state)
{
    (void)state;
    enum { MANY = SONDE__READINGS_MAX + 2000 };
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.overhead_limit = 0;
    options.full_wait_ns = 1000000000u;
    open_session(&options);
    sonde_task outer = sonde_task_begin_measured(SONDE_NAME("outer"), SONDE_MEASURE_LIGHT);
    sonde_task_measure(outer, SONDE_MEASURE_LIGHT);
    for (int i = 0; i < MANY; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("inner"));
        sonde_task_end_measured(task, SONDE_FINISHED, NULL, SONDE_MEASURE_LIGHT);
    }
    sonde_task_measure(outer, SONDE_MEASURE_REGULAR);
    sonde_task_end_measured(outer, SONDE_FINISHED, NULL, SONDE_MEASURE_LIGHT);
    close_and_read();
    sonde_record record;
    int inner = 0;
    bool found = false;
    while (sonde_reader_next(reader, &record) == SONDE_OK) {
        inner += record.name_len == 5 && memcmp(record.name, "inner", 5) == 0 &&
                 record.telemetry_end != NULL;
        if (record.name_len != 5 || memcmp(record.name, "outer", 5) != 0)
            continue;
        static char text[65536];
        found = true;
        assert_non_null(record.telemetry_start);
        assert_non_null(record.telemetry_end);
        assert_int_equal(
            sonde_reading_json(record.telemetry_start, record.telemetry_start_len, take_text, text),
            SONDE_OK);
        assert_int_equal(record.reading_count, 2);
        sonde_reading_json(record.readings[0].data, record.readings[0].len, take_text, text);
        assert_non_null(strstr(text, "\"level\":\"light\""));
        sonde_reading_json(record.readings[1].data, record.readings[1].len, take_text, text);
        assert_non_null(strstr(text, "\"level\":\"regular\""));
    }
    assert_true(found);
    assert_int_equal(inner, MANY);
    close_reader();
}

/* Costly for a moment, then cheap: less is read, and after a while more again, both recorded. */
static void test_level_rises_when_the_cost_has_fallen(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.telemetry_start = options.telemetry_end = SONDE_MEASURE_FULL;
    options.overhead_limit = 0.02;
    open_session(&options);
    uint64_t start = sonde__clock_monotonic_ns();
    while (sonde__clock_monotonic_ns() < start + 1300000000u)
        sonde_task_end(sonde_task_begin(SONDE_NAME("costly")));
    while (sonde__clock_monotonic_ns() < start + 9000000000u) {
        sonde_task_end(sonde_task_begin(SONDE_NAME("cheap")));
        usleep(200000);
    }
    close_and_read();
    sonde_record record;
    bool lowered = false;
    bool raised = false;
    while (next_task("sonde.overhead_limit", &record)) {
        char from = record.attrs[0].value.s.data[0];
        char to = record.attrs[1].value.s.data[0];
        lowered |= from == 'f' && to == 'r';
        raised |= lowered && ((from == 'o' && to == 'l') || (from == 'l' && to == 'r') ||
                              (from == 'r' && to == 'f'));
    }
    assert_true(lowered);
    assert_true(raised);
    close_reader();
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(dir) ? setenv("SONDE_JOURNAL_ONLY", "1", 1) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readings_have_captures_shape),
        cmocka_unit_test(test_codec_gives_back_what_it_got),
        cmocka_unit_test(test_tags_are_different),
        cmocka_unit_test(test_duration_does_not_include_readings),
        cmocka_unit_test(test_peak_between_the_readings),
        cmocka_unit_test(test_tasks_share_a_young_reading),
        cmocka_unit_test(test_threads_measure_at_once),
        cmocka_unit_test(test_sampling_keeps_counts_exact),
        cmocka_unit_test(test_overhead_limit_lowers_the_level),
        cmocka_unit_test(test_readings_of_a_long_session),
        cmocka_unit_test(test_level_rises_when_the_cost_has_fallen),
    };
    return cmocka_run_group_tests_name("task_telemetry", tests, set_up, tear_down);
}
