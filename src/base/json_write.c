/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"

#include "base/json_scan.h"
#include "base/number_format.h"
#include "base/utf8.h"

#include <assert.h>
#include <math.h>

_Static_assert(SONDE__JSON_DEPTH_MAX <= 64, "is_object has one bit for each level");

void sonde__json_init(sonde__json *json, sonde__buf *buf)
{
    *json = (sonde__json){.buf = buf};
}

static bool in_object(const sonde__json *json)
{
    return json->depth > 0 && (json->is_object >> (json->depth - 1) & 1);
}

/* What stands before a value: a comma between elements; nothing after a key or at the top. */
static void before_value(sonde__json *json)
{
    assert(json->after_key == in_object(json));
    if (json->comma)
        sonde__buf_char(json->buf, ',');
    json->comma = false;
    json->after_key = false;
}

static void after_value(sonde__json *json)
{
    json->comma = json->depth > 0;
}

static void begin(sonde__json *json, char bracket, uint64_t is_object)
{
    assert(json->depth < SONDE__JSON_DEPTH_MAX);
    before_value(json);
    sonde__buf_char(json->buf, bracket);
    uint64_t bit = UINT64_C(1) << json->depth;
    json->is_object = is_object ? json->is_object | bit : json->is_object & ~bit;
    json->depth++;
}

static void end(sonde__json *json, char bracket)
{
    assert(json->depth > 0 && !json->after_key);
    sonde__buf_char(json->buf, bracket);
    json->depth--;
    after_value(json);
}

void sonde__json_begin_object(sonde__json *json)
{
    begin(json, '{', 1);
}

void sonde__json_end_object(sonde__json *json)
{
    assert(in_object(json));
    end(json, '}');
}

void sonde__json_begin_array(sonde__json *json)
{
    begin(json, '[', 0);
}

void sonde__json_end_array(sonde__json *json)
{
    assert(!in_object(json));
    end(json, ']');
}

/* Length of the part of text that is copied as it is: plain bytes and well-formed UTF-8, but not
   U+2028 and U+2029, which end a line in JavaScript (they are E2 80 A8 and E2 80 A9). */
static size_t verbatim_run(const char *text, size_t len)
{
    size_t pos = 0;
    for (;;) {
        pos += sonde__json_plain_run(text + pos, len - pos);
        if (pos == len || (unsigned char)text[pos] < 0x80)
            return pos;
        size_t step = sonde__utf8_sequence(text + pos, len - pos);
        if (step == 0 || (step == 3 && memcmp(text + pos, "\xe2\x80", 2) == 0 &&
                          ((unsigned char)text[pos + 2] & 0xfe) == 0xa8))
            return pos;
        pos += step;
    }
}

/* Writes the one character at text that cannot stand for itself; returns the bytes it took. */
static size_t write_escape(sonde__buf *buf, const char *text, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[] = "btn?fr"; /* from 8 on; 11 has no letter */
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
        sonde__buf_append(buf, (char[]){'\\', (char)c}, 2);
    } else if (c >= '\b' && c <= '\r' && c != '\v') {
        sonde__buf_append(buf, (char[]){'\\', letters[c - '\b']}, 2);
    } else if (c < 0x20) {
        sonde__buf_append(buf, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
    } else if (sonde__utf8_sequence(text, len) == 0) {
        sonde__buf_append(buf, "\xef\xbf\xbd", 3);
    } else {
        sonde__buf_append(buf, text[2] == '\xa8' ? "\\u2028" : "\\u2029", 6);
        return 3;
    }
    return 1;
}

static void write_quoted(sonde__buf *buf, const char *text, size_t len)
{
    sonde__buf_char(buf, '"');
    for (size_t pos = 0; pos < len;) {
        size_t run = verbatim_run(text + pos, len - pos);
        sonde__buf_append(buf, text + pos, run);
        pos += run;
        if (pos < len)
            pos += write_escape(buf, text + pos, len - pos);
    }
    sonde__buf_char(buf, '"');
}

void sonde__json_key(sonde__json *json, const char *key)
{
    sonde__json_key_n(json, key, strlen(key));
}

void sonde__json_key_n(sonde__json *json, const char *key, size_t len)
{
    assert(in_object(json) && !json->after_key);
    if (json->comma)
        sonde__buf_char(json->buf, ',');
    write_quoted(json->buf, key, len);
    sonde__buf_char(json->buf, ':');
    json->comma = false;
    json->after_key = true;
}

void sonde__json_string(sonde__json *json, const char *text)
{
    sonde__json_string_n(json, text, strlen(text));
}

void sonde__json_string_n(sonde__json *json, const char *text, size_t len)
{
    before_value(json);
    write_quoted(json->buf, text, len);
    after_value(json);
}

void sonde__json_raw(sonde__json *json, const char *text, size_t len)
{
    before_value(json);
    sonde__buf_append(json->buf, text, len);
    after_value(json);
}

void sonde__json_uint(sonde__json *json, uint64_t value)
{
    char text[SONDE__UINT_TEXT_MAX];
    sonde__json_raw(json, text, sonde__format_uint(value, text));
}

void sonde__json_int(sonde__json *json, int64_t value)
{
    char text[SONDE__INT_TEXT_MAX];
    sonde__json_raw(json, text, sonde__format_int(value, text));
}

void sonde__json_double(sonde__json *json, double value)
{
    if (!isfinite(value)) {
        sonde__json_null(json);
        return;
    }
    char text[SONDE__DOUBLE_TEXT_MAX];
    sonde__json_raw(json, text, sonde__format_double(value, text));
}

void sonde__json_bool(sonde__json *json, bool value)
{
    sonde__json_raw(json, value ? "true" : "false", value ? 4 : 5);
}

void sonde__json_null(sonde__json *json)
{
    sonde__json_raw(json, "null", 4);
}
