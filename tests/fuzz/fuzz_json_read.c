/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader accepts is written again by the writer and read again: same tokens, same values.
   Numbers are compared with strtod. Skipping accepts exactly what reading does. */
#include "base/json_read.h"
#include "base/json_write.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static char *decode(const sonde__json_reader *reader, size_t *len)
{
    char *text = malloc(reader->slice_len + 1);
    require(text != NULL);
    *len = sonde__json_unescape(reader, text);
    require(*len <= reader->slice_len);
    text[*len] = '\0';
    require(sonde__json_equals(reader, text) == (strlen(text) == *len));
    return text;
}

static void check_double(const sonde__json_reader *reader)
{
    char *text = malloc(reader->slice_len + 1);
    require(text != NULL);
    memcpy(text, reader->slice, reader->slice_len);
    text[reader->slice_len] = '\0';
    double expected = strtod(text, NULL);
    free(text);
    double value = 0;
    sonde_status status = sonde__json_get_double(reader, &value);
    require(status == (isinf(expected) ? SONDE_ELIMIT : SONDE_OK));
    require(status != SONDE_OK || bits_of(value) == bits_of(expected));
}

static void write_number(sonde__json *json, const sonde__json_reader *reader)
{
    int64_t as_int;
    uint64_t as_uint;
    double as_double;
    check_double(reader);
    if (sonde__json_get_int(reader, &as_int) == SONDE_OK)
        sonde__json_int(json, as_int);
    else if (sonde__json_get_uint(reader, &as_uint) == SONDE_OK)
        sonde__json_uint(json, as_uint);
    else if (sonde__json_get_double(reader, &as_double) == SONDE_OK)
        sonde__json_double(json, as_double);
    else
        sonde__json_raw(json, reader->slice, reader->slice_len);
}

static void write_text(sonde__json *json, const sonde__json_reader *reader, bool is_key)
{
    size_t len;
    char *text = decode(reader, &len);
    if (is_key)
        sonde__json_key_n(json, text, len);
    else
        sonde__json_string_n(json, text, len);
    free(text);
}

static void write_token(sonde__json *json, const sonde__json_reader *reader,
                        sonde__json_token token)
{
    switch (token) {
    case SONDE__JSON_OBJECT_BEGIN:
        sonde__json_begin_object(json);
        break;
    case SONDE__JSON_OBJECT_END:
        sonde__json_end_object(json);
        break;
    case SONDE__JSON_ARRAY_BEGIN:
        sonde__json_begin_array(json);
        break;
    case SONDE__JSON_ARRAY_END:
        sonde__json_end_array(json);
        break;
    case SONDE__JSON_KEY:
    case SONDE__JSON_STRING:
        write_text(json, reader, token == SONDE__JSON_KEY);
        break;
    case SONDE__JSON_NUMBER:
        write_number(json, reader);
        break;
    case SONDE__JSON_TRUE:
    case SONDE__JSON_FALSE:
        sonde__json_bool(json, token == SONDE__JSON_TRUE);
        break;
    case SONDE__JSON_NULL:
        sonde__json_null(json);
        break;
    case SONDE__JSON_END:
    case SONDE__JSON_ERROR:
        break;
    }
}

static void require_same_text(const sonde__json_reader *a, const sonde__json_reader *b)
{
    size_t a_len;
    size_t b_len;
    char *a_text = decode(a, &a_len);
    char *b_text = decode(b, &b_len);
    require(a_len == b_len && memcmp(a_text, b_text, a_len) == 0);
    free(a_text);
    free(b_text);
}

static void require_same_number(const sonde__json_reader *a, const sonde__json_reader *b)
{
    double a_value = 0;
    double b_value = 0;
    require(sonde__json_get_double(a, &a_value) == sonde__json_get_double(b, &b_value));
    require(a_value == b_value);
}

static void require_same_tokens(sonde__json_reader *a, sonde__json_reader *b)
{
    sonde__json_token token;
    do {
        token = sonde__json_next(a);
        require(sonde__json_next(b) == token);
        if (token == SONDE__JSON_KEY || token == SONDE__JSON_STRING)
            require_same_text(a, b);
        else if (token == SONDE__JSON_NUMBER)
            require_same_number(a, b);
    } while (token != SONDE__JSON_END && token != SONDE__JSON_ERROR);
    require(token == SONDE__JSON_END);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, text, size);
    sonde__buf buf;
    sonde__json json;
    sonde__buf_init(&buf, (size_t)1 << 30);
    sonde__json_init(&json, &buf);
    sonde__json_token token;
    do {
        token = sonde__json_next(&reader);
        write_token(&json, &reader, token);
        require(reader.pos <= size);
    } while (token != SONDE__JSON_END && token != SONDE__JSON_ERROR);
    require((reader.error == NULL) == (token == SONDE__JSON_END));

    sonde__json_reader skipper;
    sonde__json_reader_init(&skipper, text, size);
    bool skipped = sonde__json_skip(&skipper) && sonde__json_next(&skipper) == SONDE__JSON_END;
    require(skipped == (token == SONDE__JSON_END) && skipper.pos == reader.pos);

    if (token == SONDE__JSON_END) {
        require(buf.status == SONDE_OK && json.depth == 0);
        sonde__json_reader again;
        sonde__json_reader_init(&again, buf.data, buf.len);
        sonde__json_reader_init(&reader, text, size);
        require_same_tokens(&reader, &again);
    }
    sonde__buf_free(&buf);
    return 0;
}
