/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_BASE_BASE64_H
#define SONDE_BASE_BASE64_H

#include "base/buf.h"

#include <stdint.h>

/* Appends bytes as base64 (RFC 4648, with padding). */
static inline void sonde__base64(sonde__buf *out, const void *data, size_t len)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *bytes = data;
    for (size_t i = 0; i < len; i += 3) {
        size_t have = len - i < 3 ? len - i : 3;
        uint32_t word = (uint32_t)bytes[i] << 16;
        word |= have > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        word |= have > 2 ? bytes[i + 2] : 0;
        char text[4] = {letters[word >> 18], letters[word >> 12 & 63], letters[word >> 6 & 63],
                        letters[word & 63]};
        if (have < 3)
            text[3] = '=';
        if (have < 2)
            text[2] = '=';
        sonde__buf_append(out, text, sizeof text);
    }
}

#endif
