/* SPDX-License-Identifier: Apache-2.0 */
/* ExportTraceServiceRequest as protobuf. Spans that follow one another and are of one process share
   a ResourceSpans. A message may be cut behind any of them: the parts of a request, one after the
   other, are the request. Field numbers are those of opentelemetry/proto/trace/v1. */
#include "view/otlp_value.h"
#include "view/view_formats.h"
#include "view/view_utf8.h"

enum { STATUS_OK = 1, STATUS_ERROR = 2 };

static void begin(sonde__span_writer *w)
{
    w->group = NULL;
}

static void close_group(sonde__span_writer *w)
{
    if (!w->group)
        return;
    sonde__pb_end(w->out, w->scope_at);
    sonde__pb_end(w->out, w->resource_at);
    w->group = NULL;
}

static void open_group(sonde__span_writer *w, const sonde_run *run)
{
    close_group(w);
    w->group = run;
    w->resource_at = sonde__pb_begin(w->out, 1);
    size_t resource = sonde__pb_begin(w->out, 1);
    sonde__resource_of_run(run, sonde__otlp_resource_attr, w->out);
    sonde__pb_end(w->out, resource);
    w->scope_at = sonde__pb_begin(w->out, 2);
    sonde__otlp_scope(w->out);
}

static void put_id(sonde__buf *out, unsigned field, uint64_t hi, uint64_t lo, size_t len)
{
    uint8_t bytes[16];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(hi >> (56 - 8 * i));
        bytes[8 + i] = (uint8_t)(lo >> (56 - 8 * i));
    }
    sonde__pb_bytes(out, field, len == 16 ? bytes : bytes + 8, len);
}

static void put_attr(void *user, const char *prefix, const sonde_attr *attr)
{
    sonde__otlp_attr(user, 9, prefix, attr);
}

static void put_tags(sonde__buf *out, const sonde_record *record)
{
    if (record->tag_count == 0)
        return;
    size_t pair = sonde__pb_begin_short(out, 9);
    sonde__pb_bytes(out, 1, "sonde.tags", 10);
    size_t value = sonde__pb_begin_short(out, 2);
    size_t array = sonde__pb_begin_short(out, 5);
    for (size_t i = 0; i < record->tag_count; i++) {
        size_t item = sonde__pb_begin_short(out, 1);
        sonde__pb_text(out, 1, record->tags[i].value.s.data, record->tags[i].value.s.len);
        sonde__pb_end_short(out, item);
    }
    sonde__pb_end_short(out, array);
    sonde__pb_end_short(out, value);
    sonde__pb_end_short(out, pair);
}

static void put_events(sonde__buf *out, const sonde_record *record)
{
    for (size_t i = 0; i < record->event_count; i++) {
        const sonde_event *event = &record->events[i];
        size_t message = sonde__pb_begin_short(out, 11);
        sonde__pb_fixed64(out, 1, event->wall_ns);
        sonde__pb_text(out, 2, event->name, event->name_len);
        if (event->json) {
            sonde_attr attr = {.type = SONDE_ATTR_JSON, .key = "value", .key_len = 5};
            attr.value.s.data = event->json;
            attr.value.s.len = event->json_len;
            sonde__otlp_attr(out, 3, "", &attr);
        }
        sonde__pb_end_short(out, message);
    }
}

static void put_links(sonde__buf *out, const sonde_record *record)
{
    for (size_t i = 0; i < record->link_count; i++) {
        const sonde_context *link = &record->links[i];
        size_t message = sonde__pb_begin_short(out, 13);
        put_id(out, 1, link->trace_hi, link->trace_lo, 16);
        put_id(out, 2, 0, link->span, 8);
        sonde__pb_end_short(out, message);
    }
}

static void put_status(sonde__buf *out, const sonde_record *record)
{
    if (record->status != SONDE_FINISHED && record->status != SONDE_ERROR)
        return; /* unset */
    size_t message = sonde__pb_begin_short(out, 15);
    if (record->error)
        sonde__pb_text(out, 2, record->error, record->error_len);
    sonde__pb_uint(out, 3, record->status == SONDE_ERROR ? STATUS_ERROR : STATUS_OK);
    sonde__pb_end_short(out, message);
}

static void put_record(sonde__span_writer *w, const sonde_record *record)
{
    if (!sonde__is_span(record))
        return;
    if (w->group != record->process)
        open_group(w, record->process);
    sonde__buf *out = w->out;
    size_t span = sonde__pb_begin(out, 2);
    put_id(out, 1, record->trace_hi, record->trace_lo, 16);
    put_id(out, 2, 0, record->id, 8);
    if (record->parent)
        put_id(out, 4, 0, record->parent, 8);
    sonde__pb_text(out, 5, record->name, record->name_len);
    sonde__pb_uint(out, 6, sonde__span_kind(record));
    sonde__pb_fixed64(out, 7, record->start_wall_ns);
    sonde__pb_fixed64(out, 8, sonde__span_end(record));
    sonde__span_attributes(record, put_attr, out);
    put_tags(out, record);
    put_events(out, record);
    put_links(out, record);
    put_status(out, record);
    sonde__pb_end(out, span);
    w->count++;
}

const sonde__span_format sonde__spans_otlp = {
    .begin = begin,
    .record = put_record,
    .pause = close_group,
    .end = close_group,
};
