/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view_resource.h"

#include "base/ids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void text_attr(sonde__each_attr *each, void *user, const char *key, const char *text,
                      size_t len)
{
    if (!text)
        return;
    sonde_attr attr = {.type = SONDE_ATTR_STRING, .key = key, .key_len = strlen(key)};
    attr.value.s.data = text;
    attr.value.s.len = attr.value.s.full_len = len;
    each(user, "", &attr);
}

static void text_of(sonde__each_attr *each, void *user, const char *key, const char *text)
{
    text_attr(each, user, key, text, text ? strlen(text) : 0);
}

static void int_attr(sonde__each_attr *each, void *user, const char *key, int64_t value)
{
    sonde_attr attr = {.type = SONDE_ATTR_INT, .key = key, .key_len = strlen(key)};
    attr.value.i = value;
    each(user, "", &attr);
}

static void double_attr(sonde__each_attr *each, void *user, const char *key, double value)
{
    sonde_attr attr = {.type = SONDE_ATTR_DOUBLE, .key = key, .key_len = strlen(key)};
    attr.value.d = value;
    each(user, "", &attr);
}

const char *sonde__service_name(const sonde_run *run)
{
    if (run->workflow_name)
        return run->workflow_name;
    return run->session_name ? run->session_name : "sonde";
}

void sonde__resource_of_run(const sonde_run *run, sonde__each_attr *each, void *user)
{
    char hex[16];
    sonde__id_to_hex(run->run, hex);
    text_of(each, user, "service.name", sonde__service_name(run));
    text_attr(each, user, "service.instance.id", hex, sizeof hex);
    text_of(each, user, "host.name", run->host);
    int_attr(each, user, "process.pid", run->pid);
    text_of(each, user, "process.owner", run->user);
    text_of(each, user, "telemetry.sdk.name", "sonde");
    text_of(each, user, "telemetry.sdk.language", "c");
    text_of(each, user, "telemetry.sdk.version", run->version);
    text_of(each, user, "sonde.session", run->session_name);
}

void sonde__resource_of_source(const sonde_view_source *source, sonde__each_attr *each, void *user)
{
    for (size_t i = 0; i < source->resource_count; i++) {
        const sonde_label *label = &source->resource[i];
        if (strcmp(label->key, "process.pid") == 0)
            int_attr(each, user, label->key, strtoll(label->value, NULL, 10));
        else
            text_of(each, user, label->key, label->value);
    }
}

static const char *group_prefix(const sonde_record *record, size_t at)
{
    static const char *const names[SONDE_GROUP_COUNT] = {"used.", "generated.", "metadata."};
    const sonde_attr *attr = &record->attrs[at];
    for (size_t i = 0; i < at; i++)
        if (record->attrs[i].key_len == attr->key_len &&
            memcmp(record->attrs[i].key, attr->key, attr->key_len) == 0)
            return (unsigned)attr->group < SONDE_GROUP_COUNT ? names[attr->group] : "";
    return "";
}

static void usage_attributes(const sonde_task_usage *usage, sonde__each_attr *each, void *user)
{
    double_attr(each, user, "sonde.usage.cpu_seconds", usage->cpu_seconds);
    double_attr(each, user, "sonde.usage.cpu_percent_max", usage->cpu_percent_max);
    double_attr(each, user, "sonde.usage.rss_bytes_max", usage->rss_bytes_max);
    double_attr(each, user, "sonde.usage.rss_bytes_mean", usage->rss_bytes_mean);
    if (!isnan(usage->gpu_bytes_max))
        double_attr(each, user, "sonde.usage.gpu_bytes_max", usage->gpu_bytes_max);
    if (!isnan(usage->gpu_joules))
        double_attr(each, user, "sonde.usage.gpu_joules", usage->gpu_joules);
    if (!isnan(usage->cpu_joules))
        double_attr(each, user, "sonde.usage.cpu_joules", usage->cpu_joules);
}

void sonde__span_attributes(const sonde_record *record, sonde__each_attr *each, void *user)
{
    for (size_t i = 0; i < record->attr_count; i++)
        each(user, group_prefix(record, i), &record->attrs[i]);
    text_attr(each, user, "sonde.subtype", record->subtype, record->subtype_len);
    text_attr(each, user, "sonde.device", record->device, record->device_len);
    text_attr(each, user, "sonde.worker", record->worker, record->worker_len);
    text_attr(each, user, "sonde.group", record->group, record->group_len);
    if (record->has_layer)
        int_attr(each, user, "sonde.layer", record->layer);
    if (record->status != SONDE_FINISHED && record->status != SONDE_ERROR)
        text_of(each, user, "sonde.status", sonde_task_status_name(record->status));
    if (record->submitted_wall_ns && record->start_wall_ns > record->submitted_wall_ns)
        double_attr(each, user, "sonde.queue_seconds",
                    (double)(record->start_wall_ns - record->submitted_wall_ns) / 1e9);
    if (record->usage)
        usage_attributes(record->usage, each, user);
}

static const char *const kinds[] = {"unspecified", "internal", "server",
                                    "client",      "producer", "consumer"};
enum { KIND_INTERNAL = 1, KIND_CONSUMER = 5 };

unsigned sonde__span_kind(const sonde_record *record)
{
    for (size_t i = 0; i < record->attr_count; i++) {
        const sonde_attr *attr = &record->attrs[i];
        if (attr->type != SONDE_ATTR_STRING || attr->key_len != 9 ||
            memcmp(attr->key, "span.kind", 9) != 0)
            continue;
        for (unsigned kind = KIND_INTERNAL; kind <= KIND_CONSUMER; kind++)
            if (strlen(kinds[kind]) == attr->value.s.len &&
                memcmp(kinds[kind], attr->value.s.data, attr->value.s.len) == 0)
                return kind;
    }
    return record->submitted_wall_ns ? KIND_CONSUMER : KIND_INTERNAL;
}

const char *sonde__span_kind_name(unsigned kind)
{
    return kinds[kind <= KIND_CONSUMER ? kind : 0];
}

uint64_t sonde__span_end(const sonde_record *record)
{
    if (record->end_wall_ns)
        return record->end_wall_ns;
    uint64_t end = record->process->ended_wall_ns;
    return end > record->start_wall_ns ? end : record->start_wall_ns;
}
