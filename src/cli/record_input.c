/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are handed out of a buffer that only grows with the longest of them; an array is read
   whole, since the JSON reader wants its text in one piece. */
#include "cli/record_input.h"

#include "base/buf.h"
#include "base/errno_status.h"
#include "base/json_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 << 10 };

typedef struct input {
    int fd;
    const sonde__record_sink *sink;
    sonde__buf buf;
    uint64_t bytes;
    size_t line;    /* the number of the line at the start of buf, from 1 */
    bool over_long; /* the rest of the line at the start of buf is to be passed over */
    bool stop;
} input;

/* Appends a piece of the file to the buffer; *got is 0 at its end. */
static sonde_status read_piece(input *from, size_t *got)
{
    if (!sonde__buf_reserve(&from->buf, PIECE_BYTES))
        return from->buf.status;
    ssize_t count;
    do {
        count = read(from->fd, from->buf.data + from->buf.len, PIECE_BYTES);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return sonde__status_of_errno(errno);
    from->buf.len += (size_t)count;
    from->bytes += (uint64_t)count;
    *got = (size_t)count;
    from->sink->progress(from->sink->user, from->bytes);
    return SONDE_OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void take_line(input *from, const char *text, size_t len)
{
    while (len > 0 && is_space(text[len - 1]))
        len--;
    size_t skip = 0;
    while (skip < len && is_space(text[skip]))
        skip++;
    if (len > skip && !from->over_long)
        from->stop = !from->sink->record(from->sink->user, text + skip, len - skip, from->line);
    from->over_long = false;
    from->line++;
}

static void drop_front(sonde__buf *buf, size_t bytes)
{
    buf->len -= bytes;
    memmove(buf->data, buf->data + bytes, buf->len);
}

/* Hands out the whole lines of the buffer. scanned: bytes at its start known to have no line end.
 */
static void take_lines(input *from, size_t scanned)
{
    size_t start = 0;
    for (size_t search = scanned; !from->stop;) {
        const char *end = memchr(from->buf.data + search, '\n', from->buf.len - search);
        if (!end)
            break;
        size_t stop = (size_t)(end - from->buf.data);
        take_line(from, from->buf.data + start, stop - start);
        start = search = stop + 1;
    }
    drop_front(&from->buf, start);
    if (from->buf.len <= SONDE__RECORD_LINE_MAX)
        return;
    if (!from->over_long)
        from->stop = !from->sink->bad(from->sink->user, from->line, "the line is over 64 MiB long");
    from->over_long = true;
    sonde__buf_clear(&from->buf);
}

static sonde_status read_lines(input *from)
{
    take_lines(from, 0);
    while (!from->stop) {
        size_t scanned = from->buf.len;
        size_t got = 0;
        sonde_status status = read_piece(from, &got);
        if (status != SONDE_OK)
            return status;
        if (got == 0)
            break;
        take_lines(from, scanned);
    }
    if (!from->stop && from->buf.len > 0)
        take_line(from, from->buf.data, from->buf.len);
    return SONDE_OK;
}

/* Counts the lines between two places of the text. */
static size_t count_lines(const char *text, size_t from, size_t to)
{
    size_t lines = 0;
    for (; from < to; from++)
        lines += text[from] == '\n';
    return lines;
}

static void refuse_array(input *from, const sonde__json_reader *reader, size_t counted)
{
    char reason[160];
    from->line += count_lines(reader->text, counted, reader->pos);
    snprintf(reason, sizeof reason, "not valid JSON: %s; the rest of the array is not read",
             reader->error ? reader->error : "something follows the array");
    from->stop = !from->sink->bad(from->sink->user, from->line, reason);
}

static void take_array(input *from)
{
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, from->buf.data, from->buf.len);
    sonde__json_token token = sonde__json_next(&reader);
    size_t counted = 0;
    while (!from->stop) {
        size_t start = reader.pos;
        token = sonde__json_next(&reader);
        if (token == SONDE__JSON_ERROR || token == SONDE__JSON_ARRAY_END)
            break;
        while (is_space(reader.text[start]) || reader.text[start] == ',')
            start++;
        bool nested = token == SONDE__JSON_OBJECT_BEGIN || token == SONDE__JSON_ARRAY_BEGIN;
        if (nested && !sonde__json_skip(&reader)) {
            token = SONDE__JSON_ERROR;
            break;
        }
        from->line += count_lines(reader.text, counted, start);
        counted = start;
        from->stop = !from->sink->record(from->sink->user, reader.text + start, reader.pos - start,
                                         from->line);
    }
    if (!from->stop && (token == SONDE__JSON_ERROR || sonde__json_next(&reader) != SONDE__JSON_END))
        refuse_array(from, &reader, counted);
}

static sonde_status read_array(input *from)
{
    size_t got = 1;
    while (got > 0) {
        sonde_status status = read_piece(from, &got);
        if (status != SONDE_OK)
            return status;
    }
    take_array(from);
    return SONDE_OK;
}

/* Whether the first thing in the input is a bracket; reads as far as that takes. */
static sonde_status begins_array(input *from, bool *array)
{
    size_t at = 0;
    size_t got = 1;
    *array = false;
    while (got > 0) {
        while (at < from->buf.len && is_space(from->buf.data[at]))
            at++;
        if (at < from->buf.len) {
            *array = from->buf.data[at] == '[';
            return SONDE_OK;
        }
        sonde_status status = read_piece(from, &got);
        if (status != SONDE_OK)
            return status;
    }
    return SONDE_OK;
}

sonde_status sonde__records_read(int fd, const sonde__record_sink *sink)
{
    input from = {.fd = fd, .sink = sink, .line = 1};
    bool array;
    sonde__buf_init(&from.buf, SONDE__JSON_READ_SIZE_MAX);
    sonde_status status = begins_array(&from, &array);
    if (status == SONDE_OK)
        status = array ? read_array(&from) : read_lines(&from);
    sonde__buf_free(&from.buf);
    return status;
}
