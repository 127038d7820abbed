/* SPDX-License-Identifier: Apache-2.0 */
/* version, time, window, cost, level; then pieces: a tag (2 bytes) and what belongs to it. A field:
   one byte, 0 and a varint, 1 and a double, or the status that says why there is none. A table (bit
   15 of its tag): the length of what follows (4 bytes), status, columns, rows: name, then per
   column as a field. GPUs are such a table with rows of their own (gpu_codec.c). Tag 0 ends it;
   tags below 16 are ours. */
#include "capture/telemetry_codec.h"

#include "capture/gpu_codec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 1,
    FIRST_TAG = 16,
    FIELD_ROOM = 2 + SONDE__VALUE_ROOM,
    TEXT_MAX = 1024,
    IS_DOUBLE = 1,
    TABLE = 0x8000
};
enum { TAG_END = 0, TAG_THREAD = 1, TAG_PEAK_RSS = 2, TAG_EXECUTABLE = 3, TAG_CMD_LINE = 4 };

uint16_t sonde__telemetry_tag(const char *path)
{
    uint32_t hash = 2166136261u;
    for (; *path; path++)
        hash = (hash ^ (uint8_t)*path) * 16777619u;
    hash = (hash ^ hash >> 15) & 0x7fff;
    return (uint16_t)(hash < FIRST_TAG ? hash + FIRST_TAG : hash);
}

/* Tags of all fields, computed once; the same value from whichever thread. */
static uint16_t field_tag(unsigned field)
{
    static _Atomic uint16_t tags[SONDE_FIELD_COUNT];
    uint16_t tag = tags[field];
    if (tag == 0)
        tags[field] = tag = sonde__telemetry_tag(sonde_field_describe((sonde_field)field)->path);
    return tag;
}

static uint8_t *put_tag(uint8_t *out, uint16_t tag)
{
    memcpy(out, &tag, sizeof tag);
    return out + sizeof tag;
}

uint8_t *sonde__value_put(uint8_t *out, bool is_double, int8_t status, sonde__value value)
{
    *out++ = (uint8_t)(status == SONDE_OK && is_double ? IS_DOUBLE : status);
    if (status != SONDE_OK)
        return out;
    if (!is_double)
        return sonde__varint_put(out, value.u);
    memcpy(out, &value.d, sizeof value.d);
    return out + sizeof value.d;
}

static const uint8_t types[SONDE_FIELD_COUNT] = {
#define TYPE(name, section, object, key, type, ...) SONDE_FIELD_TYPE_##type,
    SONDE_FIELD_MAP(TYPE)
#undef TYPE
};

static bool is_double(unsigned field)
{
    return types[field] == SONDE_FIELD_TYPE_DOUBLE;
}

static bool is_number(unsigned field)
{
    return is_double(field) || types[field] == SONDE_FIELD_TYPE_UINT;
}

/* How many fields from first on were not asked for, eight at a time: of a light reading most. */
static unsigned count_off(const sonde_telemetry *t, unsigned first)
{
    int8_t off[8];
    unsigned at = first;
    memset(off, SONDE_EOFF, sizeof off);
    while (at + sizeof off <= SONDE_FIELD_COUNT && memcmp(t->status + at, off, sizeof off) == 0)
        at += (unsigned)sizeof off;
    return at - first;
}

static uint8_t *put_fields(uint8_t *out, const sonde_telemetry *t)
{
    for (unsigned i = count_off(t, 0); i < SONDE_FIELD_COUNT; i++) {
        int8_t status = t->status[i];
        if (status == SONDE_EOFF)
            i += count_off(t, i + 1);
        else if (status != SONDE_OK || is_number(i))
            out = sonde__value_put(put_tag(out, field_tag(i)), is_double(i), status, t->value[i]);
    }
    return out;
}

static uint8_t *put_text(uint8_t *out, uint16_t tag, const char *text, size_t len)
{
    len = len < TEXT_MAX ? len : TEXT_MAX;
    out = sonde__varint_put(put_tag(out, tag), len);
    memcpy(out, text, len);
    return out + len;
}

static uint8_t *put_texts(uint8_t *out, const sonde_telemetry *t)
{
    if (t->status[SONDE_FIELD_PROCESS_EXECUTABLE] == SONDE_OK && t->executable)
        out = put_text(out, TAG_EXECUTABLE, t->executable, strlen(t->executable));
    if (t->status[SONDE_FIELD_PROCESS_CMD_LINE] == SONDE_OK && t->cmd_line) {
        size_t len = 0;
        for (size_t i = 0; i < t->cmd_line_count; i++)
            len += strlen(t->cmd_line + len) + 1;
        out = put_text(out, TAG_CMD_LINE, t->cmd_line, len);
    }
    return out;
}

static uint8_t *put_thread(uint8_t *out, const sonde__thread_usage *thread)
{
    if (!thread->known)
        return out;
    out = put_tag(out, TAG_THREAD);
    memcpy(out, &thread->user_s, 8);
    memcpy(out + 8, &thread->system_s, 8);
    out = sonde__varint_put(out + 16, thread->minor_faults);
    out = sonde__varint_put(out, thread->major_faults);
    out = sonde__varint_put(out, thread->voluntary_switches);
    return sonde__varint_put(out, thread->involuntary_switches);
}

static void close_piece(uint8_t *length_at, const uint8_t *out)
{
    uint32_t length = (uint32_t)(out - length_at) - (uint32_t)sizeof(uint32_t);
    memcpy(length_at, &length, sizeof length);
}

static uint16_t gpu_tag(void)
{
    return (uint16_t)(TABLE | sonde__telemetry_tag("gpu"));
}

static uint8_t *put_gpus(uint8_t *out, const uint8_t *end, const sonde_telemetry *t, uint64_t *cut)
{
    if (t->gpu_status == SONDE_EOFF || end - out < 64)
        return out;
    uint8_t *length_at = put_tag(out, gpu_tag());
    out = sonde__gpus_encode(length_at + sizeof(uint32_t), end, t, cut);
    close_piece(length_at, out);
    return out;
}

/* One table; rows from the first on that fit before end. */
static uint8_t *put_table(uint8_t *out, const uint8_t *end, const sonde_telemetry *t,
                          unsigned table, uint64_t *cut)
{
    const sonde_table_info *info = sonde_table_describe((sonde_table)table);
    const sonde__rows *rows = &t->table[table];
    unsigned columns = (unsigned)info->last - (unsigned)info->first + 1;
    if (rows->status == SONDE_EOFF || end - out < 64)
        return out;
    uint8_t *length_at = put_tag(out, (uint16_t)(TABLE | sonde__telemetry_tag(info->key)));
    length_at[4] = (uint8_t)rows->status;
    out = sonde__varint_put(length_at + 5, columns);
    for (size_t i = 0; rows->status == SONDE_OK && i < rows->count; i++) {
        const sonde__row *row = &rows->row[i];
        size_t len = strlen(row->name);
        if ((size_t)(end - out) < len + 8 + (size_t)columns * FIELD_ROOM) {
            *cut += rows->count - i;
            break;
        }
        out = sonde__varint_put(out, len);
        memcpy(out, row->name, len);
        out += len;
        for (unsigned column = 0; column < columns; column++)
            out = sonde__value_put(out, is_double((unsigned)info->first + column),
                                   row->status[column], row->value[column]);
    }
    close_piece(length_at, out);
    return out;
}

size_t sonde__telemetry_encode(const sonde_telemetry *t, uint8_t *out, size_t cap, uint64_t *cut)
{
    _Static_assert(SONDE_FIELD_COUNT * FIELD_ROOM + 2 * TEXT_MAX + 256 < SONDE__TELEMETRY_BYTES_MIN,
                   "fields fit");
    const uint8_t *end = out + cap - 8;
    uint8_t *at = out;
    *at++ = VERSION;
    at = sonde__varint_put(at, t->time_ns);
    at = sonde__varint_put(at, t->window_ns);
    at = sonde__varint_put(at, t->cost_ns);
    *at++ = (uint8_t)t->level;
    if (t->peak_rss_bytes)
        at = sonde__varint_put(put_tag(at, TAG_PEAK_RSS), t->peak_rss_bytes);
    at = put_thread(put_fields(at, t), &t->thread);
    at = put_gpus(put_texts(at, t), end, t, cut);
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++)
        at = put_table(at, end, t, i, cut);
    at = put_tag(at, TAG_END);
    return (size_t)(at - out);
}

/* --- and back --- */

sonde_status sonde__value_status(uint8_t byte)
{
    return (sonde_status)(byte < 128 ? byte : byte - 256);
}

int8_t sonde__value_get(sonde__bytes *in, bool as_double, sonde__value *value)
{
    uint8_t status = sonde__bytes_byte(in);
    if (!in->good)
        return (int8_t)SONDE_EBADDATA;
    sonde__value given = {0};
    if (status == IS_DOUBLE)
        given.d = sonde__bytes_double(in);
    else if (status == SONDE_OK)
        given.u = sonde__bytes_varint(in);
    else
        return (int8_t)sonde__value_status(status);
    if (as_double != (status == IS_DOUBLE))
        return (int8_t)SONDE_EBADDATA; /* the field has another type now */
    *value = given;
    return (int8_t)SONDE_OK;
}

static void get_thread(sonde__bytes *in, sonde__thread_usage *thread)
{
    thread->user_s = sonde__bytes_double(in);
    thread->system_s = sonde__bytes_double(in);
    thread->minor_faults = sonde__bytes_varint(in);
    thread->major_faults = sonde__bytes_varint(in);
    thread->voluntary_switches = sonde__bytes_varint(in);
    thread->involuntary_switches = sonde__bytes_varint(in);
    thread->known = in->good;
}

/* Text with its length; cut off texts are ended by the NUL that follows in no case: it is copied.
 */
static char *get_text(sonde__bytes *in, size_t *len)
{
    *len = (size_t)sonde__bytes_varint(in);
    const uint8_t *bytes = *len <= TEXT_MAX ? sonde__bytes_take(in, *len) : NULL;
    char *text = bytes ? malloc(*len + 2) : NULL;
    if (!text) {
        in->good = false;
        return NULL;
    }
    memcpy(text, bytes, *len);
    text[*len] = text[*len + 1] = '\0';
    return text;
}

static void get_cmd_line(sonde__bytes *in, sonde_telemetry *out)
{
    size_t len;
    out->cmd_line = get_text(in, &len);
    for (size_t at = 0; out->cmd_line && at < len; at += strlen(out->cmd_line + at) + 1)
        out->cmd_line_count++;
    if (out->cmd_line)
        out->status[SONDE_FIELD_PROCESS_CMD_LINE] = SONDE_OK;
}

static void get_executable(sonde__bytes *in, sonde_telemetry *out)
{
    size_t len;
    out->executable = get_text(in, &len);
    if (out->executable)
        out->status[SONDE_FIELD_PROCESS_EXECUTABLE] = SONDE_OK;
}

static void get_table(sonde__bytes *in, sonde_telemetry *out, unsigned table)
{
    const sonde_table_info *info = sonde_table_describe((sonde_table)table);
    sonde__rows *rows = &out->table[table];
    unsigned columns = (unsigned)info->last - (unsigned)info->first + 1;
    uint8_t status = sonde__bytes_byte(in);
    if (!in->good || sonde__bytes_varint(in) != columns)
        return; /* of another version: passed over */
    while (in->good && in->at < in->end) {
        size_t len;
        sonde__row *row = sonde__rows_add(rows, NULL);
        if (!row)
            return;
        row->name = get_text(in, &len);
        if (!row->name) {
            rows->count--;
            return;
        }
        for (unsigned column = 0; column < columns; column++)
            row->status[column] = sonde__value_get(in, is_double((unsigned)info->first + column),
                                                   &row->value[column]);
    }
    rows->status = sonde__value_status(status);
}

static void get_field(sonde__bytes *in, sonde_telemetry *out, uint16_t tag)
{
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++)
        if (field_tag(i) == tag) {
            out->status[i] = sonde__value_get(in, is_double(i), &out->value[i]);
            return;
        }
    sonde__value unknown;
    (void)sonde__value_get(in, false, &unknown);
}

/* A table, or one that is not known: its length tells where it ends. */
static void get_table_piece(sonde__bytes *in, sonde_telemetry *out, uint16_t tag)
{
    uint32_t length = 0;
    const uint8_t *bytes = sonde__bytes_take(in, sizeof length);
    if (bytes)
        memcpy(&length, bytes, sizeof length);
    const uint8_t *inside = sonde__bytes_take(in, length);
    if (!inside)
        return;
    if (tag == gpu_tag()) {
        sonde__bytes gpus = {inside, inside + length, true};
        sonde__gpus_decode(&gpus, out);
        return;
    }
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++) {
        sonde__bytes table = {inside, inside + length, true};
        if ((TABLE | sonde__telemetry_tag(sonde_table_describe((sonde_table)i)->key)) == tag)
            get_table(&table, out, i);
    }
}

static void get_piece(sonde__bytes *in, sonde_telemetry *out, uint16_t tag)
{
    if (tag == TAG_THREAD)
        get_thread(in, &out->thread);
    else if (tag == TAG_PEAK_RSS)
        out->peak_rss_bytes = sonde__bytes_varint(in);
    else if (tag == TAG_EXECUTABLE && !out->executable)
        get_executable(in, out);
    else if (tag == TAG_CMD_LINE && !out->cmd_line)
        get_cmd_line(in, out);
    else if (tag < FIRST_TAG)
        in->good = false;
    else if (tag & TABLE)
        get_table_piece(in, out, tag);
    else
        get_field(in, out, tag);
}

sonde_status sonde__telemetry_decode(const uint8_t *bytes, size_t len, sonde_telemetry *out)
{
    sonde__telemetry_free(out);
    sonde__bytes in = {bytes, bytes + len, len > 0 && bytes[0] == VERSION};
    sonde__bytes_take(&in, 1);
    out->time_ns = sonde__bytes_varint(&in);
    out->window_ns = sonde__bytes_varint(&in);
    out->cost_ns = sonde__bytes_varint(&in);
    const uint8_t *level = sonde__bytes_take(&in, 1);
    if (!level || *level >= SONDE_LEVEL_COUNT)
        return SONDE_EBADDATA;
    out->level = (sonde_level)*level;
    memset(out->status, SONDE_EOFF, sizeof out->status);
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++)
        out->table[i].status = SONDE_EOFF;
    out->gpu_status = SONDE_EOFF;
    for (uint16_t tag = 1; in.good && tag != TAG_END;) {
        const uint8_t *at = sonde__bytes_take(&in, sizeof tag);
        if (!at)
            break;
        memcpy(&tag, at, sizeof tag);
        if (tag != TAG_END)
            get_piece(&in, out, tag);
    }
    return in.good ? SONDE_OK : SONDE_EBADDATA;
}

/* Texts are constant for everybody but their owner. */
static void free_text(const char *text)
{
    void *owned;
    memcpy(&owned, &text, sizeof owned);
    free(owned);
}

void sonde__telemetry_free(sonde_telemetry *t)
{
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++) {
        for (size_t row = 0; row < t->table[i].count; row++)
            free_text(t->table[i].row[row].name);
        free(t->table[i].row);
    }
    sonde__gpus_free(t);
    free_text(t->executable);
    free_text(t->cmd_line);
    *t = (sonde_telemetry){0};
}
