/* SPDX-License-Identifier: Apache-2.0 */
/* Well-formed means table 3-7 of the Unicode standard: only the second byte has a range that
   depends on the first, and that range is what excludes overlong forms, surrogates and what is
   above U+10FFFF. */
#include "base/utf8.h"

#include <string.h>

static int is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

static size_t sequence_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2)
        return 0;
    if (first < 0xe0)
        return 2;
    if (first < 0xf0)
        return 3;
    return first < 0xf5 ? 4 : 0;
}

static int second_byte_fits(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return is_continuation(second);
    }
}

size_t sonde__utf8_sequence(const char *text, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t need = sequence_length(bytes[0]);
    if (need <= 1)
        return need;
    if (need > len || !second_byte_fits(bytes[0], bytes[1]))
        return 0;
    for (size_t i = 2; i < need; i++)
        if (!is_continuation(bytes[i]))
            return 0;
    return need;
}

size_t sonde__utf8_valid_prefix(const char *text, size_t len)
{
    size_t pos = 0;
    while (pos < len) {
        uint64_t word;
        if (len - pos >= sizeof word) {
            memcpy(&word, text + pos, sizeof word);
            if ((word & 0x8080808080808080u) == 0) {
                pos += sizeof word;
                continue;
            }
        }
        size_t step = sonde__utf8_sequence(text + pos, len - pos);
        if (step == 0)
            break;
        pos += step;
    }
    return pos;
}

size_t sonde__utf8_encode(uint32_t code_point, char out[4])
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xc0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xe0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code_point & 0x3f));
    return 4;
}
