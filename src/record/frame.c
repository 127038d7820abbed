/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of frames. Records come from a ring, which may be a dead process's: nothing in them is
   believed before it is checked. Times are turned from ticks into nanoseconds here. */
#include "record/frame.h"

#include "base/varint.h"
#include "base/word.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* An attribute grows in the journal by its key and length at most; a record of 32 KiB with
       8-byte attributes has 4096 of them. */
    RECORD_ROOM = 3 * SONDE__RECORD_BYTES_MAX,
    STRINGS_LIMIT = SONDE__NAMES_BYTES + SONDE__NAMES_MAX * 2 + (64 << 10),
    HAS_ATTRS = 0x10,
    RUN_ATTR_ROOM = 64, /* lengths and keys of an attribute, and the count of those left out */
};

sonde_status sonde__frame_writer_init(sonde__frame_writer *writer)
{
    *writer = (sonde__frame_writer){0};
    sonde__buf_init(&writer->strings, STRINGS_LIMIT);
    writer->records = malloc(SONDE__FRAME_RECORDS_BYTES + RECORD_ROOM);
    writer->local = calloc(SONDE__NAMES_MAX + 1, sizeof *writer->local);
    if (!writer->records || !writer->local) {
        sonde__frame_writer_free(writer);
        return SONDE_ENOMEM;
    }
    return SONDE_OK;
}

void sonde__frame_writer_free(sonde__frame_writer *writer)
{
    sonde__buf_free(&writer->strings);
    free(writer->records);
    free(writer->local);
    writer->records = NULL;
    writer->local = NULL;
}

void sonde__frame_begin(sonde__frame_writer *writer, uint64_t session, uint64_t run, uint16_t lane,
                        uint64_t first_seq, int64_t wall_offset_ns)
{
    sonde__buf_clear(&writer->strings);
    writer->records_len = 0;
    writer->string_count = 0;
    writer->stamp++;
    writer->prev_number = 0;
    writer->prev_end = 0;
    writer->header = sonde__frame_header_new(SONDE__FRAME_RECORDS, lane, session, run);
    writer->header.first_seq = first_seq;
    writer->header.wall_offset_ns = wall_offset_ns;
    writer->header.min_mono_ns = UINT64_MAX;
}

const char *sonde__names_view_get(const sonde__names_view *names, uint32_t id, size_t *len)
{
    if (id == 0 || id > names->count)
        return NULL;
    uint32_t offset;
    memcpy(&offset, names->area + (size_t)(id - 1) * sizeof offset, sizeof offset);
    const uint8_t *texts = names->area + (size_t)names->max * sizeof offset;
    uint16_t text_len;
    if (offset > names->bytes || names->bytes - offset < sizeof text_len)
        return NULL;
    memcpy(&text_len, texts + offset, sizeof text_len);
    if (names->bytes - offset - sizeof text_len < text_len)
        return NULL;
    *len = text_len;
    return (const char *)texts + offset + sizeof text_len;
}

static uint32_t add_string(sonde__frame_writer *writer, const char *text, size_t len)
{
    uint8_t prefix[SONDE__VARINT_MAX];
    size_t prefix_len = (size_t)(sonde__varint_put(prefix, len) - prefix);
    sonde__buf_append(&writer->strings, prefix, prefix_len);
    sonde__buf_append(&writer->strings, text, len);
    return ++writer->string_count;
}

/* The number of a name in this frame, from 1; 0: no such name. */
static uint32_t local_name(sonde__frame_writer *writer, const sonde__names_view *names, uint32_t id)
{
    if (id == 0 || id > SONDE__NAMES_MAX)
        return 0;
    if (writer->local[id].stamp == writer->stamp)
        return writer->local[id].local;
    size_t len = 0;
    const char *text = sonde__names_view_get(names, id, &len);
    uint32_t local = text ? add_string(writer, text, len) : 0;
    writer->local[id].stamp = writer->stamp;
    writer->local[id].local = local;
    return local;
}

static uint8_t *put_bytes(uint8_t *out, const void *data, size_t len)
{
    out = sonde__varint_put(out, len);
    if (len > 0) /* an empty value may have no memory behind it */
        memcpy(out, data, len);
    return out + len;
}

static uint8_t *put_fixed64(uint8_t *out, uint64_t value)
{
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

/* The value of one attribute; NULL when len is not right for its type. */
static uint8_t *put_value(sonde__frame_writer *writer, const sonde__names_view *names,
                          const sonde__rate *rate, uint8_t *out, const sonde__ring_attr *attr,
                          const uint8_t *value)
{
    unsigned type = attr->type & SONDE__TYPE_MASK;
    if (type <= SONDE_ATTR_BOOL || type == SONDE__TYPE_TICKS) {
        if (attr->len != 8)
            return NULL;
        uint64_t word = sonde__word_at(value);
        switch (type) {
        case SONDE_ATTR_INT:
            return sonde__varint_put(out, sonde__zigzag((int64_t)word));
        case SONDE_ATTR_DOUBLE:
            return put_fixed64(out, word);
        case SONDE__TYPE_TICKS:
            return sonde__varint_put(out, sonde__rate_mono_ns(rate, word));
        default:
            return sonde__varint_put(out, word);
        }
    }
    if (type == SONDE__TYPE_EVENT) {
        if (attr->len < 16)
            return NULL;
        uint32_t name;
        memcpy(&name, value + 8, sizeof name);
        out = sonde__varint_put(out, sonde__rate_mono_ns(rate, sonde__word_at(value)));
        out = sonde__varint_put(out, local_name(writer, names, name));
        return put_bytes(out, value + 16, attr->len - 16u);
    }
    if (attr->type & SONDE__TYPE_CUT) {
        if (attr->len < 8)
            return NULL;
        out = sonde__varint_put(out, sonde__word_at(value));
        return put_bytes(out, value + 8, attr->len - 8u);
    }
    return put_bytes(out, value, attr->len);
}

/* All attributes of a record. NULL: damaged. */
static uint8_t *put_attrs(sonde__frame_writer *writer, const sonde__names_view *names,
                          const sonde__rate *rate, uint8_t *out, const uint8_t *attrs,
                          uint32_t attr_bytes)
{
    uint32_t at = 0;
    while (at < attr_bytes) {
        sonde__ring_attr attr;
        if (attr_bytes - at < sizeof attr)
            return NULL;
        memcpy(&attr, attrs + at, sizeof attr);
        at += (uint32_t)sizeof attr;
        uint32_t padded = (attr.len + 7u) & ~7u;
        unsigned type = attr.type & SONDE__TYPE_MASK;
        if (attr_bytes - at < padded || attr.group > SONDE__GROUP_SYSTEM || type < 1 || type > 15)
            return NULL;
        *out++ = (uint8_t)(attr.type | attr.group << 4);
        out = sonde__varint_put(out, attr.group == SONDE__GROUP_SYSTEM
                                         ? attr.key
                                         : local_name(writer, names, attr.key));
        out = put_value(writer, names, rate, out, &attr, attrs + at);
        if (!out)
            return NULL;
        at += padded;
    }
    return out;
}

static void note_time(sonde__frame_writer *writer, uint64_t start, uint64_t end)
{
    if (start < writer->header.min_mono_ns)
        writer->header.min_mono_ns = start;
    if (end > writer->header.max_mono_ns)
        writer->header.max_mono_ns = end;
}

bool sonde__frame_add(sonde__frame_writer *writer, const sonde__names_view *names,
                      const sonde__rate *rate, const sonde__ring_record *record,
                      const uint8_t *attrs)
{
    uint8_t *out = writer->records + writer->records_len;
    uint64_t start = record->start;
    uint64_t end = record->end;
    if (record->flags & SONDE__GIVEN_TIMES) {
        start -= (uint64_t)writer->header.wall_offset_ns;
        end -= (uint64_t)writer->header.wall_offset_ns;
    } else {
        start = sonde__rate_mono_ns(rate, start);
        end = record->kind == SONDE__KIND_TASK ? sonde__rate_mono_ns(rate, end) : start;
    }
    if ((int64_t)(end - start) < 0)
        end = start; /* the clock went back (a suspend): no duration rather than a huge one */
    *out++ = (uint8_t)(record->kind | (record->attr_bytes ? HAS_ATTRS : 0));
    *out++ = record->flags;
    out = sonde__varint_put(out, local_name(writer, names, record->name));
    out =
        sonde__varint_put(out, sonde__zigzag((int64_t)(record->number - writer->prev_number - 1)));
    unsigned parent = record->flags & SONDE__PARENT_MASK;
    if (parent == SONDE__PARENT_LANE)
        out = sonde__varint_put(out, sonde__zigzag((int64_t)(record->number - record->parent)));
    else if (parent == SONDE__PARENT_SPAN)
        out = put_fixed64(out, record->parent);
    out = sonde__varint_put(out, sonde__zigzag((int64_t)(end - writer->prev_end)));
    out = sonde__varint_put(out, end - start);
    if (record->attr_bytes) {
        uint8_t *length_at = out;
        out = put_attrs(writer, names, rate, out + 4, attrs, record->attr_bytes);
        if (!out)
            return false;
        uint32_t length = (uint32_t)(out - length_at - 4);
        memcpy(length_at, &length, sizeof length);
    }
    writer->records_len = (size_t)(out - writer->records);
    if (record->number)
        writer->prev_number = record->number;
    writer->prev_end = end;
    writer->header.records++;
    note_time(writer, start, end);
    return true;
}

void sonde__frame_add_loss(sonde__frame_writer *writer, uint64_t count, uint64_t reasons)
{
    uint8_t *out = writer->records + writer->records_len;
    *out++ = SONDE__KIND_LOSS;
    *out++ = 0;
    out = sonde__varint_put(out, count);
    out = sonde__varint_put(out, reasons);
    writer->records_len = (size_t)(out - writer->records);
    writer->header.records++;
}

void sonde__frame_run_begin(sonde__frame_writer *writer, sonde__kind kind)
{
    uint8_t *out = writer->records + writer->records_len;
    *out++ = (uint8_t)((unsigned)kind | HAS_ATTRS);
    *out++ = 0;
    out += 4; /* the length of the attributes, by run_end */
    writer->records_len = (size_t)(out - writer->records);
    writer->header.records++;
}

static uint8_t *run_key(uint8_t *out, unsigned type, unsigned group, uint64_t key)
{
    *out++ = (uint8_t)(type | group << 4);
    return sonde__varint_put(out, key);
}

/* A whole RUN record fits into the room of one record; more is left out. */
static bool run_has_room(const sonde__frame_writer *writer, size_t len)
{
    return len < SONDE__RECORD_BYTES_MAX &&
           writer->records_len + len + 64 < SONDE__FRAME_RECORDS_BYTES;
}

void sonde__frame_run_bytes(sonde__frame_writer *writer, unsigned key, const void *data, size_t len)
{
    if (!run_has_room(writer, len))
        return;
    uint8_t *out = writer->records + writer->records_len;
    out = run_key(out, SONDE_ATTR_BYTES, SONDE__GROUP_SYSTEM, key);
    out = put_bytes(out, data, len);
    writer->records_len = (size_t)(out - writer->records);
}

void sonde__frame_run_text(sonde__frame_writer *writer, unsigned key, const char *text)
{
    if (text)
        sonde__frame_run_bytes(writer, key, text, strlen(text));
}

void sonde__frame_run_uint(sonde__frame_writer *writer, unsigned key, uint64_t value)
{
    if (!run_has_room(writer, 0))
        return;
    uint8_t *out = writer->records + writer->records_len;
    out = run_key(out, SONDE_ATTR_UINT, SONDE__GROUP_SYSTEM, key);
    out = sonde__varint_put(out, value);
    writer->records_len = (size_t)(out - writer->records);
}

/* False: it is not valid, or there is no room for it. */
static bool run_attr(sonde__frame_writer *writer, const sonde_attr *attr, size_t bytes_max)
{
    size_t key_len = attr->key_len ? attr->key_len : strlen(attr->key);
    size_t value_len = attr->type >= SONDE_ATTR_STRING ? attr->value.s.len : 8;
    size_t so_far = sizeof writer->header + writer->strings.len + writer->records_len;
    if (attr->type < SONDE_ATTR_INT || attr->type > SONDE_ATTR_JSON ||
        attr->group >= SONDE_GROUP_COUNT || key_len > SONDE__NAME_LEN_MAX ||
        !run_has_room(writer, value_len) || value_len > bytes_max ||
        so_far + key_len + value_len + RUN_ATTR_ROOM > bytes_max)
        return false;
    uint8_t *out = writer->records + writer->records_len;
    out = run_key(out, attr->type, attr->group, add_string(writer, attr->key, key_len));
    uint64_t word = 0;
    switch (attr->type) {
    case SONDE_ATTR_INT:
        out = sonde__varint_put(out, sonde__zigzag(attr->value.i));
        break;
    case SONDE_ATTR_UINT:
        out = sonde__varint_put(out, attr->value.u);
        break;
    case SONDE_ATTR_DOUBLE:
        memcpy(&word, &attr->value.d, sizeof word);
        out = put_fixed64(out, word);
        break;
    case SONDE_ATTR_BOOL:
        out = sonde__varint_put(out, attr->value.b != 0);
        break;
    default:
        out = put_bytes(out, attr->value.s.data, attr->value.s.len);
        break;
    }
    writer->records_len = (size_t)(out - writer->records);
    return true;
}

void sonde__frame_run_attrs(sonde__frame_writer *writer, const sonde_attr *attrs, size_t count,
                            size_t bytes_max)
{
    uint64_t left_out = 0;
    for (size_t i = 0; i < count; i++)
        left_out += !run_attr(writer, &attrs[i], bytes_max);
    if (left_out > 0)
        sonde__frame_run_uint(writer, SONDE__RUN_ATTRS_LEFT_OUT, left_out);
}

void sonde__frame_run_end(sonde__frame_writer *writer)
{
    /* the RUN record is the only one of its frame */
    uint32_t length = (uint32_t)(writer->records_len - 6);
    memcpy(writer->records + 2, &length, sizeof length);
}

bool sonde__frame_finish(sonde__frame_writer *writer, struct iovec body[2])
{
    sonde__frame_header *header = &writer->header;
    if (writer->strings.status != SONDE_OK)
        return false;
    if (header->min_mono_ns == UINT64_MAX)
        header->min_mono_ns = header->max_mono_ns = 0;
    header->string_bytes = (uint32_t)writer->strings.len;
    body[0] = (struct iovec){writer->strings.data, writer->strings.len};
    body[1] = (struct iovec){writer->records, writer->records_len};
    return true;
}
