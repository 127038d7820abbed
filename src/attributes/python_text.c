/* SPDX-License-Identifier: Apache-2.0 */
/* str() and repr() of what json.loads() returns. Which code points repr() escapes follows Unicode's
   categories; here are those of controls, separators, format characters and private use. */
#include "attributes/python_text.h"

#include "base/number_format.h"
#include "base/utf8.h"

#include <string.h>

static bool write_value(sonde__json_reader *reader, sonde__json_token token, bool repr,
                        sonde__buf *out, bool *truthy);

typedef struct code_range {
    uint32_t first;
    uint32_t last;
} code_range;

static bool is_printable(uint32_t code)
{
    static const code_range escaped[] = {
        {0x00, 0x1F},     {0x7F, 0xA0},       {0xAD, 0xAD},        {0x600, 0x605},
        {0x61C, 0x61C},   {0x6DD, 0x6DD},     {0x70F, 0x70F},      {0x1680, 0x1680},
        {0x180E, 0x180E}, {0x2000, 0x200F},   {0x2028, 0x202F},    {0x205F, 0x206F},
        {0x3000, 0x3000}, {0xD800, 0xF8FF},   {0xFEFF, 0xFEFF},    {0xFFF0, 0xFFFB},
        {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
    };
    for (size_t i = 0; i < sizeof escaped / sizeof escaped[0]; i++) {
        if (code >= escaped[i].first && code <= escaped[i].last)
            return false;
    }
    return true;
}

static uint32_t code_point(const unsigned char *c, size_t size)
{
    uint32_t code = size == 1 ? c[0] : c[0] & (0x3Fu >> (size - 1));
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (c[i] & 0x3Fu);
    return code;
}

static void write_code(uint32_t code, sonde__buf *out)
{
    if (code == '\n' || code == '\r' || code == '\t')
        sonde__buf_text(out, code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t");
    else if (code < 0x100)
        sonde__buf_printf(out, "\\x%02x", (unsigned)code);
    else if (code < 0x10000)
        sonde__buf_printf(out, "\\u%04x", (unsigned)code);
    else
        sonde__buf_printf(out, "\\U%08x", (unsigned)code);
}

/* text is valid UTF-8: it came out of the reader. */
static void write_repr(const char *text, size_t len, sonde__buf *out)
{
    bool single = memchr(text, '\'', len) != NULL && memchr(text, '"', len) == NULL;
    char quote = single ? '"' : '\'';
    sonde__buf_char(out, quote);
    for (size_t at = 0, size; at < len; at += size) {
        size = sonde__utf8_sequence(text + at, len - at);
        size = size ? size : 1;
        uint32_t code = code_point((const unsigned char *)text + at, size);
        if (text[at] == quote || text[at] == '\\')
            sonde__buf_char(out, '\\');
        if (is_printable(code))
            sonde__buf_append(out, text + at, size);
        else
            write_code(code, out);
    }
    sonde__buf_char(out, quote);
}

static void write_string(const sonde__json_reader *reader, bool repr, sonde__buf *out)
{
    sonde__buf text;
    sonde__buf_init(&text, reader->slice_len + 1);
    if (!sonde__buf_reserve(&text, reader->slice_len + 1)) {
        out->status = text.status;
        return;
    }
    size_t len = sonde__json_unescape(reader, text.data);
    if (repr)
        write_repr(text.data, len, out);
    else
        sonde__buf_append(out, text.data, len);
    sonde__buf_free(&text);
}

static bool is_integer(const sonde__json_reader *reader)
{
    for (size_t i = 0; i < reader->slice_len; i++) {
        if (strchr(".eE", reader->slice[i]))
            return false;
    }
    return true;
}

static void write_number(const sonde__json_reader *reader, sonde__buf *out, bool *truthy)
{
    double value = 0;
    bool infinite = sonde__json_get_double(reader, &value) != SONDE_OK;
    *truthy = infinite || value != 0;
    if (is_integer(reader)) {
        bool minus_zero = reader->slice_len == 2 && memcmp(reader->slice, "-0", 2) == 0;
        sonde__buf_append(out, reader->slice + minus_zero, reader->slice_len - minus_zero);
    } else if (infinite) {
        sonde__buf_text(out, reader->slice[0] == '-' ? "-inf" : "inf");
    } else {
        char text[SONDE__DOUBLE_TEXT_MAX];
        sonde__buf_append(out, text, sonde__format_double(value, text));
    }
}

/* Elements of a list, or keys and values of an object, to the closing bracket. */
static bool write_members(sonde__json_reader *reader, sonde__json_token close, sonde__buf *out,
                          bool *truthy)
{
    bool object = close == SONDE__JSON_OBJECT_END;
    sonde__buf_char(out, object ? '{' : '[');
    *truthy = false;
    for (;;) {
        sonde__json_token token = sonde__json_next(reader);
        if (token == close)
            break;
        bool inner;
        sonde__buf_text(out, *truthy ? ", " : "");
        *truthy = true;
        if (token == SONDE__JSON_KEY) {
            write_string(reader, true, out);
            sonde__buf_text(out, ": ");
            token = sonde__json_next(reader);
        }
        if (!write_value(reader, token, true, out, &inner))
            return false;
    }
    sonde__buf_char(out, object ? '}' : ']');
    return true;
}

static bool write_value(sonde__json_reader *reader, sonde__json_token token, bool repr,
                        sonde__buf *out, bool *truthy)
{
    *truthy = token == SONDE__JSON_TRUE;
    switch (token) {
    case SONDE__JSON_OBJECT_BEGIN:
        return write_members(reader, SONDE__JSON_OBJECT_END, out, truthy);
    case SONDE__JSON_ARRAY_BEGIN:
        return write_members(reader, SONDE__JSON_ARRAY_END, out, truthy);
    case SONDE__JSON_STRING:
        *truthy = reader->slice_len > 0;
        write_string(reader, repr, out);
        return true;
    case SONDE__JSON_NUMBER:
        write_number(reader, out, truthy);
        return true;
    case SONDE__JSON_TRUE:
    case SONDE__JSON_FALSE:
        sonde__buf_text(out, token == SONDE__JSON_TRUE ? "True" : "False");
        return true;
    case SONDE__JSON_NULL:
        sonde__buf_text(out, "None");
        return true;
    default:
        return false;
    }
}

bool sonde__python_str(sonde__json_reader *reader, sonde__json_token token, sonde__buf *out,
                       bool *truthy)
{
    return write_value(reader, token, false, out, truthy);
}
