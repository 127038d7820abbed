/* SPDX-License-Identifier: Apache-2.0 */
/* ExportTraceServiceRequest as JSON: ids in hex, times and integers as text. */
#include "view/otlp_value.h"
#include "view/span_json.h"
#include "view/view_formats.h"

#include <stdlib.h>

static void begin(sonde__span_writer *w)
{
    sonde__json *json = calloc(1, sizeof *json);
    w->state = json;
    if (!json) {
        w->out->status = SONDE_ENOMEM;
        return;
    }
    sonde__json_init(json, w->out);
    sonde__json_begin_object(json);
    sonde__json_key(json, "resourceSpans");
    sonde__json_begin_array(json);
}

static void close_group(sonde__span_writer *w, sonde__json *json)
{
    if (!w->group)
        return;
    sonde__json_end_array(json);
    sonde__json_end_object(json);
    sonde__json_end_array(json);
    sonde__json_end_object(json);
    w->group = NULL;
}

static void open_group(sonde__span_writer *w, sonde__json *json, const sonde_run *run)
{
    close_group(w, json);
    w->group = run;
    sonde__json_begin_object(json);
    sonde__json_key(json, "resource");
    sonde__json_begin_object(json);
    sonde__json_key(json, "attributes");
    sonde__json_begin_array(json);
    sonde__resource_of_run(run, sonde__otlp_json_each, json);
    sonde__json_end_array(json);
    sonde__json_end_object(json);
    sonde__json_key(json, "scopeSpans");
    sonde__json_begin_array(json);
    sonde__json_begin_object(json);
    sonde__otlp_json_scope(json);
    sonde__json_key(json, "spans");
    sonde__json_begin_array(json);
}

static void put_tags(sonde__json *json, const sonde_record *record)
{
    if (record->tag_count == 0)
        return;
    sonde__json_begin_object(json);
    sonde__json_key(json, "key");
    sonde__json_string(json, "sonde.tags");
    sonde__json_key(json, "value");
    sonde__json_begin_object(json);
    sonde__json_key(json, "arrayValue");
    sonde__json_begin_object(json);
    sonde__json_key(json, "values");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < record->tag_count; i++) {
        sonde__json_begin_object(json);
        sonde__json_key(json, "stringValue");
        sonde__json_string_n(json, record->tags[i].value.s.data, record->tags[i].value.s.len);
        sonde__json_end_object(json);
    }
    sonde__json_end_array(json);
    sonde__json_end_object(json);
    sonde__json_end_object(json);
    sonde__json_end_object(json);
}

static void put_events(sonde__json *json, const sonde_record *record)
{
    sonde__json_key(json, "events");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < record->event_count; i++) {
        const sonde_event *event = &record->events[i];
        sonde__json_begin_object(json);
        sonde__json_key(json, "timeUnixNano");
        sonde__otlp_json_uint(json, event->wall_ns);
        sonde__json_key(json, "name");
        sonde__json_string_n(json, event->name, event->name_len);
        if (event->json) {
            sonde_attr attr = {.type = SONDE_ATTR_JSON, .key = "value", .key_len = 5};
            attr.value.s.data = event->json;
            attr.value.s.len = event->json_len;
            sonde__json_key(json, "attributes");
            sonde__json_begin_array(json);
            sonde__otlp_json_attr(json, "", &attr);
            sonde__json_end_array(json);
        }
        sonde__json_end_object(json);
    }
    sonde__json_end_array(json);
}

static void put_links(sonde__json *json, const sonde_record *record)
{
    sonde__json_key(json, "links");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < record->link_count; i++) {
        const sonde_context *link = &record->links[i];
        sonde__json_begin_object(json);
        sonde__json_trace_id(json, "traceId", link->trace_hi, link->trace_lo);
        sonde__json_span_id(json, "spanId", link->span);
        sonde__json_end_object(json);
    }
    sonde__json_end_array(json);
}

static void put_status(sonde__json *json, const sonde_record *record)
{
    sonde__json_key(json, "status");
    sonde__json_begin_object(json);
    if (record->error) {
        sonde__json_key(json, "message");
        sonde__json_string_n(json, record->error, record->error_len);
    }
    bool known = record->status == SONDE_FINISHED || record->status == SONDE_ERROR;
    if (known) {
        sonde__json_key(json, "code");
        sonde__json_int(json, record->status == SONDE_ERROR ? 2 : 1);
    }
    sonde__json_end_object(json);
}

static void put_record(sonde__span_writer *w, const sonde_record *record)
{
    sonde__json *json = w->state;
    if (!json || !sonde__is_span(record))
        return;
    if (w->group != record->process)
        open_group(w, json, record->process);
    sonde__json_begin_object(json);
    sonde__json_trace_id(json, "traceId", record->trace_hi, record->trace_lo);
    sonde__json_span_id(json, "spanId", record->id);
    if (record->parent)
        sonde__json_span_id(json, "parentSpanId", record->parent);
    sonde__json_key(json, "name");
    sonde__json_string_n(json, record->name, record->name_len);
    sonde__json_key(json, "kind");
    sonde__json_uint(json, sonde__span_kind(record));
    sonde__json_key(json, "startTimeUnixNano");
    sonde__otlp_json_uint(json, record->start_wall_ns);
    sonde__json_key(json, "endTimeUnixNano");
    sonde__otlp_json_uint(json, sonde__span_end(record));
    sonde__json_key(json, "attributes");
    sonde__json_begin_array(json);
    sonde__span_attributes(record, sonde__otlp_json_each, json);
    put_tags(json, record);
    sonde__json_end_array(json);
    put_events(json, record);
    put_links(json, record);
    put_status(json, record);
    sonde__json_end_object(json);
    w->count++;
}

static void end(sonde__span_writer *w)
{
    sonde__json *json = w->state;
    if (!json)
        return;
    close_group(w, json);
    sonde__json_end_array(json);
    sonde__json_end_object(json);
    sonde__buf_char(w->out, '\n');
    free(json);
}

const sonde__span_format sonde__spans_otlp_json = {
    .begin = begin,
    .record = put_record,
    .end = end,
};
