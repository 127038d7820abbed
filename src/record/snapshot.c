/* SPDX-License-Identifier: Apache-2.0 */
#include "sonde/snapshot.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "record/recorder.h"
#include "record/snapshot_json.h"
#include "record/task_metrics.h"
#include "sonde/gpu.h"
#include "sonde/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH_WAIT_NS = 100000000 };

/* What the throughput of one kind of snapshot is counted from. */
typedef struct window {
    struct window *next;
    uint64_t executed;
    uint64_t mono_ns;
    bool device;
    char text[];
} window;

struct sonde_snapshot_reader {
    sonde_capture *capture; /* NULL: this machine tells nothing */
    sonde__task_totals totals;
    sonde_octave octaves[SONDE_OCTAVES];
    uint64_t opened_ns;
    uint64_t opened_executed;
    window *windows;
};

static sonde_distribution latency_of(sonde_snapshot_reader *reader)
{
    sonde_distribution all = reader->totals.latency.all;
    sonde__merged_octaves(&reader->totals.latency, reader->octaves);
    all.octaves = reader->octaves;
    all.octave_count = reader->totals.latency.touched;
    return all;
}

sonde_status sonde_snapshot_reader_open(sonde_snapshot_reader **out)
{
    sonde_snapshot_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return SONDE_ENOMEM;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    static const char *const gpu[] = {"used", "utilization", NULL};
    options.types = SONDE_CAPTURE_CPU | SONDE_CAPTURE_MEMORY | SONDE_CAPTURE_GPU;
    options.level = SONDE_LEVEL_REGULAR;
    options.gpu = gpu;
    if (sonde_capture_open(&options, &reader->capture) != SONDE_OK)
        reader->capture = NULL;
    reader->opened_ns = sonde__clock_monotonic_ns();
    sonde__task_totals_read(NULL, NULL, &reader->totals);
    reader->opened_executed = reader->totals.latency.all.count + reader->totals.unsampled;
    *out = reader;
    return SONDE_OK;
}

void sonde_snapshot_reader_close(sonde_snapshot_reader *reader)
{
    if (!reader)
        return;
    sonde_capture_close(reader->capture);
    while (reader->windows) {
        window *next = reader->windows->next;
        free(reader->windows);
        reader->windows = next;
    }
    free(reader);
}

/* The window of this kind; a new one begins where the reader did. NULL without memory. */
static window *window_of(sonde_snapshot_reader *reader, const char *text, bool device)
{
    const char *key = text ? text : "";
    for (window *w = reader->windows; w; w = w->next)
        if (w->device == device && strcmp(w->text, key) == 0)
            return w;
    size_t len = strlen(key) + 1;
    window *made = calloc(1, sizeof *made + len);
    if (!made)
        return NULL;
    memcpy(made->text, key, len);
    made->device = device;
    made->mono_ns = reader->opened_ns;
    made->executed = text ? 0 : reader->opened_executed;
    made->next = reader->windows;
    reader->windows = made;
    return made;
}

static double rate_since(window *from, uint64_t executed, uint64_t now_ns)
{
    double seconds = (double)(now_ns - from->mono_ns) / 1e9;
    double rate = seconds > 0 && executed >= from->executed
                      ? (double)(executed - from->executed) / seconds
                      : 0;
    from->executed = executed;
    from->mono_ns = now_ns;
    return rate;
}

/* Of the GPUs that tell: memory in all, and how busy they are on average. */
static void read_gpus(const sonde_telemetry *now, sonde_snapshot *out)
{
    double busy = 0;
    double bytes = 0;
    unsigned busy_count = 0;
    unsigned bytes_count = 0;
    for (size_t i = 0; i < sonde_telemetry_gpus(now); i++) {
        double value;
        if (sonde_telemetry_gpu_double(now, i, SONDE_GPU_UTILIZATION, &value) == SONDE_OK) {
            busy += value;
            busy_count++;
        }
        if (sonde_telemetry_gpu_double(now, i, SONDE_GPU_USED, &value) == SONDE_OK) {
            bytes += value;
            bytes_count++;
        }
    }
    out->gpu_utilization_percent = busy_count ? busy / busy_count : NAN;
    out->gpu_memory_used_mb = bytes_count ? bytes / 1048576 : NAN;
}

static void read_machine(sonde_snapshot_reader *reader, sonde_snapshot *out)
{
    out->cpu_utilization_percent = out->memory_used_mb = NAN;
    out->gpu_utilization_percent = out->gpu_memory_used_mb = NAN;
    const sonde_telemetry *now;
    if (!reader->capture || sonde_capture_read(reader->capture, &now) != SONDE_OK)
        return;
    double value;
    if (sonde_telemetry_double(now, SONDE_FIELD_CPU_PERCENT, &value) == SONDE_OK)
        out->cpu_utilization_percent = value;
    if (sonde_telemetry_double(now, SONDE_FIELD_MEMORY_USED, &value) == SONDE_OK)
        out->memory_used_mb = value / 1048576;
    read_gpus(now, out);
}

static sonde_status take(sonde_snapshot_reader *reader, const char *activity, const char *device,
                         sonde_snapshot *out)
{
    window *from = window_of(reader, device ? device : activity, device != NULL);
    if (!from)
        return SONDE_ENOMEM;
    sonde__recorder_drain_now(FLUSH_WAIT_NS);
    sonde__task_totals_read(activity, device, &reader->totals);
    sonde_distribution latency = latency_of(reader);
    *out = (sonde_snapshot){
        .wall_ns = sonde__clock_wall_ns(),
        .tasks_executed = latency.count + reader->totals.unsampled,
        .tasks_failed = reader->totals.failed,
        .tasks_pending = reader->totals.pending,
        .avg_latency_ms = sonde_distribution_mean(&latency) * 1000,
        .p50_latency_ms = sonde_distribution_percentile(&latency, 50) * 1000,
        .p95_latency_ms = sonde_distribution_percentile(&latency, 95) * 1000,
        .p99_latency_ms = sonde_distribution_percentile(&latency, 99) * 1000,
    };
    out->throughput_tasks_per_sec =
        rate_since(from, out->tasks_executed, sonde__clock_monotonic_ns());
    read_machine(reader, out);
    return SONDE_OK;
}

sonde_status sonde_snapshot_take(sonde_snapshot_reader *reader, sonde_snapshot *out)
{
    return take(reader, NULL, NULL, out);
}

sonde_status sonde_snapshot_take_activity(sonde_snapshot_reader *reader, const char *activity,
                                          sonde_snapshot *out)
{
    return activity ? take(reader, activity, NULL, out) : SONDE_EINVAL;
}

sonde_status sonde_snapshot_take_device(sonde_snapshot_reader *reader, const char *device,
                                        sonde_snapshot *out)
{
    return device ? take(reader, NULL, device, out) : SONDE_EINVAL;
}

/* --- JSON --- */

static void put_uint(sonde__json *json, const char *key, uint64_t value)
{
    sonde__json_key(json, key);
    sonde__json_uint(json, value);
}

static void put_double(sonde__json *json, const char *key, double value)
{
    sonde__json_key(json, key);
    sonde__json_double(json, value);
}

static void begin(sonde__json *json, const char *key)
{
    sonde__json_key(json, key);
    sonde__json_begin_object(json);
}

void sonde__snapshot_json(const sonde_snapshot *s, sonde__json *json)
{
    sonde__json_begin_object(json);
    /* apart, because nanoseconds since 1970 are beyond what a double holds exactly */
    uint64_t seconds = s->wall_ns / 1000000000u;
    put_double(json, "timestamp", (double)seconds + (double)(s->wall_ns % 1000000000u) / 1e9);
    begin(json, "tasks");
    put_uint(json, "executed", s->tasks_executed);
    put_uint(json, "failed", s->tasks_failed);
    put_uint(json, "pending", s->tasks_pending);
    sonde__json_end_object(json);
    begin(json, "latency");
    put_double(json, "avg_ms", s->avg_latency_ms);
    put_double(json, "p50_ms", s->p50_latency_ms);
    put_double(json, "p95_ms", s->p95_latency_ms);
    put_double(json, "p99_ms", s->p99_latency_ms);
    sonde__json_end_object(json);
    begin(json, "system");
    put_double(json, "cpu_percent", s->cpu_utilization_percent);
    put_double(json, "memory_mb", s->memory_used_mb);
    put_double(json, "throughput_tasks_per_sec", s->throughput_tasks_per_sec);
    sonde__json_end_object(json);
    begin(json, "gpu");
    put_double(json, "utilization_percent", s->gpu_utilization_percent);
    put_double(json, "memory_used_mb", s->gpu_memory_used_mb);
    sonde__json_end_object(json);
    sonde__json_end_object(json);
}

sonde_status sonde_snapshot_json(const sonde_snapshot *snapshot, char *out, size_t size)
{
    sonde__buf buf;
    sonde__json json;
    sonde__buf_init_fixed(&buf, out, size);
    sonde__json_init(&json, &buf);
    sonde__snapshot_json(snapshot, &json);
    sonde__buf_char(&buf, '\0');
    return buf.status;
}
