/* SPDX-License-Identifier: Apache-2.0 */
#include "record/reading_json.h"

#include "capture/telemetry_codec.h"
#include "sonde/gpu.h"

/* A difference, under its key; Flowcept's names. */
typedef struct difference {
    const char *section;
    const char *key;
    sonde_field field;
} difference;

static const difference differences[] = {
    {"cpu", "percent_all_diff", SONDE_FIELD_CPU_PERCENT},
    {"cpu", "user_time_diff", SONDE_FIELD_CPU_USER},
    {"cpu", "system_time_diff", SONDE_FIELD_CPU_SYSTEM},
    {"cpu", "idle_time_diff", SONDE_FIELD_CPU_IDLE},
    {"memory", "used_mem_diff", SONDE_FIELD_MEMORY_USED},
    {"memory", "percent_diff", SONDE_FIELD_MEMORY_PERCENT},
    {"memory", "swap_used_diff", SONDE_FIELD_SWAP_USED},
    {"disk", "read_bytes_diff", SONDE_FIELD_DISK_READ_BYTES},
    {"disk", "write_bytes_diff", SONDE_FIELD_DISK_WRITE_BYTES},
    {"disk", "read_count_diff", SONDE_FIELD_DISK_READ_COUNT},
    {"disk", "write_count_diff", SONDE_FIELD_DISK_WRITE_COUNT},
    {"network", "bytes_sent_diff", SONDE_FIELD_NETWORK_BYTES_SENT},
    {"network", "bytes_recv_diff", SONDE_FIELD_NETWORK_BYTES_RECV},
    {"network", "packets_sent_diff", SONDE_FIELD_NETWORK_PACKETS_SENT},
    {"network", "packets_recv_diff", SONDE_FIELD_NETWORK_PACKETS_RECV},
    {"process", "user_time_diff", SONDE_FIELD_PROCESS_USER},
    {"process", "system_time_diff", SONDE_FIELD_PROCESS_SYSTEM},
    {"process", "rss_diff", SONDE_FIELD_PROCESS_RSS},
    {"process", "read_bytes_diff", SONDE_FIELD_PROCESS_READ_BYTES},
    {"process", "write_bytes_diff", SONDE_FIELD_PROCESS_WRITE_BYTES},
};
enum { DIFFERENCES = sizeof differences / sizeof *differences, JSON_BYTES_MAX = 4 << 20 };

bool sonde__reading_json(const void *bytes, size_t len, sonde__json *json)
{
    sonde_telemetry telemetry = {0};
    bool good = sonde__telemetry_decode(bytes, len, &telemetry) == SONDE_OK;
    if (good)
        sonde__telemetry_json(&telemetry, json);
    else
        sonde__json_null(json);
    sonde__telemetry_free(&telemetry);
    return good;
}

/* Integers as integers: a difference of two counters is exact. */
static void put_difference(sonde__json *json, const difference *what, const sonde_telemetry *a,
                           const sonde_telemetry *b)
{
    sonde__json_key(json, what->key);
    if (sonde_field_describe(what->field)->type == SONDE_FIELD_TYPE_UINT)
        sonde__json_int(json, (int64_t)(b->value[what->field].u - a->value[what->field].u));
    else
        sonde__json_double(json, b->value[what->field].d - a->value[what->field].d);
}

static void write_sections(sonde__json *json, const sonde_telemetry *a, const sonde_telemetry *b)
{
    const char *open = NULL;
    for (unsigned i = 0; i < DIFFERENCES; i++) {
        const difference *what = &differences[i];
        if (a->status[what->field] != SONDE_OK || b->status[what->field] != SONDE_OK)
            continue;
        if (!open || strcmp(open, what->section) != 0) {
            if (open)
                sonde__json_end_object(json);
            open = what->section;
            sonde__json_key(json, open);
            sonde__json_begin_object(json);
        }
        put_difference(json, what, a, b);
    }
    if (open)
        sonde__json_end_object(json);
}

/* Metrics of a GPU that Flowcept's summary has no difference of; each under its own name. */
static const struct {
    const char *key;
    sonde_gpu_metric metric;
} gpu_differences[] = {
    {"used_diff", SONDE_GPU_USED},
    {"power_diff", SONDE_GPU_POWER},
    {"average_socket_power_diff", SONDE_GPU_SOCKET_POWER},
    {"temperature_diff", SONDE_GPU_TEMPERATURE},
    {"hotspot_diff", SONDE_GPU_HOTSPOT},
    {"utilization_diff", SONDE_GPU_UTILIZATION},
    {"energy_diff", SONDE_GPU_ENERGY},
    {"process_memory_diff", SONDE_GPU_PROCESS_MEMORY},
};
enum { GPU_DIFFERENCES = sizeof gpu_differences / sizeof *gpu_differences };

static void write_gpu(sonde__json *json, const sonde_telemetry *a, size_t at_start,
                      const sonde_telemetry *b, size_t at_end)
{
    sonde__json_key(json, sonde_telemetry_gpu_name(b, at_end));
    sonde__json_begin_object(json);
    for (unsigned i = 0; i < GPU_DIFFERENCES; i++) {
        double before;
        double after;
        if (sonde_telemetry_gpu_double(a, at_start, gpu_differences[i].metric, &before) !=
                SONDE_OK ||
            sonde_telemetry_gpu_double(b, at_end, gpu_differences[i].metric, &after) != SONDE_OK)
            continue;
        sonde__json_key(json, gpu_differences[i].key);
        sonde__json_double(json, after - before);
    }
    sonde__json_end_object(json);
}

/* Of the GPUs that both readings have, by their name: one may have gone in between. */
static void write_gpus(sonde__json *json, const sonde_telemetry *a, const sonde_telemetry *b)
{
    bool open = false;
    for (size_t i = 0; i < sonde_telemetry_gpus(b); i++)
        for (size_t j = 0; j < sonde_telemetry_gpus(a); j++) {
            if (strcmp(sonde_telemetry_gpu_name(a, j), sonde_telemetry_gpu_name(b, i)) != 0)
                continue;
            if (!open) {
                sonde__json_key(json, "gpu");
                sonde__json_begin_object(json);
                open = true;
            }
            write_gpu(json, a, j, b, i);
        }
    if (open)
        sonde__json_end_object(json);
}

void sonde__reading_summary(const sonde_record *record, sonde__json *json)
{
    sonde_telemetry start = {0};
    sonde_telemetry end = {0};
    if (record->telemetry_start && record->telemetry_end &&
        sonde__telemetry_decode(record->telemetry_start, record->telemetry_start_len, &start) ==
            SONDE_OK &&
        sonde__telemetry_decode(record->telemetry_end, record->telemetry_end_len, &end) ==
            SONDE_OK) {
        sonde__json_key(json, "telemetry_summary");
        sonde__json_begin_object(json);
        sonde__json_key(json, "duration_sec");
        sonde__json_double(json, (double)record->duration_ns / 1e9);
        write_sections(json, &start, &end);
        write_gpus(json, &start, &end);
        sonde__json_end_object(json);
    }
    sonde__telemetry_free(&start);
    sonde__telemetry_free(&end);
}

sonde_status sonde_reading_json(const void *reading, size_t len,
                                void (*put)(void *user, const char *text, size_t len), void *user)
{
    sonde__buf buf;
    sonde__json json;
    sonde__buf_init(&buf, JSON_BYTES_MAX);
    sonde__json_init(&json, &buf);
    bool good = sonde__reading_json(reading, len, &json);
    sonde_status status = good ? buf.status : SONDE_EBADDATA;
    if (status == SONDE_OK)
        put(user, buf.data, buf.len);
    sonde__buf_free(&buf);
    return status;
}
