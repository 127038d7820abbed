/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes/usage_frame.h"

#include "attributes/usage_apply.h"
#include "base/byte_reader.h"
#include "base/crc32c.h"

#include <string.h>

enum { REAL = 0x10, CRC_FROM = offsetof(sonde__usage_header, crc) + sizeof(uint32_t) };

static void put_varint(sonde__buf *out, uint64_t value)
{
    uint8_t bytes[SONDE__VARINT_MAX];
    sonde__buf_append(out, bytes, (size_t)(sonde__varint_put(bytes, value) - bytes));
}

static void put_text(sonde__buf *out, const char *text, size_t len)
{
    put_varint(out, len);
    sonde__buf_append(out, text, len);
}

static void put_cell(sonde__buf *out, const sonde__cell *cell)
{
    bool raw = cell->operation == SONDE__OP_RAW;
    put_text(out, cell->key, cell->key_len);
    sonde__buf_char(out, (char)(cell->operation | (!raw && cell->is_real ? REAL : 0)));
    if (raw)
        put_text(out, cell->value.raw, strlen(cell->value.raw));
    else if (cell->is_real)
        sonde__buf_append(out, &cell->value.real, sizeof cell->value.real);
    else
        put_varint(out, sonde__zigzag(cell->value.integer));
}

static void put_session(sonde__buf *out, uint64_t session)
{
    put_text(out, (const char *)&session, sizeof session);
    sonde__buf_char(out, (char)SONDE__OP_SESSION);
}

/* Completes the header of the frame that begins at start. */
static void close_frame(sonde__buf *out, size_t start, sonde__usage_header header)
{
    if (out->status != SONDE_OK)
        return;
    uint8_t *data = (uint8_t *)out->data + start;
    header.length = (uint32_t)(out->len - start);
    memcpy(data, &header, sizeof header);
    header.crc = sonde__crc32c(0, data + CRC_FROM, header.length - CRC_FROM);
    memcpy(data, &header, sizeof header);
}

sonde_status sonde__usage_encode(const sonde_usage *usage, int type, uint64_t writer,
                                 uint64_t sequence, sonde__buf *out)
{
    sonde__usage_header header = {.magic = SONDE__USAGE_MAGIC,
                                  .version = SONDE__USAGE_VERSION,
                                  .type = (uint8_t)type,
                                  .writer = writer,
                                  .sequence = sequence,
                                  .records = usage->records,
                                  .overflow = usage->overflow};
    uint8_t compat = usage->compat ? SONDE__USAGE_FLAG_COMPAT : 0;
    uint8_t first = SONDE__USAGE_FLAG_FIRST;
    char time[SONDE_DATETIME_BYTES];
    size_t time_len =
        usage->last_updated.year ? sonde_datetime_format(&usage->last_updated, time) : 0;
    size_t cell = 0;
    size_t session = 0;
    do {
        size_t start = out->len;
        sonde__buf_append(out, &header, sizeof header);
        put_text(out, time, time_len);
        while (session < usage->session_count && out->len - start < SONDE__USAGE_FRAME_FULL)
            put_session(out, usage->sessions[session++]);
        while (cell < usage->count && out->len - start < SONDE__USAGE_FRAME_FULL)
            put_cell(out, sonde__usage_cell(usage, cell++));
        bool done = cell == usage->count && session == usage->session_count;
        uint8_t last = done ? SONDE__USAGE_FLAG_LAST : 0;
        header.flags = (uint8_t)(first | last | compat);
        close_frame(out, start, header);
        first = 0;
        header.records = header.overflow = 0;
    } while ((cell < usage->count || session < usage->session_count) && out->status == SONDE_OK);
    return out->status;
}

bool sonde__usage_header_good(const sonde__usage_header *header)
{
    return header->magic == SONDE__USAGE_MAGIC && header->version == SONDE__USAGE_VERSION &&
           header->length >= sizeof *header && header->length <= SONDE__USAGE_FRAME_MAX &&
           (header->type == SONDE__USAGE_DELTAS || header->type == SONDE__USAGE_SNAPSHOT);
}

bool sonde__usage_frame_good(const uint8_t *data)
{
    sonde__usage_header header;
    memcpy(&header, data, sizeof header);
    return sonde__crc32c(0, data + CRC_FROM, header.length - CRC_FROM) == header.crc;
}

static bool get_text(sonde__bytes *from, const char **text, size_t *len)
{
    *len = (size_t)sonde__bytes_varint(from);
    *text = (const char *)sonde__bytes_take(from, *len);
    return from->good;
}

static bool get_number(sonde__bytes *from, bool is_real, sonde__number *out)
{
    out->is_real = is_real;
    if (is_real)
        out->as.real = sonde__bytes_double(from);
    else
        out->as.integer = sonde__unzigzag(sonde__bytes_varint(from));
    return from->good;
}

static sonde_status get_raw(sonde__bytes *from, sonde_usage *usage, sonde__cell *cell)
{
    const char *text;
    size_t len;
    if (!get_text(from, &text, &len))
        return SONDE_EBADDATA;
    cell->value.raw = sonde__usage_keep(usage, text, len);
    cell->operation = SONDE__OP_RAW;
    cell->fresh = false;
    return cell->value.raw ? SONDE_OK : SONDE_ENOMEM;
}

/* A snapshot has each session once. */
static sonde_status get_session(sonde_usage *usage, const char *key, size_t len, bool snapshot)
{
    uint64_t session;
    if (len != sizeof session)
        return SONDE_EBADDATA;
    memcpy(&session, key, sizeof session);
    if (!snapshot && sonde__usage_has_session(usage, session))
        return SONDE_OK;
    return sonde__usage_add_session(usage, session);
}

/* One metric. A number that meets a text takes its place. */
static sonde_status get_cell(sonde__bytes *from, sonde_usage *usage, bool snapshot, bool new_day)
{
    const char *key;
    size_t len;
    if (!get_text(from, &key, &len) || len == 0 || from->at == from->end)
        return SONDE_EBADDATA;
    uint8_t code = *from->at++;
    if (code == SONDE__OP_SESSION)
        return get_session(usage, key, len, snapshot);
    uint64_t hash = sonde__usage_hash(usage, key, len);
    sonde__cell *cell = sonde__usage_find(usage, key, len, hash);
    if (!cell)
        cell = sonde__usage_insert(usage, key, len, hash);
    if (!cell)
        return SONDE_ENOMEM;
    if ((code & ~REAL) == SONDE__OP_RAW)
        return get_raw(from, usage, cell);
    sonde__number number;
    if (!get_number(from, (code & REAL) != 0, &number))
        return SONDE_EBADDATA;
    if (cell->operation == SONDE__OP_RAW) {
        cell->operation = SONDE__OP_ANY;
        cell->fresh = true;
    }
    sonde__operation operation = snapshot ? SONDE__OP_LAST : (sonde__operation)(code & ~REAL);
    sonde__cell_apply(cell, operation, number, new_day);
    return SONDE_OK;
}

static sonde_status get_cells(sonde__bytes *from, sonde_usage *usage,
                              const sonde__usage_header *header)
{
    const char *text;
    size_t len;
    sonde__application how = {.compat = (header->flags & SONDE__USAGE_FLAG_COMPAT) != 0};
    if (!get_text(from, &text, &len) ||
        (len > 0 && sonde_datetime_parse(text, len, &how.now) != SONDE_OK))
        return SONDE_EBADDATA;
    bool snapshot = header->type == SONDE__USAGE_SNAPSHOT;
    bool new_day = len > 0 && sonde__usage_new_day(usage, &how);
    while (from->at < from->end) {
        sonde_status status = get_cell(from, usage, snapshot, new_day);
        if (status != SONDE_OK)
            return status;
    }
    if (len > 0 && (header->flags & SONDE__USAGE_FLAG_LAST))
        usage->last_updated = how.now;
    return SONDE_OK;
}

sonde_status sonde__usage_decode(const uint8_t *data, sonde_usage *usage)
{
    sonde__usage_header header;
    memcpy(&header, data, sizeof header);
    sonde__bytes from = {data + sizeof header, data + header.length, true};
    if (header.type == SONDE__USAGE_SNAPSHOT && (header.flags & SONDE__USAGE_FLAG_FIRST))
        sonde__usage_clear(usage);
    usage->records += header.records;
    usage->overflow += header.overflow;
    return get_cells(&from, usage, &header);
}
