/* SPDX-License-Identifier: Apache-2.0 */
/* Between two calls the reader stands before a value, after one, or just inside a bracket. Commas
   and colons are consumed on the way to the next token, so they need no states of their own. */
#include "base/json_read.h"

#include "base/json_scan.h"
#include "base/number_parse.h"
#include "base/utf8.h"

_Static_assert(SONDE__JSON_READ_DEPTH_MAX <= 64, "is_object has one bit for each level");

enum state {
    BEFORE_VALUE, /* at the start, and after a key and its colon */
    FIRST_ELEMENT,
    FIRST_KEY,
    AFTER_VALUE,
    ENDED,
    FAILED,
};

enum { REPLACEMENT_CHARACTER = 0xfffd };

void sonde__json_reader_init(sonde__json_reader *reader, const char *text, size_t len)
{
    *reader = (sonde__json_reader){.text = text, .len = len, .state = BEFORE_VALUE};
    if (len > SONDE__JSON_READ_SIZE_MAX) {
        reader->error = "text is too long";
        reader->state = FAILED;
    }
}

static sonde__json_token fail(sonde__json_reader *reader, size_t pos, const char *error)
{
    reader->pos = pos;
    reader->error = error;
    reader->state = FAILED;
    return SONDE__JSON_ERROR;
}

/* The byte at pos, or -1 at the end of the text. */
static int byte_at(const sonde__json_reader *reader, size_t pos)
{
    return pos < reader->len ? (unsigned char)reader->text[pos] : -1;
}

/* Skips white space; the byte after it, or -1. */
static int next_byte(sonde__json_reader *reader)
{
    size_t pos = reader->pos;
    int c = byte_at(reader, pos);
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t')
        c = byte_at(reader, ++pos);
    reader->pos = pos;
    return c;
}

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    int lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Checks the escape at pos and returns its length; 0 after a failure. */
static size_t check_escape(sonde__json_reader *reader, size_t pos)
{
    switch (byte_at(reader, pos + 1)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        for (size_t i = 2; i < 6; i++) {
            if (hex_digit(byte_at(reader, pos + i)) < 0) {
                fail(reader, pos + i, "\\u takes four hex digits");
                return 0;
            }
        }
        return 6;
    case -1:
        fail(reader, pos + 1, "string is not closed");
        return 0;
    default:
        fail(reader, pos + 1, "unknown escape");
        return 0;
    }
}

/* Checks the byte at pos that is not plain (and not the closing quote) and returns how many bytes
   it begins; 0 after a failure. */
static size_t check_special(sonde__json_reader *reader, size_t pos)
{
    int c = byte_at(reader, pos);
    if (c == '\\') {
        reader->escaped = true;
        return check_escape(reader, pos);
    }
    if (c < 0) {
        fail(reader, pos, "string is not closed");
        return 0;
    }
    if (c < 0x20) {
        fail(reader, pos, "control character in a string");
        return 0;
    }
    size_t step = sonde__utf8_sequence(reader->text + pos, reader->len - pos);
    if (step == 0)
        fail(reader, pos, "not UTF-8");
    return step;
}

/* Reads the string whose opening quote is at pos. */
static bool read_string(sonde__json_reader *reader)
{
    size_t begin = reader->pos + 1;
    size_t pos = begin;
    reader->escaped = false;
    for (;;) {
        pos += sonde__json_plain_run(reader->text + pos, reader->len - pos);
        if (byte_at(reader, pos) == '"')
            break;
        size_t step = check_special(reader, pos);
        if (step == 0)
            return false;
        pos += step;
    }
    reader->slice = reader->text + begin;
    reader->slice_len = pos - begin;
    reader->pos = pos + 1;
    return true;
}

static size_t skip_digits(const sonde__json_reader *reader, size_t pos)
{
    while (pos < reader->len && reader->text[pos] >= '0' && reader->text[pos] <= '9')
        pos++;
    return pos;
}

/* A leading zero stands alone; whatever follows it is found wrong as what follows a value. */
static sonde__json_token read_number(sonde__json_reader *reader)
{
    size_t begin = reader->pos;
    size_t pos = begin + (reader->text[begin] == '-');
    size_t end = byte_at(reader, pos) == '0' ? pos + 1 : skip_digits(reader, pos);
    if (end == pos)
        return fail(reader, pos, "digit expected");
    if (byte_at(reader, end) == '.') {
        pos = end + 1;
        end = skip_digits(reader, pos);
        if (end == pos)
            return fail(reader, pos, "digit expected");
    }
    if ((byte_at(reader, end) | 0x20) == 'e') {
        pos = end + 1;
        int sign = byte_at(reader, pos);
        pos += sign == '-' || sign == '+';
        end = skip_digits(reader, pos);
        if (end == pos)
            return fail(reader, pos, "digit expected");
    }
    reader->slice = reader->text + begin;
    reader->slice_len = end - begin;
    reader->pos = end;
    reader->state = AFTER_VALUE;
    return SONDE__JSON_NUMBER;
}

static sonde__json_token read_literal(sonde__json_reader *reader, const char *literal,
                                      sonde__json_token token)
{
    size_t pos = reader->pos;
    for (; *literal; literal++, pos++)
        if (byte_at(reader, pos) != *literal)
            return fail(reader, pos, "value expected");
    reader->pos = pos;
    reader->state = AFTER_VALUE;
    return token;
}

static sonde__json_token begin_level(sonde__json_reader *reader, bool is_object)
{
    if (reader->depth == SONDE__JSON_READ_DEPTH_MAX)
        return fail(reader, reader->pos, "nested too deeply");
    uint64_t bit = UINT64_C(1) << reader->depth;
    reader->is_object = is_object ? reader->is_object | bit : reader->is_object & ~bit;
    reader->depth++;
    reader->pos++;
    reader->state = is_object ? FIRST_KEY : FIRST_ELEMENT;
    return is_object ? SONDE__JSON_OBJECT_BEGIN : SONDE__JSON_ARRAY_BEGIN;
}

static sonde__json_token end_level(sonde__json_reader *reader, sonde__json_token token)
{
    reader->depth--;
    reader->pos++;
    reader->state = AFTER_VALUE;
    return token;
}

/* c is the byte at pos. */
static sonde__json_token read_value(sonde__json_reader *reader, int c)
{
    switch (c) {
    case '"':
        if (!read_string(reader))
            return SONDE__JSON_ERROR;
        reader->state = AFTER_VALUE;
        return SONDE__JSON_STRING;
    case '{':
        return begin_level(reader, true);
    case '[':
        return begin_level(reader, false);
    case 't':
        return read_literal(reader, "true", SONDE__JSON_TRUE);
    case 'f':
        return read_literal(reader, "false", SONDE__JSON_FALSE);
    case 'n':
        return read_literal(reader, "null", SONDE__JSON_NULL);
    default:
        if (c == '-' || (c >= '0' && c <= '9'))
            return read_number(reader);
        return fail(reader, reader->pos, "value expected");
    }
}

/* A key and the colon after it; c is the byte at pos. */
static sonde__json_token read_key(sonde__json_reader *reader, int c)
{
    if (c != '"')
        return fail(reader, reader->pos, "key expected");
    if (!read_string(reader))
        return SONDE__JSON_ERROR;
    if (next_byte(reader) != ':')
        return fail(reader, reader->pos, "':' expected");
    reader->pos++;
    reader->state = BEFORE_VALUE;
    return SONDE__JSON_KEY;
}

static sonde__json_token read_after_value(sonde__json_reader *reader, int c)
{
    if (reader->depth == 0) {
        if (c >= 0)
            return fail(reader, reader->pos, "end of text expected");
        reader->state = ENDED;
        return SONDE__JSON_END;
    }
    bool in_object = reader->is_object >> (reader->depth - 1) & 1;
    if (c == ',') {
        reader->pos++;
        c = next_byte(reader);
        return in_object ? read_key(reader, c) : read_value(reader, c);
    }
    if (in_object)
        return c == '}' ? end_level(reader, SONDE__JSON_OBJECT_END)
                        : fail(reader, reader->pos, "',' or '}' expected");
    return c == ']' ? end_level(reader, SONDE__JSON_ARRAY_END)
                    : fail(reader, reader->pos, "',' or ']' expected");
}

sonde__json_token sonde__json_next(sonde__json_reader *reader)
{
    if (reader->state == FAILED)
        return SONDE__JSON_ERROR;
    int c = next_byte(reader);
    switch (reader->state) {
    case BEFORE_VALUE:
        return read_value(reader, c);
    case FIRST_ELEMENT:
        return c == ']' ? end_level(reader, SONDE__JSON_ARRAY_END) : read_value(reader, c);
    case FIRST_KEY:
        return c == '}' ? end_level(reader, SONDE__JSON_OBJECT_END) : read_key(reader, c);
    case AFTER_VALUE:
        return read_after_value(reader, c);
    default:
        return SONDE__JSON_END;
    }
}

bool sonde__json_skip(sonde__json_reader *reader)
{
    if (reader->state == BEFORE_VALUE)
        sonde__json_next(reader);
    if (reader->state != FIRST_KEY && reader->state != FIRST_ELEMENT)
        return reader->state != FAILED;
    unsigned outside = reader->depth - 1;
    while (reader->depth > outside)
        if (sonde__json_next(reader) == SONDE__JSON_ERROR)
            return false;
    return true;
}

static uint32_t decode_hex4(const char *text)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)hex_digit(text[i]);
    return unit;
}

/* The code point of the \u escape at *text, which a second one may complete. Moves *text on. */
static uint32_t decode_unicode(const char **text, const char *end)
{
    uint32_t unit = decode_hex4(*text + 2);
    *text += 6;
    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    if (unit < 0xdc00 && end - *text >= 6 && memcmp(*text, "\\u", 2) == 0) {
        uint32_t low = decode_hex4(*text + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *text += 6;
            return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return REPLACEMENT_CHARACTER;
}

/* Decodes one byte or one escape of a checked slice; returns its length and moves *text on. */
static size_t decode_next(const char **text, const char *end, char out[4])
{
    if (**text != '\\') {
        out[0] = *(*text)++;
        return 1;
    }
    char letter = (*text)[1];
    if (letter == 'u')
        return sonde__utf8_encode(decode_unicode(text, end), out);
    static const char letters[] = "bfnrt";
    const char *found = strchr(letters, letter);
    out[0] = letter;
    if (found)
        out[0] = "\b\f\n\r\t"[found - letters];
    *text += 2;
    return 1;
}

size_t sonde__json_unescape(const sonde__json_reader *reader, char *out)
{
    if (!reader->escaped) {
        memcpy(out, reader->slice, reader->slice_len);
        return reader->slice_len;
    }
    size_t len = 0;
    const char *end = reader->slice + reader->slice_len;
    for (const char *text = reader->slice; text < end;) {
        char decoded[4];
        size_t step = decode_next(&text, end, decoded);
        memcpy(out + len, decoded, step);
        len += step;
    }
    return len;
}

bool sonde__json_equals(const sonde__json_reader *reader, const char *text)
{
    size_t left = strlen(text);
    if (!reader->escaped)
        return left == reader->slice_len && memcmp(text, reader->slice, left) == 0;
    const char *end = reader->slice + reader->slice_len;
    for (const char *slice = reader->slice; slice < end;) {
        char decoded[4];
        size_t step = decode_next(&slice, end, decoded);
        if (step > left || memcmp(text, decoded, step) != 0)
            return false;
        text += step;
        left -= step;
    }
    return left == 0;
}

sonde_status sonde__json_get_int(const sonde__json_reader *reader, int64_t *out)
{
    return sonde__parse_int(reader->slice, reader->slice_len, out);
}

sonde_status sonde__json_get_uint(const sonde__json_reader *reader, uint64_t *out)
{
    return sonde__parse_uint(reader->slice, reader->slice_len, out);
}

sonde_status sonde__json_get_double(const sonde__json_reader *reader, double *out)
{
    return sonde__parse_double(reader->slice, reader->slice_len, out);
}
