/* SPDX-License-Identifier: Apache-2.0 */
/* PyVeda's list of spans: the ten keys of its Span, one object each. Differences, all of them
   repairs: times are of the wall clock, ids are W3C's, a child is in its parent's trace. */
#include "record/attr_json.h"
#include "view/span_json.h"
#include "view/view_formats.h"
#include "view/view_resource.h"

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
    sonde__json_begin_array(json);
}

static void put_attr(void *user, const char *prefix, const sonde_attr *attr)
{
    sonde__json *json = user;
    sonde__buf key;
    sonde__buf_init(&key, attr->key_len + 64);
    sonde__buf_text(&key, prefix);
    sonde__buf_append(&key, attr->key, attr->key_len);
    sonde__json_key_n(json, key.data ? key.data : "", key.len);
    sonde__buf_free(&key);
    sonde__attr_json_value(json, attr);
}

static void seconds_key(sonde__json *json, const char *key, uint64_t wall_ns)
{
    uint64_t microseconds = wall_ns / 1000u;
    sonde__json_key(json, key);
    if (wall_ns)
        sonde__json_double(json, (double)microseconds / 1e6);
    else
        sonde__json_null(json);
}

static void put_record(sonde__span_writer *w, const sonde_record *record)
{
    sonde__json *json = w->state;
    if (!json || !sonde__is_span(record))
        return;
    sonde__json_begin_object(json);
    sonde__json_key(json, "name");
    sonde__json_string_n(json, record->name, record->name_len);
    sonde__json_trace_id(json, "trace_id", record->trace_hi, record->trace_lo);
    sonde__json_span_id(json, "span_id", record->id);
    if (record->parent) {
        sonde__json_span_id(json, "parent_span_id", record->parent);
    } else {
        sonde__json_key(json, "parent_span_id");
        sonde__json_null(json);
    }
    seconds_key(json, "start_time", record->start_wall_ns);
    seconds_key(json, "end_time", record->end_wall_ns);
    sonde__json_key(json, "duration_ms");
    sonde__json_double(json, (double)record->duration_ns / 1e6);
    sonde__json_key(json, "attributes");
    sonde__json_begin_object(json);
    sonde__span_attributes(record, put_attr, json);
    sonde__json_end_object(json);
    sonde__json_key(json, "status");
    sonde__json_string(json, record->status == SONDE_ERROR ? "error" : "ok");
    sonde__json_key(json, "error");
    if (record->error)
        sonde__json_string_n(json, record->error, record->error_len);
    else
        sonde__json_null(json);
    sonde__json_end_object(json);
    w->count++;
}

static void end(sonde__span_writer *w)
{
    if (!w->state)
        return;
    sonde__json_end_array(w->state);
    sonde__buf_char(w->out, '\n');
    free(w->state);
}

const sonde__span_format sonde__spans_pyveda = {
    .begin = begin,
    .record = put_record,
    .end = end,
};
