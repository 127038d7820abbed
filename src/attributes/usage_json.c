/* SPDX-License-Identifier: Apache-2.0 */
/* A map as one flat JSON object, and back. Values of a document that are no numbers are kept as
   they are, so that what was exported elsewhere can be imported and exported again. */
#include "attributes/attribute_table.h"
#include "attributes/usage_map.h"
#include "base/json_read.h"
#include "base/json_write.h"

#include <stdlib.h>
#include <string.h>

#define OVERFLOW_KEY     "sonde_overflow_total"
#define LAST_UPDATED_KEY "last_updated"

enum { RAW_BYTES_MAX = 64 << 10 };

static void write_cell(sonde__json *json, const sonde__cell *cell)
{
    sonde__json_key_n(json, cell->key, cell->key_len);
    if (cell->operation == SONDE__OP_RAW)
        sonde__json_raw(json, cell->value.raw, strlen(cell->value.raw));
    else if (cell->is_real)
        sonde__json_double(json, cell->value.real);
    else
        sonde__json_int(json, cell->value.integer);
}

sonde_status sonde_usage_to_json(const sonde_usage *usage, char **text, size_t *len)
{
    sonde__buf buf;
    sonde__json json;
    sonde__buf_init(&buf, SIZE_MAX / 2);
    sonde__json_init(&json, &buf);
    sonde__usage_lock(usage);
    sonde__json_begin_object(&json);
    for (size_t i = 0; i < usage->count; i++)
        write_cell(&json, sonde__usage_cell(usage, i));
    if (usage->overflow > 0) {
        sonde__json_key(&json, OVERFLOW_KEY);
        sonde__json_uint(&json, usage->overflow);
    }
    if (usage->last_updated.year != 0) {
        char time[SONDE_DATETIME_BYTES];
        size_t time_len = sonde_datetime_format(&usage->last_updated, time);
        sonde__json_key(&json, LAST_UPDATED_KEY);
        sonde__json_string_n(&json, time, time_len);
    }
    sonde__json_end_object(&json);
    sonde__usage_unlock(usage);
    return sonde__buf_give(&buf, text, len);
}

typedef struct import {
    sonde__json_reader reader;
    sonde_usage *staged; /* the document, before it touches the map */
    sonde__buf key;
    sonde_attributes_error *error;
} import;

static sonde_status refuse_syntax(const import *from)
{
    return sonde__attributes_complain(from->error, SONDE_EBADDATA, "not valid JSON at byte %zu: %s",
                                      from->reader.pos + 1,
                                      from->reader.error ? from->reader.error : "no value");
}

static sonde_status out_of_memory(const import *from)
{
    return sonde__attributes_complain(from->error, SONDE_ENOMEM, "out of memory");
}

static sonde_status take_last_updated(import *from, sonde__json_token token)
{
    const sonde__json_reader *reader = &from->reader;
    bool none =
        token == SONDE__JSON_NULL || (token == SONDE__JSON_STRING && reader->slice_len == 0);
    if (none)
        return SONDE_OK;
    if (token != SONDE__JSON_STRING ||
        sonde_datetime_parse(reader->slice, reader->slice_len, &from->staged->last_updated) !=
            SONDE_OK)
        return sonde__attributes_complain(from->error, SONDE_EBADDATA,
                                          "last_updated is not a date and time");
    return SONDE_OK;
}

static sonde_status take_overflow(import *from, sonde__json_token token)
{
    if (token != SONDE__JSON_NUMBER ||
        sonde__json_get_uint(&from->reader, &from->staged->overflow) != SONDE_OK)
        return sonde__attributes_complain(from->error, SONDE_EBADDATA,
                                          OVERFLOW_KEY " is not a count");
    return SONDE_OK;
}

/* The text of a value that is no number, from start to where the reader is. */
static sonde_status take_raw(import *from, sonde__cell *cell, size_t start)
{
    size_t len = from->reader.pos - start;
    if (len > RAW_BYTES_MAX)
        return sonde__attributes_complain(from->error, SONDE_ELIMIT,
                                          "a value has %zu bytes; at most %d are taken", len,
                                          (int)RAW_BYTES_MAX);
    cell->operation = SONDE__OP_RAW;
    cell->fresh = false;
    cell->value.raw = sonde__usage_keep(from->staged, from->reader.text + start, len);
    return cell->value.raw ? SONDE_OK : out_of_memory(from);
}

static sonde_status take_number(import *from, sonde__cell *cell)
{
    sonde__number number = {.is_real = false};
    if (sonde__json_get_int(&from->reader, &number.as.integer) != SONDE_OK) {
        number.is_real = true;
        if (sonde__json_get_double(&from->reader, &number.as.real) != SONDE_OK)
            return sonde__attributes_complain(from->error, SONDE_ELIMIT,
                                              "%.80s is too large for a number", cell->key);
    }
    sonde__cell_set(cell, number);
    return SONDE_OK;
}

static sonde_status take_metric(import *from)
{
    const char *key = from->key.data;
    size_t len = from->key.len;
    uint64_t hash = sonde__usage_hash(from->staged, key, len);
    if (len == 0 || len > SONDE_USAGE_NAME_BYTES)
        return sonde__attributes_complain(from->error, SONDE_ELIMIT,
                                          "the name of a metric has %zu bytes", len);
    if (sonde__usage_find(from->staged, key, len, hash))
        return sonde__attributes_complain(from->error, SONDE_EBADDATA, "%.*s is given twice",
                                          len < 100 ? (int)len : 100, key);
    sonde__cell *cell = sonde__usage_insert(from->staged, key, len, hash);
    if (!cell)
        return out_of_memory(from);
    size_t start = from->reader.pos;
    while (start < from->reader.len && strchr(" \t\r\n", from->reader.text[start]))
        start++;
    sonde__json_token token = sonde__json_next(&from->reader);
    if (token == SONDE__JSON_NUMBER)
        return take_number(from, cell);
    bool nested = token == SONDE__JSON_OBJECT_BEGIN || token == SONDE__JSON_ARRAY_BEGIN;
    if (token == SONDE__JSON_ERROR || (nested && !sonde__json_skip(&from->reader)))
        return refuse_syntax(from);
    return take_raw(from, cell, start);
}

static sonde_status take_entry(import *from)
{
    sonde__buf_clear(&from->key);
    if (!sonde__buf_reserve(&from->key, from->reader.slice_len + 1))
        return out_of_memory(from);
    from->key.len = sonde__json_unescape(&from->reader, from->key.data);
    if (sonde__json_equals(&from->reader, LAST_UPDATED_KEY))
        return take_last_updated(from, sonde__json_next(&from->reader));
    if (sonde__json_equals(&from->reader, OVERFLOW_KEY))
        return take_overflow(from, sonde__json_next(&from->reader));
    return take_metric(from);
}

static sonde_status take_document(import *from)
{
    sonde__json_token token = sonde__json_next(&from->reader);
    if (token == SONDE__JSON_ERROR)
        return refuse_syntax(from);
    if (token != SONDE__JSON_OBJECT_BEGIN)
        return sonde__attributes_complain(from->error, SONDE_EBADDATA,
                                          "not one JSON object of metrics");
    while ((token = sonde__json_next(&from->reader)) == SONDE__JSON_KEY) {
        sonde_status status = take_entry(from);
        if (status != SONDE_OK)
            return status;
    }
    if (token != SONDE__JSON_OBJECT_END || sonde__json_next(&from->reader) != SONDE__JSON_END)
        return refuse_syntax(from);
    return SONDE_OK;
}

static bool same_value(const sonde__cell *a, const sonde__cell *b)
{
    bool a_raw = a->operation == SONDE__OP_RAW;
    bool b_raw = b->operation == SONDE__OP_RAW;
    if (a_raw || b_raw)
        return a_raw && b_raw && strcmp(a->value.raw, b->value.raw) == 0;
    return a->is_real == b->is_real && a->value.integer == b->value.integer;
}

/* Marks the staged metrics that the map has, and counts. */
static void compare(const sonde_usage *usage, sonde_usage *staged, unsigned flags,
                    sonde_usage_import *did)
{
    *did = (sonde_usage_import){0};
    for (size_t i = 0; i < staged->count; i++) {
        sonde__cell *cell = sonde__usage_cell(staged, i);
        const sonde__cell *old = sonde__usage_find(
            usage, cell->key, cell->key_len, sonde__usage_hash(usage, cell->key, cell->key_len));
        cell->mark = old != NULL;
        did->added += !old;
        did->same += old && same_value(old, cell);
        did->changed += old && !same_value(old, cell);
    }
    if (flags & SONDE_IMPORT_REPLACE)
        did->removed = usage->count - did->same - did->changed;
}

/* Gives the map what is staged, and takes what it had, for the caller to free. */
static void swap(sonde_usage *usage, sonde_usage *staged)
{
    sonde_usage old = *usage;
    *usage = *staged;
    *staged = old;
    pthread_mutex_t *lock = usage->lock;
    usage->lock = staged->lock;
    staged->lock = lock;
    usage->limit = old.limit;
    usage->parent = old.parent;
    usage->records = old.records;
    usage->beyond_parent = usage->count;
}

/* Inserts what the map does not have and copies texts: all that can fail. */
static sonde_status make_place(sonde_usage *usage, sonde_usage *staged)
{
    sonde__usage_mark mark = sonde__usage_mark_now(usage);
    for (size_t i = 0; i < staged->count; i++) {
        sonde__cell *cell = sonde__usage_cell(staged, i);
        uint64_t hash = sonde__usage_hash(usage, cell->key, cell->key_len);
        bool good = cell->mark || sonde__usage_insert(usage, cell->key, cell->key_len, hash);
        if (good && cell->operation == SONDE__OP_RAW) {
            cell->value.raw = sonde__usage_keep(usage, cell->value.raw, strlen(cell->value.raw));
            good = cell->value.raw != NULL;
        }
        if (!good) {
            sonde__usage_undo(usage, mark);
            return SONDE_ENOMEM;
        }
        usage->beyond_parent += !cell->mark;
    }
    return SONDE_OK;
}

static void take_over(sonde_usage *usage, const sonde_usage *staged)
{
    for (size_t i = 0; i < staged->count; i++) {
        const sonde__cell *cell = sonde__usage_cell(staged, i);
        sonde__cell *to = sonde__usage_find(usage, cell->key, cell->key_len,
                                            sonde__usage_hash(usage, cell->key, cell->key_len));
        to->value = cell->value;
        to->is_real = cell->is_real;
        to->operation = cell->operation;
        to->fresh = false;
    }
    if (staged->last_updated.year != 0)
        usage->last_updated = staged->last_updated;
    if (staged->overflow > 0)
        usage->overflow = staged->overflow;
}

/* The caller holds the lock of usage. */
static sonde_status bring_in(sonde_usage *usage, sonde_usage *staged, unsigned flags,
                             sonde_usage_import *did, sonde_attributes_error *error)
{
    bool replace = (flags & SONDE_IMPORT_REPLACE) != 0;
    sonde_usage_import counts;
    compare(usage, staged, flags, &counts);
    if ((replace ? staged->count : usage->count + counts.added) > usage->limit)
        return sonde__attributes_complain(
            error, SONDE_ELIMIT, "more than the %zu metrics that are allowed", usage->limit);
    if (!(flags & SONDE_IMPORT_DRY_RUN)) {
        if (replace) {
            swap(usage, staged);
        } else {
            if (make_place(usage, staged) != SONDE_OK)
                return sonde__attributes_complain(error, SONDE_ENOMEM, "out of memory");
            take_over(usage, staged);
        }
        sonde__usage_renew(usage);
    }
    if (did)
        *did = counts;
    return SONDE_OK;
}

sonde_status sonde_usage_import_json(sonde_usage *usage, const char *json, size_t len,
                                     unsigned flags, sonde_usage_import *did,
                                     sonde_attributes_error *error)
{
import from = {.error = error };
    sonde_status status = sonde_usage_create(SONDE__USAGE_CELLS_HARD_MAX, &from.staged);
    if (status != SONDE_OK)
        return sonde__attributes_complain(error, status, "out of memory");
    sonde__buf_init(&from.key, len + 1);
    sonde__json_reader_init(&from.reader, json, len);
    status = take_document(&from);
    if (status == SONDE_OK) {
        sonde__usage_lock(usage);
        status = bring_in(usage, from.staged, flags, did, error);
        sonde__usage_unlock(usage);
    }
    sonde__buf_free(&from.key);
    sonde_usage_destroy(from.staged);
    return status;
}
