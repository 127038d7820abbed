/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 4180, section 2. The common record has no quote at all, so the scan looks for three bytes
   only and hands out slices; the slow way begins at the first quote. */
#include "base/csv_read.h"

#include <string.h>

enum { PLAIN, COMMA, LINE_FEED, QUOTE };

static const unsigned char kinds[256] = {[','] = COMMA, ['\n'] = LINE_FEED, ['"'] = QUOTE};

typedef enum outcome { COMPLETE, CUT, BROKEN } outcome;

static void add_field(sonde__csv_row *row, const char *text, size_t len)
{
    if (row->count < SONDE__CSV_FIELDS_MAX)
        row->field[row->count] = (sonde__csv_field){text, len};
    row->count++;
}

/* The last field of a record, without the CR of a CRLF. */
static void add_last(sonde__csv_row *row, const char *text, const char *end)
{
    if (end > text && end[-1] == '\r')
        end--;
    add_field(row, text, (size_t)(end - text));
}

/* Finds the closing quote of the field that begins at *at (its opening quote). COMPLETE: *at is
   behind the closing quote. BROKEN: something other than the end of the field follows it. */
static outcome find_close(char **at, const char *end, bool final)
{
    char *p = *at + 1;
    for (;;) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p)
            return final ? BROKEN : CUT;
        p++;
        if (p < end && *p == '"') {
            p++;
            continue;
        }
        if (p == end && !final)
            return CUT;
        *at = p;
        bool ends =
            p == end || *p == ',' || *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] == '\n'));
        return ends ? COMPLETE : BROKEN;
    }
}

/* Takes the doubled quotes out of a quoted field that runs up to its closing quote at close. */
static void add_quoted(sonde__csv_row *row, char *open, const char *close)
{
    char *text = open + 1, *to = memchr(text, '"', (size_t)(close - text));
    if (!to) {
        add_field(row, text, (size_t)(close - text));
        return;
    }
    for (const char *from = to; from < close; from++) {
        *to++ = *from;
        from += *from == '"';
    }
    add_field(row, text, (size_t)(to - text));
}

/* A line taken as it stands, quotes and all: the best that can be done with a broken one. */
static size_t parse_verbatim(char *text, size_t len, bool final, sonde__csv_row *row)
{
    char *line_end = memchr(text, '\n', len);
    if (!line_end && !final)
        return 0;
    size_t used = line_end ? (size_t)(line_end - text) + 1 : len;
    const char *end = line_end ? line_end : text + len, *field = text;
    *row = (sonde__csv_row){.damaged = true};
    for (const char *p = text; p < end; p++) {
        if (*p == ',') {
            add_field(row, field, (size_t)(p - field));
            field = p + 1;
        }
    }
    add_last(row, field, end);
    return used;
}

/* First whether the record is whole, then its fields: decoding changes the text, and a record that
   is cut off will be parsed again. */
static outcome check_quotes(char *text, const char *end, bool final)
{
    bool at_field = true;
    for (char *p = text; p < end; p++) {
        if (*p == '\n')
            return COMPLETE;
        if (*p == '"' && at_field) {
            outcome what = find_close(&p, end, final);
            if (what != COMPLETE)
                return what;
            if (p == end)
                return COMPLETE;
            p--;
        }
        at_field = *p == ',';
    }
    return final ? COMPLETE : CUT;
}

static size_t parse_quoted(char *text, size_t len, bool final, sonde__csv_row *row)
{
    const char *end = text + len;
    outcome what = check_quotes(text, end, final);
    if (what == BROKEN)
        return parse_verbatim(text, len, final, row);
    if (what == CUT)
        return 0;
    row->count = 0;
    char *p = text;
    for (;;) {
        char *field = p;
        if (p < end && *p == '"') {
            find_close(&p, end, true);
            char *close = p - 1;
            while (p < end && *p != ',' && *p != '\n')
                p++;
            bool last = p == end || *p == '\n';
            add_quoted(row, field, close);
            if (last)
                break;
        } else {
            while (p < end && *p != ',' && *p != '\n')
                p++;
            if (p == end || *p == '\n') {
                add_last(row, field, p);
                break;
            }
            add_field(row, field, (size_t)(p - field));
        }
        p++;
    }
    return (size_t)(p - text) + (p < end);
}

size_t sonde__csv_parse(char *text, size_t len, bool final, sonde__csv_row *row)
{
    row->count = 0;
    row->damaged = false;
    const char *field = text, *end = text + len;
    for (const char *p = text; p < end; p++) {
        unsigned kind = kinds[(unsigned char)*p];
        if (kind == PLAIN)
            continue;
        if (kind == COMMA) {
            add_field(row, field, (size_t)(p - field));
            field = p + 1;
        } else if (kind == LINE_FEED) {
            add_last(row, field, p);
            return (size_t)(p - text) + 1;
        } else if (p == field) {
            return parse_quoted(text, len, final, row);
        }
    }
    if (!final || len == 0)
        return 0;
    add_last(row, field, end);
    return len;
}
