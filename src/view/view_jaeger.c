/* SPDX-License-Identifier: Apache-2.0 */
/* Jaeger's JSON, as its query service answers and its UI loads: traces with their spans, times in
   microseconds, tags with a type. Spans of one trace stand together, so they are kept apart until
   the end: the document is in memory, as it is in the UI. */
#include "base/base64.h"
#include "record/attr_json.h"
#include "view/span_json.h"
#include "view/view_formats.h"
#include "view/view_resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trace {
    uint64_t hi, lo;
    sonde__buf spans;
    sonde__json json;
} trace;

typedef struct traces {
    trace **list;
    size_t count, cap;
} traces;

static void begin(sonde__span_writer *w)
{
    w->state = calloc(1, sizeof(traces));
    if (!w->state)
        w->out->status = SONDE_ENOMEM;
}

static trace *make_trace(traces *all, uint64_t hi, uint64_t lo)
{
    if (all->count == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 16;
        trace **larger = realloc(all->list, cap * sizeof(void *));
        if (!larger)
            return NULL;
        all->list = larger;
        all->cap = cap;
    }
    trace *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->hi = hi;
    made->lo = lo;
    sonde__buf_init(&made->spans, SONDE__ENCODED_MAX);
    sonde__json_init(&made->json, &made->spans);
    sonde__json_begin_array(&made->json);
    return all->list[all->count++] = made;
}

/* Nearly always the last one. */
static trace *find_trace(traces *all, uint64_t hi, uint64_t lo)
{
    for (size_t i = all->count; i > 0; i--)
        if (all->list[i - 1]->hi == hi && all->list[i - 1]->lo == lo)
            return all->list[i - 1];
    return make_trace(all, hi, lo);
}

static void begin_tag(sonde__json *json, const char *prefix, const char *key, size_t len,
                      const char *type)
{
    sonde__buf name;
    sonde__buf_init(&name, len + 64);
    sonde__buf_text(&name, prefix);
    sonde__buf_append(&name, key, len);
    sonde__json_begin_object(json);
    sonde__json_key(json, "key");
    sonde__json_string_n(json, name.data ? name.data : "", name.len);
    sonde__buf_free(&name);
    sonde__json_key(json, "type");
    sonde__json_string(json, type);
    sonde__json_key(json, "value");
}

static void put_tag(void *user, const char *prefix, const sonde_attr *attr)
{
    static const char *const types[] = {
        [SONDE_ATTR_INT] = "int64",      [SONDE_ATTR_UINT] = "int64",
        [SONDE_ATTR_DOUBLE] = "float64", [SONDE_ATTR_BOOL] = "bool",
        [SONDE_ATTR_STRING] = "string",  [SONDE_ATTR_BYTES] = "binary",
        [SONDE_ATTR_JSON] = "string",
    };
    sonde__json *json = user;
    bool large = attr->type == SONDE_ATTR_UINT && attr->value.u > INT64_MAX;
    begin_tag(json, prefix, attr->key, attr->key_len, large ? "float64" : types[attr->type]);
    if (attr->type == SONDE_ATTR_BYTES) {
        sonde__buf text;
        sonde__buf_init(&text, 2 * attr->value.s.len + 16);
        sonde__base64(&text, attr->value.s.data, attr->value.s.len);
        sonde__json_string_n(json, text.data ? text.data : "", text.len);
        sonde__buf_free(&text);
    } else if (!sonde__attr_json_scalar(json, attr)) {
        sonde__json_string_n(json, attr->value.s.data, attr->value.s.len);
    }
    sonde__json_end_object(json);
}

static void text_tag(sonde__json *json, const char *key, const char *text, size_t len)
{
    begin_tag(json, "", key, strlen(key), "string");
    sonde__json_string_n(json, text, len);
    sonde__json_end_object(json);
}

static void put_tags(sonde__json *json, const sonde_record *record)
{
    const char *kind = sonde__span_kind_name(sonde__span_kind(record));
    sonde__json_key(json, "tags");
    sonde__json_begin_array(json);
    sonde__span_attributes(record, put_tag, json);
    for (size_t i = 0; i < record->tag_count; i++)
        text_tag(json, "sonde.tag", record->tags[i].value.s.data, record->tags[i].value.s.len);
    text_tag(json, "span.kind", kind, strlen(kind));
    if (record->status == SONDE_ERROR) {
        begin_tag(json, "", "error", 5, "bool");
        sonde__json_bool(json, true);
        sonde__json_end_object(json);
        if (record->error)
            text_tag(json, "otel.status_description", record->error, record->error_len);
    }
    sonde__json_end_array(json);
}

static void put_logs(sonde__json *json, const sonde_record *record)
{
    sonde__json_key(json, "logs");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < record->event_count; i++) {
        const sonde_event *event = &record->events[i];
        sonde__json_begin_object(json);
        sonde__json_key(json, "timestamp");
        sonde__json_uint(json, event->wall_ns / 1000u);
        sonde__json_key(json, "fields");
        sonde__json_begin_array(json);
        text_tag(json, "event", event->name, event->name_len);
        if (event->json)
            text_tag(json, "value", event->json, event->json_len);
        sonde__json_end_array(json);
        sonde__json_end_object(json);
    }
    sonde__json_end_array(json);
}

static void put_reference(sonde__json *json, const char *type, uint64_t hi, uint64_t lo,
                          uint64_t span)
{
    sonde__json_begin_object(json);
    sonde__json_key(json, "refType");
    sonde__json_string(json, type);
    sonde__json_trace_id(json, "traceID", hi, lo);
    sonde__json_span_id(json, "spanID", span);
    sonde__json_end_object(json);
}

static void process_name(const sonde_run *run, char out[24])
{
    out[0] = 'p';
    sonde__id_to_hex(run->run, out + 1);
    out[17] = '\0';
}

static void put_record(sonde__span_writer *w, const sonde_record *record)
{
    if (!w->state || !sonde__is_span(record))
        return;
    trace *in = find_trace(w->state, record->trace_hi, record->trace_lo);
    if (!in) {
        w->out->status = SONDE_ENOMEM;
        return;
    }
    sonde__json *json = &in->json;
    uint64_t start_us = record->start_wall_ns / 1000u;
    char process[24];
    process_name(record->process, process);
    sonde__json_begin_object(json);
    sonde__json_trace_id(json, "traceID", record->trace_hi, record->trace_lo);
    sonde__json_span_id(json, "spanID", record->id);
    sonde__json_key(json, "operationName");
    sonde__json_string_n(json, record->name, record->name_len);
    sonde__json_key(json, "references");
    sonde__json_begin_array(json);
    if (record->parent)
        put_reference(json, "CHILD_OF", record->trace_hi, record->trace_lo, record->parent);
    for (size_t i = 0; i < record->link_count; i++)
        put_reference(json, "FOLLOWS_FROM", record->links[i].trace_hi, record->links[i].trace_lo,
                      record->links[i].span);
    sonde__json_end_array(json);
    sonde__json_key(json, "flags");
    sonde__json_uint(json, 1);
    sonde__json_key(json, "startTime");
    sonde__json_uint(json, start_us);
    sonde__json_key(json, "duration");
    sonde__json_uint(json, (sonde__span_end(record) - record->start_wall_ns) / 1000u);
    put_tags(json, record);
    put_logs(json, record);
    sonde__json_key(json, "processID");
    sonde__json_string(json, process);
    sonde__json_key(json, "warnings");
    sonde__json_null(json);
    sonde__json_end_object(json);
    w->count++;
}

static void put_processes(sonde__json *json, const sonde_reader *reader)
{
    sonde__json_key(json, "processes");
    sonde__json_begin_object(json);
    for (size_t i = 0; i < sonde_reader_run_count(reader); i++) {
        const sonde_run *run = sonde_reader_run(reader, i);
        char name[24];
        process_name(run, name);
        sonde__json_key(json, name);
        sonde__json_begin_object(json);
        sonde__json_key(json, "serviceName");
        sonde__json_string(json, sonde__service_name(run));
        sonde__json_key(json, "tags");
        sonde__json_begin_array(json);
        sonde__resource_of_run(run, put_tag, json);
        sonde__json_end_array(json);
        sonde__json_end_object(json);
    }
    sonde__json_end_object(json);
}

static void put_trace(sonde__json *json, trace *what, const sonde_reader *reader)
{
    sonde__json_end_array(&what->json);
    sonde__json_begin_object(json);
    sonde__json_trace_id(json, "traceID", what->hi, what->lo);
    sonde__json_key(json, "spans");
    if (what->spans.status == SONDE_OK)
        sonde__json_raw(json, what->spans.data, what->spans.len);
    else
        json->buf->status = what->spans.status;
    put_processes(json, reader);
    sonde__json_key(json, "warnings");
    sonde__json_null(json);
    sonde__json_end_object(json);
}

static void end(sonde__span_writer *w)
{
    traces *all = w->state;
    if (!all)
        return;
    sonde__json json;
    sonde__json_init(&json, w->out);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "data");
    sonde__json_begin_array(&json);
    for (size_t i = 0; i < all->count; i++) {
        put_trace(&json, all->list[i], w->reader);
        sonde__buf_free(&all->list[i]->spans);
        free(all->list[i]);
    }
    sonde__json_end_array(&json);
    sonde__json_key(&json, "total");
    sonde__json_uint(&json, all->count);
    sonde__json_key(&json, "errors");
    sonde__json_null(&json);
    sonde__json_end_object(&json);
    sonde__buf_char(w->out, '\n');
    free(all->list);
    free(all);
}

const sonde__span_format sonde__spans_jaeger = {
    .begin = begin,
    .record = put_record,
    .end = end,
};
