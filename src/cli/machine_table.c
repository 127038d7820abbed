/* SPDX-License-Identifier: Apache-2.0 */
/* Objects are indented, lists stand in one line. */
#include "cli/machine_table.h"

#include "base/json_read.h"
#include "cli/output.h"

enum { LABEL_WIDTH = 28, INDENT = 2, WORD_MAX = 4096 };

typedef struct printer {
    sonde__json_reader reader;
    sonde__buf *out;
} printer;

static void add_slice(printer *print, bool text)
{
    char word[WORD_MAX];
    const sonde__json_reader *reader = &print->reader;
    if (!text || reader->slice_len > sizeof word) {
        sonde__buf_append(print->out, reader->slice, reader->slice_len);
        return;
    }
    size_t len = sonde__json_unescape(reader, word);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)word[i] < ' ' || word[i] == 127)
            word[i] = '?';
    sonde__buf_append(print->out, word, len);
}

static void add_scalar(printer *print, sonde__json_token token)
{
    if (token == SONDE__JSON_STRING || token == SONDE__JSON_NUMBER)
        add_slice(print, token == SONDE__JSON_STRING);
    else
        sonde__buf_text(print->out, token == SONDE__JSON_TRUE    ? "true"
                                    : token == SONDE__JSON_FALSE ? "false"
                                                                 : "-");
}

/* The rest of a list whose start was read, in one line; objects in it as "key value, ...". */
static bool add_list(printer *print)
{
    unsigned depth = 1;
    for (bool first = true; depth > 0;) {
        sonde__json_token token = sonde__json_next(&print->reader);
        if (token == SONDE__JSON_ERROR)
            return false;
        if (token == SONDE__JSON_ARRAY_END || token == SONDE__JSON_OBJECT_END) {
            depth--;
            first = false;
            continue;
        }
        bool opens = token == SONDE__JSON_ARRAY_BEGIN || token == SONDE__JSON_OBJECT_BEGIN;
        if (!first)
            sonde__buf_text(print->out, depth == 1 ? (opens ? "; " : ", ") : " ");
        first = opens;
        if (opens)
            depth++;
        else if (token == SONDE__JSON_KEY)
            add_slice(print, true);
        else
            add_scalar(print, token);
    }
    return true;
}

static bool add_object(printer *print, unsigned depth);

static bool add_entry(printer *print, unsigned depth)
{
    size_t start = print->out->len;
    sonde__buf_printf(print->out, "%*s", (int)(depth * INDENT), "");
    add_slice(print, true);
    size_t width = print->out->len - start;
    sonde__json_token token = sonde__json_next(&print->reader);
    if (token == SONDE__JSON_OBJECT_BEGIN) {
        sonde__buf_char(print->out, '\n');
        return add_object(print, depth + 1);
    }
    sonde__buf_printf(print->out, "%*s", width < LABEL_WIDTH ? (int)(LABEL_WIDTH - width) : 1, "");
    bool ok = token != SONDE__JSON_ERROR;
    if (token == SONDE__JSON_ARRAY_BEGIN)
        ok = add_list(print);
    else if (ok)
        add_scalar(print, token);
    sonde__buf_char(print->out, '\n');
    return ok;
}

/* The rest of an object whose start was read. */
static bool add_object(printer *print, unsigned depth)
{
    for (;;) {
        sonde__json_token token = sonde__json_next(&print->reader);
        if (token == SONDE__JSON_OBJECT_END)
            return true;
        if (token != SONDE__JSON_KEY || !add_entry(print, depth))
            return false;
    }
}

bool sonde__machine_table(const char *json, size_t len, sonde__buf *out)
{
    printer print = {.out = out};
    sonde__json_reader_init(&print.reader, json, len);
    return sonde__json_next(&print.reader) == SONDE__JSON_OBJECT_BEGIN && add_object(&print, 0);
}
