/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_write.h"

#include "base/number_format.h"

#include <assert.h>
#include <stdbool.h>

static bool needs_quotes(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r')
            return true;
    return false;
}

void sonde__csv_text(sonde__buf *buf, const char *text, size_t len)
{
    if (!needs_quotes(text, len)) {
        sonde__buf_append(buf, text, len);
        return;
    }
    sonde__buf_char(buf, '"');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            sonde__buf_char(buf, '"');
        sonde__buf_char(buf, text[i]);
    }
    sonde__buf_char(buf, '"');
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
