/* SPDX-License-Identifier: Apache-2.0 */
#include "view/packet_csv.h"

#include "base/csv_write.h"
#include "base/number_format.h"
#include "base/number_parse.h"

#include <string.h>

enum {
    NUMBERS_BYTES = 5 * SONDE__DECIMAL_TEXT_MAX + 16, /* what a row holds besides texts */
    NS_PER_SECOND = 1000000000,
    NS_PER_MS = 1000000,
};

const char sonde__packet_csv_header[] = "timestamp,device,worker_instance,duration_ms,packet_id,"
                                        "layer_idx,operation,success,memory_used_mb,"
                                        "error_message\n";

static const char *const column_names[] = {
#define COLUMN_NAME(name, text) text,
    SONDE__PACKET_COLUMN_MAP(COLUMN_NAME)
#undef COLUMN_NAME
};

const char *sonde__packet_column_name(sonde__packet_column column)
{
    return column_names[column];
}

/* Rows are written into room that was reserved for the longest they can be. */
static char *put_decimal(char *at, uint64_t value, unsigned decimals)
{
    return at + sonde__format_decimal(value, decimals, at);
}

static char *put_text(char *at, sonde__text text)
{
    *at++ = ',';
    return at + sonde__csv_text_to(at, text.data, text.len);
}

static char *put_memory(char *at, double megabytes)
{
    bool sane = megabytes >= 0 && megabytes < 1e15;
    *at++ = ',';
    return put_decimal(at, sane ? (uint64_t)(megabytes * 100 + 0.5) : 0, 2);
}

void sonde__packet_csv_write(sonde__buf *buf, const sonde__packet *packet)
{
    sonde__text id = packet->packet_id;
    size_t texts = packet->device.len + packet->worker.len + id.len + packet->operation.len +
                   packet->error.len;
    if (!sonde__buf_reserve(buf, NUMBERS_BYTES + 2 * (texts + 5)))
        return;
    char *at = buf->data + buf->len;
    at = put_decimal(at, (packet->end_ns + 500) / 1000, 6);
    at = put_text(at, packet->device);
    at = put_text(at, packet->worker);
    *at++ = ',';
    at = put_decimal(at, packet->duration_ns, 6);
    *at++ = ',';
    at += id.data ? sonde__csv_text_to(at, id.data, id.len) : sonde__format_uint(packet->id, at);
    *at++ = ',';
    at += sonde__format_int(packet->layer, at);
    at = put_text(at, packet->operation);
    memcpy(at, packet->success ? ",True" : ",False", 6);
    at += packet->success ? 5 : 6;
    at = put_memory(at, packet->memory_mb);
    at = put_text(at, packet->error);
    *at++ = '\n';
    buf->len = (size_t)(at - buf->data);
}

/* A byte-order mark, as spreadsheets write it, is no part of the first name. */
static sonde__text header_text(const sonde__csv_row *header, unsigned index)
{
    sonde__text text = {header->field[index].text, header->field[index].len};
    if (index == 0 && text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
        text.data += 3;
        text.len -= 3;
    }
    return text;
}

bool sonde__packet_columns_find(const sonde__csv_row *header, sonde__packet_columns *out)
{
    unsigned kept =
        header->count < SONDE__CSV_FIELDS_MAX ? header->count : (unsigned)SONDE__CSV_FIELDS_MAX;
    sonde__packet_columns found = {.count = header->count};
    for (int column = 0; column < SONDE__PACKET_COLUMNS; column++) {
        found.at[column] = -1;
        for (unsigned i = 0; i < kept; i++)
            if (sonde__text_is(header_text(header, i), column_names[column]))
                found.at[column] = (int)i;
    }
    if (found.at[SONDE__COLUMN_DURATION] < 0 || found.at[SONDE__COLUMN_OPERATION] < 0)
        return false;
    *out = found;
    return true;
}

static sonde__text field_of(const sonde__packet_columns *columns, const sonde__csv_row *row,
                            sonde__packet_column column)
{
    int at = columns->at[column];
    return at < 0 ? (sonde__text){NULL, 0} : (sonde__text){row->field[at].text, row->field[at].len};
}

/* Digits with an optional fraction: what nearly every number is. False when it is more than that.
 */
static bool parse_plain(sonde__text text, unsigned decimals, uint64_t *out)
{
    static const uint32_t powers[] = {1,      10,      100,      1000,      10000,
                                      100000, 1000000, 10000000, 100000000, 1000000000};
    uint64_t value = 0;
    size_t i = 0;
    for (; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(text.data[i] - '0');
    if (i == 0 || i > 10)
        return false;
    unsigned taken = 0;
    if (i < text.len && text.data[i] == '.') {
        for (i++; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++) {
            if (taken < decimals) {
                value = value * 10 + (uint64_t)(text.data[i] - '0');
                taken++;
            }
        }
    }
    if (i != text.len || value > UINT64_MAX / powers[decimals - taken])
        return false;
    *out = value * powers[decimals - taken];
    return true;
}

/* A number by JSON's grammar, the only form that sonde__parse_double takes. */
static bool is_number(sonde__text text)
{
    const char *at = text.data, *end = text.data + text.len;
    at += at < end && *at == '-';
    const char *digits = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    if (at == digits)
        return false;
    if (at < end && *at == '.')
        for (at++; at < end && *at >= '0' && *at <= '9';)
            at++;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        digits = at;
        while (at < end && *at >= '0' && *at <= '9')
            at++;
        if (at == digits)
            return false;
    }
    return at == end;
}

/* text in units of 10^-decimals, rounded; negative values become 0. */
static bool parse_scaled(sonde__text text, unsigned decimals, double scale, uint64_t *out)
{
    double value;
    if (parse_plain(text, decimals, out))
        return true;
    if (!is_number(text) || sonde__parse_double(text.data, text.len, &value) != SONDE_OK)
        return false;
    value = value * scale + 0.5;
    if (value >= 9e18)
        return false;
    *out = value > 0 ? (uint64_t)value : 0;
    return true;
}

static bool parse_layer(sonde__text text, int64_t *out)
{
    *out = SONDE__NO_LAYER;
    if (text.len == 0)
        return true;
    size_t i = text.data[0] == '-';
    if (i == text.len || text.len > 19)
        return false;
    for (; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return sonde__parse_int(text.data, text.len, out) == SONDE_OK;
}

static bool parse_flag(sonde__text text, bool *out)
{
    static const char *const yes[] = {"True", "true", "1", "TRUE"};
    static const char *const no[] = {"False", "false", "0", "FALSE"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (sonde__text_is(text, yes[i]) || sonde__text_is(text, no[i])) {
            *out = sonde__text_is(text, yes[i]);
            return true;
        }
    }
    *out = true;
    return text.len == 0;
}

static bool parse_memory(sonde__text text, double *out)
{
    uint64_t thousandths = 0;
    if (text.len > 0 && !parse_scaled(text, 3, 1e3, &thousandths))
        return false;
    *out = (double)thousandths / 1e3;
    return true;
}

static bool read_numbers(const sonde__packet_columns *columns, const sonde__csv_row *row,
                         sonde__packet *out)
{
    sonde__text time = field_of(columns, row, SONDE__COLUMN_TIMESTAMP);
    out->end_ns = 0;
    return (time.len == 0 || parse_scaled(time, 9, NS_PER_SECOND, &out->end_ns)) &&
           parse_scaled(field_of(columns, row, SONDE__COLUMN_DURATION), 6, NS_PER_MS,
                        &out->duration_ns) &&
           parse_layer(field_of(columns, row, SONDE__COLUMN_LAYER), &out->layer) &&
           parse_flag(field_of(columns, row, SONDE__COLUMN_SUCCESS), &out->success) &&
           parse_memory(field_of(columns, row, SONDE__COLUMN_MEMORY), &out->memory_mb);
}

sonde__row_state sonde__packet_csv_read(const sonde__packet_columns *columns,
                                        const sonde__csv_row *row, sonde__packet *out)
{
    if (row->count < columns->count || row->damaged)
        return SONDE__ROW_SHORT;
    out->operation = field_of(columns, row, SONDE__COLUMN_OPERATION);
    if (!read_numbers(columns, row, out)) {
        sonde__text duration = field_of(columns, row, SONDE__COLUMN_DURATION);
        bool again = sonde__text_is(duration, column_names[SONDE__COLUMN_DURATION]);
        return again ? SONDE__ROW_HEADER : SONDE__ROW_BAD;
    }
    out->device = field_of(columns, row, SONDE__COLUMN_DEVICE);
    if (out->device.len == 0)
        out->device = (sonde__text){"cpu", 3};
    out->packet_id = field_of(columns, row, SONDE__COLUMN_PACKET);
    out->error = field_of(columns, row, SONDE__COLUMN_ERROR);
    out->target = (sonde__text){NULL, 0};
    out->experts = 0;
    out->worker = field_of(columns, row, SONDE__COLUMN_WORKER);
    if (out->worker.len == 0)
        sonde__packet_name_worker(out);
    return SONDE__ROW_OK;
}
