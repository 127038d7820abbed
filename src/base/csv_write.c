/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_write.h"

#include "base/word.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* The four bytes that make quotes necessary, and nothing else. */
static const bool special[256] = {[','] = true, ['"'] = true, ['\n'] = true, ['\r'] = true};

static size_t quote_to(char *out, const char *text, size_t len)
{
    char *at = out;
    *at++ = '"';
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    return (size_t)(at - out);
}

/* Not 0 when one of the eight bytes of word is the one that all of pattern are. */
static uint64_t has_byte(uint64_t word, uint64_t pattern)
{
    uint64_t same = word ^ pattern;
    return (same - EACH_BYTE) & ~same & EACH_BYTE << 7;
}

static bool has_special(uint64_t word)
{
    return (has_byte(word, EACH_BYTE * ',') | has_byte(word, EACH_BYTE * '"') |
            has_byte(word, EACH_BYTE * '\n') | has_byte(word, EACH_BYTE * '\r')) != 0;
}

/* Whole words; the last one overlaps the one before. */
static size_t words_to(char *out, const char *text, size_t len)
{
    for (size_t i = 0; i + 8 < len; i += 8) {
        uint64_t word = sonde__word_at(text + i);
        if (has_special(word))
            return quote_to(out, text, len);
        memcpy(out + i, &word, 8);
    }
    uint64_t last = sonde__word_at(text + len - 8);
    if (has_special(last))
        return quote_to(out, text, len);
    memcpy(out + len - 8, &last, 8);
    return len;
}

size_t sonde__csv_text_to(char *out, const char *text, size_t len)
{
    if (len >= 8)
        return words_to(out, text, len);
    for (size_t i = 0; i < len; i++) {
        if (special[(unsigned char)text[i]])
            return quote_to(out, text, len);
        out[i] = text[i];
    }
    return len;
}

void sonde__csv_text(sonde__buf *buf, const char *text, size_t len)
{
    if (sonde__buf_reserve(buf, 2 * len + 2))
        buf->len += sonde__csv_text_to(buf->data + buf->len, text, len);
}
