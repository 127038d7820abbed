/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_write.h"

#include "base/number_format.h"

#include <assert.h>
#include <stdbool.h>

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

size_t sonde__csv_text_to(char *out, const char *text, size_t len)
{
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

size_t sonde__format_decimal(uint64_t value, unsigned decimals, char *out)
{
    static const uint32_t powers[] = {1,      10,      100,      1000,      10000,
                                      100000, 1000000, 10000000, 100000000, 1000000000};
    assert(decimals >= 1 && decimals <= 9);
    size_t len = sonde__format_uint(value / powers[decimals], out);
    uint32_t fraction = (uint32_t)(value % powers[decimals]);
    out[len] = '.';
    for (unsigned i = decimals; i > 0; i--) {
        out[len + i] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    return len + 1 + decimals;
}
