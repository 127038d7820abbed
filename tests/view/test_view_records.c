/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding records in pieces, and what the machine looks like as metrics. */
#include "sonde/sonde.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TASKS = 20000 };

static char folder[] = "/tmp/sonde_records_XXXXXX";
static char path[64];

static int record_many(void **state)
{
    (void)state;
    sonde_session *session;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    if (!mkdtemp(folder))
        return -1;
    options.dir = folder;
    options.journal_only = 1;
    snprintf(path, sizeof path, "%s/many.sonde", folder);
    if (sonde_open("many", &options, &session) != SONDE_OK)
        return -1;
    for (int i = 0; i < TASKS; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("step"));
        sonde_task_int(task, SONDE_USED, SONDE_NAME("number"), i);
        sonde_task_end(task);
    }
    sonde_close(session);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    return unlink(path) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

typedef struct pieces {
    size_t count;
    size_t bytes;
    size_t stop_after; /* 0: never */
    char first, last;
} pieces;

static int put(void *user, const char *data, size_t len)
{
    pieces *p = user;
    assert_true(len > 0);
    p->first = p->bytes == 0 ? data[0] : p->first;
    p->last = data[len - 1];
    p->bytes += len;
    return ++p->count != p->stop_after;
}

static pieces encode(sonde_format format, const sonde_encode_options *options, size_t stop_after,
                     sonde_status expected)
{
    sonde_reader *reader;
    pieces p = {.stop_after = stop_after};
    assert_int_equal(sonde_reader_open(path, NULL, &reader), SONDE_OK);
    assert_int_equal(sonde_encode_records(reader, format, options, put, &p), expected);
    sonde_reader_close(reader);
    return p;
}

static void a_large_session_comes_in_pieces(void **state)
{
    (void)state;
    for (int i = 0; i < SONDE_FORMAT_COUNT; i++) {
        if (!sonde_format_describe((sonde_format)i)->records)
            continue;
        pieces all = encode((sonde_format)i, NULL, 0, SONDE_OK);
        assert_true(all.bytes > (size_t)TASKS * 40);
        assert_true(all.count > 1 || i == SONDE_FORMAT_JAEGER); /* which is kept by trace */
        encode((sonde_format)i, NULL, 1, SONDE_EIO);
    }
}

static void a_limit_still_makes_a_whole_document(void **state)
{
    (void)state;
    sonde_encode_options options = SONDE_ENCODE_OPTIONS_DEFAULT;
    options.limit = 3;
    pieces some = encode(SONDE_FORMAT_SPANS, &options, 0, SONDE_OK);
    assert_true(some.bytes < 1000);
    assert_int_equal(some.first, '[');
    assert_int_equal(some.last, '\n');
}

static void formats_are_told_apart(void **state)
{
    (void)state;
    sonde_view *view = sonde_view_create();
    const char *data;
    size_t len;
    sonde_view_begin(view, 1);
    assert_int_equal(sonde_encode(view, SONDE_FORMAT_CSV, NULL, &data, &len), SONDE_EINVAL);
    assert_int_equal(sonde_encode(view, SONDE_FORMAT_COUNT, NULL, &data, &len), SONDE_EINVAL);
    sonde_encode_options wrong = SONDE_ENCODE_OPTIONS_DEFAULT;
    wrong.size--;
    assert_int_equal(sonde_encode(view, SONDE_FORMAT_JSON, &wrong, &data, &len), SONDE_EINVAL);
    assert_int_equal(sonde_encode(view, SONDE_FORMAT_PROMETHEUS, NULL, &data, &len), SONDE_OK);
    assert_int_equal(len, 0);
    assert_int_equal(sonde_view_add(view, &(sonde_view_source){0}), SONDE_EINVAL);
    encode(SONDE_FORMAT_PROMETHEUS, NULL, 0, SONDE_EINVAL);
    sonde_view_destroy(view);
    sonde_view_destroy(NULL);
}

/* A recorded machine, so that the values are known. */
static void the_machine_is_in_base_units(void **state)
{
    (void)state;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = SONDE_SOURCE_DIR "/tests/fixtures/linux6_x";
    options.types = SONDE_CAPTURE_CPU | SONDE_CAPTURE_PER_CPU | SONDE_CAPTURE_MEMORY |
                    SONDE_CAPTURE_DISK | SONDE_CAPTURE_NETWORK;
    sonde_capture *capture;
    const sonde_telemetry *now;
    sonde_metric_set *set = sonde_metric_set_create();
    assert_int_equal(sonde_capture_open(&options, &capture), SONDE_OK);
    assert_int_equal(sonde_capture_read(capture, &now), SONDE_OK);
    assert_int_equal(sonde_metric_set_telemetry(set, now), SONDE_OK);
    uint64_t total;
    double idle;
    assert_int_equal(sonde_telemetry_uint(now, SONDE_FIELD_MEMORY_TOTAL, &total), SONDE_OK);
    assert_int_equal(
        sonde_telemetry_row_double(now, SONDE_TABLE_CPUS, 0, SONDE_FIELD_CPU_IDLE, &idle),
        SONDE_OK);
    const sonde_metric *memory =
        sonde_metric_set_find(set, "sonde_host_memory_bytes", SONDE_LABELS("kind", "total"));
    const sonde_metric *cpu = sonde_metric_set_find(set, "sonde_host_cpu_seconds_total",
                                                    SONDE_LABELS("cpu", "0", "mode", "idle"));
    assert_non_null(memory);
    assert_non_null(cpu);
    assert_true(total > 0 && memory->gauge == (double)total);
    assert_int_equal(cpu->kind, SONDE_METRIC_SUM);
    assert_true(idle > 0 && cpu->gauge == idle);
    uint64_t busy_ms;
    const sonde_metric *busy =
        sonde_metric_set_find(set, "sonde_host_disk_busy_seconds_total", NULL);
    assert_non_null(busy);
    assert_int_equal(
        sonde_telemetry_row_uint(now, SONDE_TABLE_DISKS, 0, SONDE_FIELD_DISK_BUSY_TIME, &busy_ms),
        SONDE_OK);
    assert_true(busy->gauge == (double)busy_ms * 1e-3);
    assert_null(sonde_metric_set_find(set, "sonde_gpu_power_watts", NULL));
    sonde_metric_set_destroy(set);
    sonde_capture_close(capture);
}

/* The last values of a process, and those it had before. */
static void a_journal_has_the_metrics_of_its_processes(void **state)
{
    (void)state;
    sonde_reader *reader;
    sonde_metric_set *set = sonde_metric_set_create();
    uint64_t at = 0;
    assert_int_equal(sonde_reader_open(path, NULL, &reader), SONDE_OK);
    const sonde_run *run = sonde_reader_run(reader, 0);
    assert_int_equal(sonde_reader_metrics(reader, run->run, 0, set, &at), SONDE_OK);
    const sonde_metric *latency =
        sonde_metric_set_find(set, "sonde_task_latency_seconds", SONDE_LABELS("activity", "step"));
    assert_non_null(latency);
    assert_int_equal(latency->histogram->count, TASKS);
    assert_true(at >= run->started_wall_ns);
    assert_int_equal(sonde_reader_metrics(reader, run->run + 1, 0, set, &at), SONDE_OK);
    assert_int_equal(sonde_metric_set_count(set), 0);
    assert_int_equal(at, 0);
    assert_int_equal(sonde_reader_metrics(reader, run->run, 1, set, NULL), SONDE_OK);
    assert_int_equal(sonde_metric_set_count(set), 0);
    sonde_reader_close(reader);
    sonde_metric_set_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_session_comes_in_pieces),
        cmocka_unit_test(a_limit_still_makes_a_whole_document),
        cmocka_unit_test(formats_are_told_apart),
        cmocka_unit_test(the_machine_is_in_base_units),
        cmocka_unit_test(a_journal_has_the_metrics_of_its_processes),
    };
    return cmocka_run_group_tests(tests, record_many, remove_all);
}
