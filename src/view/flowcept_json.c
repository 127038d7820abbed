/* SPDX-License-Identifier: Apache-2.0 */
/* Flowcept's keys in Flowcept's order: activity_id, workflow_id, campaign_id, used, tags,
   started_at, custom_metadata, hostname, task_id, status, stderr, ended_at, generated, type.
   Differences, all of them repairs: a nested task has its parent_task_id, ids are unique (W3C span
   ids), a workflow that failed says ERROR, and a task that never ended is there. Times are UNIX
   seconds as floats. */
#include "view/flowcept_json.h"

#include "base/ids.h"
#include "base/json_write.h"
#include "record/attr_json.h"
#include "record/reading_json.h"

#include <math.h>
#include <string.h>

static void hex_key(sonde__json *json, const char *key, uint64_t id)
{
    char hex[16];
    sonde__id_to_hex(id, hex);
    sonde__json_key(json, key);
    sonde__json_string_n(json, hex, sizeof hex);
}

static void trace_key(sonde__json *json, const char *key, uint64_t hi, uint64_t lo)
{
    char hex[32];
    sonde__id_to_hex(hi, hex);
    sonde__id_to_hex(lo, hex + 16);
    sonde__json_key(json, key);
    sonde__json_string_n(json, hex, sizeof hex);
}

static void text_key(sonde__json *json, const char *key, const char *text)
{
    if (text) {
        sonde__json_key(json, key);
        sonde__json_string(json, text);
    }
}

static void slice_key(sonde__json *json, const char *key, const char *text, size_t len)
{
    if (text) {
        sonde__json_key(json, key);
        sonde__json_string_n(json, text, len);
    }
}

static void time_key(sonde__json *json, const char *key, uint64_t wall_ns)
{
    if (wall_ns == 0)
        return;
    uint64_t microseconds = wall_ns / 1000u; /* as many digits as a double of this size has */
    sonde__json_key(json, key);
    sonde__json_double(json, (double)microseconds / 1e6);
}

static void hex_bytes(sonde__json *json, const char *data, size_t len)
{
    sonde__buf text;
    sonde__buf_init(&text, 2 * len + 16);
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = (uint8_t)data[i];
        sonde__buf_char(&text, "0123456789abcdef"[byte >> 4]);
        sonde__buf_char(&text, "0123456789abcdef"[byte & 15]);
    }
    sonde__json_string_n(json, text.data, text.len);
    sonde__buf_free(&text);
}

/* What was given as JSON, if it is; else as a string, so that the line stays valid. */
static void json_or_text(sonde__json *json, const char *text, size_t len)
{
    bool one_line = memchr(text, '\n', len) == NULL && memchr(text, '\r', len) == NULL;
    if (one_line && sonde__is_json(text, len))
        sonde__json_raw(json, text, len);
    else
        sonde__json_string_n(json, text, len);
}

static void value(sonde__json *json, const sonde_attr *attr)
{
    if (sonde__attr_json_scalar(json, attr))
        return;
    if (attr->type == SONDE_ATTR_BYTES)
        hex_bytes(json, attr->value.s.data, attr->value.s.len);
    else if (attr->type == SONDE_ATTR_JSON)
        json_or_text(json, attr->value.s.data, attr->value.s.len);
    else
        sonde__json_string_n(json, attr->value.s.data, attr->value.s.len);
}

static bool has_group(const sonde_attr *attrs, size_t count, sonde_group group)
{
    for (size_t i = 0; i < count; i++)
        if (attrs[i].group == group)
            return true;
    return false;
}

static void group_key(sonde__json *json, const char *key, const sonde_attr *attrs, size_t count,
                      sonde_group group, bool always)
{
    if (!always && !has_group(attrs, count, group))
        return;
    sonde__json_key(json, key);
    sonde__json_begin_object(json);
    for (size_t i = 0; i < count; i++)
        if (attrs[i].group == group) {
            sonde__json_key_n(json, attrs[i].key, attrs[i].key_len);
            value(json, &attrs[i]);
        }
    sonde__json_end_object(json);
}

static void tags_key(sonde__json *json, const sonde_record *record)
{
    if (record->tag_count == 0)
        return;
    sonde__json_key(json, "tags");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < record->tag_count; i++)
        value(json, &record->tags[i]);
    sonde__json_end_array(json);
}

static void events_key(sonde__json *json, const sonde_record *record)
{
    if (record->event_count == 0)
        return;
    sonde__json_key(json, "events");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < record->event_count; i++) {
        const sonde_event *event = &record->events[i];
        sonde__json_begin_object(json);
        slice_key(json, "name", event->name, event->name_len);
        time_key(json, "time", event->wall_ns);
        if (event->json) {
            sonde__json_key(json, "value");
            json_or_text(json, event->json, event->json_len);
        }
        sonde__json_end_object(json);
    }
    sonde__json_end_array(json);
}

static void links_key(sonde__json *json, const sonde_record *record)
{
    if (record->link_count == 0)
        return;
    sonde__json_key(json, "links");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < record->link_count; i++) {
        sonde__json_begin_object(json);
        trace_key(json, "trace_id", record->links[i].trace_hi, record->links[i].trace_lo);
        hex_key(json, "span_id", record->links[i].span);
        sonde__json_end_object(json);
    }
    sonde__json_end_array(json);
}

static void telemetry_key(sonde__json *json, const char *key, const void *reading, size_t len)
{
    if (!reading)
        return;
    sonde__json_key(json, key);
    sonde__reading_json(reading, len, json);
}

static void readings_key(sonde__json *json, const sonde_record *record)
{
    if (record->reading_count == 0)
        return;
    sonde__json_key(json, "telemetry_inside");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < record->reading_count; i++)
        sonde__reading_json(record->readings[i].data, record->readings[i].len, json);
    sonde__json_end_array(json);
}

static void double_key(sonde__json *json, const char *key, double value)
{
    sonde__json_key(json, key);
    sonde__json_double(json, value);
}

static const char *basis_name(sonde_joules_basis basis)
{
    return basis == SONDE_JOULES_COUNTER ? "energy counter" : "power readings";
}

/* Keys of what is known only. */
static void gpu_usage(sonde__json *json, const sonde_task_usage *usage)
{
    if (!isnan(usage->gpu_bytes_max)) {
        double_key(json, "gpu_bytes_max", usage->gpu_bytes_max);
        double_key(json, "gpu_bytes_mean", usage->gpu_bytes_mean);
        double_key(json, "gpu_byte_seconds", usage->gpu_byte_seconds);
        double_key(json, "gpu_seconds", usage->gpu_seconds);
    }
    if (!isnan(usage->gpu_watts_max))
        double_key(json, "gpu_watts_max", usage->gpu_watts_max);
    if (usage->gpu_joules_basis != SONDE_JOULES_UNKNOWN) {
        double_key(json, "gpu_joules", usage->gpu_joules);
        text_key(json, "gpu_joules_basis", basis_name(usage->gpu_joules_basis));
    }
}

static void usage_key(sonde__json *json, const sonde_task_usage *usage)
{
    if (!usage)
        return;
    sonde__json_key(json, "usage");
    sonde__json_begin_object(json);
    double_key(json, "samples", usage->samples);
    double_key(json, "cpu_seconds", usage->cpu_seconds);
    double_key(json, "cpu_percent_max", usage->cpu_percent_max);
    double_key(json, "rss_bytes_max", usage->rss_bytes_max);
    double_key(json, "rss_bytes_mean", usage->rss_bytes_mean);
    double_key(json, "rss_byte_seconds", usage->rss_byte_seconds);
    gpu_usage(json, usage);
    if (usage->cpu_joules_basis != SONDE_JOULES_UNKNOWN) {
        double_key(json, "cpu_joules", usage->cpu_joules);
        text_key(json, "cpu_joules_basis", basis_name(usage->cpu_joules_basis));
        double_key(json, "cpu_joules_seconds", usage->cpu_joules_seconds);
    }
    sonde__json_end_object(json);
}

/* What Flowcept has no key for. */
static void sonde_key(sonde__json *json, const sonde_record *record)
{
    sonde__json_key(json, "sonde");
    sonde__json_begin_object(json);
    hex_key(json, "run", record->run);
    sonde__json_key(json, "lane");
    sonde__json_uint(json, record->lane);
    sonde__json_key(json, "seq");
    sonde__json_uint(json, record->seq);
    if (record->kind == SONDE_RECORD_TASK) {
        sonde__json_key(json, "duration_ns");
        sonde__json_uint(json, record->duration_ns);
    }
    if (record->kind == SONDE_RECORD_OPEN) {
        sonde__json_key(json, "open");
        sonde__json_bool(json, true);
    }
    if (record->trace_hi != record->process->trace_hi ||
        record->trace_lo != record->process->trace_lo)
        trace_key(json, "trace_id", record->trace_hi, record->trace_lo);
    slice_key(json, "device", record->device, record->device_len);
    slice_key(json, "worker", record->worker, record->worker_len);
    if (record->has_layer) {
        sonde__json_key(json, "layer");
        sonde__json_int(json, record->layer);
    }
    usage_key(json, record->usage);
    readings_key(json, record);
    events_key(json, record);
    links_key(json, record);
    sonde__json_end_object(json);
}

static void task(sonde__json *json, const sonde_record *record)
{
    const sonde_run *run = record->process;
    slice_key(json, "subtype", record->subtype, record->subtype_len);
    slice_key(json, "activity_id", record->name, record->name_len);
    trace_key(json, "workflow_id", run->trace_hi, run->trace_lo);
    text_key(json, "campaign_id", run->campaign_id);
    slice_key(json, "group_id", record->group, record->group_len);
    group_key(json, "used", record->attrs, record->attr_count, SONDE_USED, true);
    tags_key(json, record);
    time_key(json, "submitted_at", record->submitted_wall_ns);
    time_key(json, "started_at", record->start_wall_ns);
    group_key(json, "custom_metadata", record->attrs, record->attr_count, SONDE_METADATA, false);
    text_key(json, "hostname", run->host);
    hex_key(json, "task_id", record->id);
    if (record->parent)
        hex_key(json, "parent_task_id", record->parent);
    telemetry_key(json, "telemetry_at_start", record->telemetry_start, record->telemetry_start_len);
    sonde__json_key(json, "status");
    sonde__json_string(json, sonde_task_status_name(record->status));
    slice_key(json, "stderr", record->error, record->error_len);
    time_key(json, "ended_at", record->end_wall_ns);
    telemetry_key(json, "telemetry_at_end", record->telemetry_end, record->telemetry_end_len);
    sonde__reading_summary(record, json);
    group_key(json, "generated", record->attrs, record->attr_count, SONDE_GENERATED, false);
    sonde__json_key(json, "type");
    sonde__json_string(json, "task");
    sonde_key(json, record);
}

static const char *state_name(sonde_run_state state)
{
    static const char *const names[] = {"running", "closed", "recovered", "died", "lost"};
    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "lost";
}

/* By node, where Flowcept has the id of its interceptor. */
static void machine_key(sonde__json *json, const sonde_run *run)
{
    if (!run->machine_info)
        return;
    sonde__json_key(json, "machine_info");
    sonde__json_begin_object(json);
    sonde__json_key(json, run->host ? run->host : "");
    json_or_text(json, run->machine_info, strlen(run->machine_info));
    sonde__json_end_object(json);
}

static void workflow(sonde__json *json, const sonde_record *record)
{
    const sonde_run *run = record->process;
    bool end = record->kind == SONDE_RECORD_RUN_END;
    trace_key(json, "workflow_id", run->trace_hi, run->trace_lo);
    text_key(json, "parent_workflow_id", run->parent_workflow_id);
    machine_key(json, run);
    text_key(json, "user", run->user);
    text_key(json, "campaign_id", run->campaign_id);
    text_key(json, "name", run->workflow_name);
    group_key(json, "custom_metadata", run->attrs, run->attr_count, SONDE_METADATA, false);
    group_key(json, "used", run->attrs, run->attr_count, SONDE_USED, false);
    if (end)
        group_key(json, "generated", run->attrs, run->attr_count, SONDE_GENERATED, false);
    text_key(json, "subtype", run->workflow_subtype);
    time_key(json, "started_at", run->started_wall_ns);
    if (end)
        time_key(json, "ended_at", run->ended_wall_ns);
    sonde__json_key(json, "status");
    sonde__json_string(json, sonde_task_status_name(record->status));
    if (end)
        text_key(json, "stderr", run->error);
    sonde__json_key(json, "type");
    sonde__json_string(json, "workflow");
    sonde__json_key(json, "sonde");
    sonde__json_begin_object(json);
    hex_key(json, "run", run->run);
    hex_key(json, "session", run->session);
    text_key(json, "session_name", run->session_name);
    text_key(json, "hostname", run->host);
    sonde__json_key(json, "pid");
    sonde__json_uint(json, run->pid);
    sonde__json_key(json, "opener");
    sonde__json_bool(json, run->opener != 0);
    sonde__json_key(json, "state");
    sonde__json_string(json, end ? state_name(run->state) : "running");
    text_key(json, "segment", run->segment);
    text_key(json, "version", run->version);
    if (run->attrs_left_out > 0) {
        sonde__json_key(json, "attributes_left_out");
        sonde__json_uint(json, run->attrs_left_out);
    }
    sonde__json_end_object(json);
}

static void loss(sonde__json *json, const sonde_record *record)
{
    static const struct {
        unsigned bit;
        const char *name;
    } reasons[] = {{SONDE_LOSS_FULL, "ring full"},
                   {SONDE_LOSS_SLOTS, "too many open tasks"},
                   {SONDE_LOSS_SIGNAL, "inside a signal handler"},
                   {SONDE_LOSS_LIMIT, "byte limit of the session"}};
    sonde__json_key(json, "count");
    sonde__json_uint(json, record->count);
    sonde__json_key(json, "reasons");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (record->reasons & reasons[i].bit)
            sonde__json_string(json, reasons[i].name);
    sonde__json_end_array(json);
    sonde__json_key(json, "type");
    sonde__json_string(json, "loss");
    sonde_key(json, record);
}

void sonde__flowcept_json(const sonde_record *record, sonde__buf *out)
{
    sonde__json json;
    sonde__json_init(&json, out);
    sonde__json_begin_object(&json);
    switch (record->kind) {
    case SONDE_RECORD_RUN_BEGIN:
    case SONDE_RECORD_RUN_END:
        workflow(&json, record);
        break;
    case SONDE_RECORD_LOSS:
        loss(&json, record);
        break;
    case SONDE_RECORD_TASK:
    case SONDE_RECORD_SUBMIT:
    case SONDE_RECORD_UPDATE:
    case SONDE_RECORD_OPEN:
        task(&json, record);
        break;
    }
    sonde__json_end_object(&json);
    sonde__buf_char(out, '\n');
}
