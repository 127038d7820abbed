/* SPDX-License-Identifier: Apache-2.0 */
/* Reading bytes that somebody else wrote. Once they end too early, or do not make sense, good is
   false for ever, and whatever is read is 0: a decoder asks once, at its end. */
#ifndef SONDE_BASE_BYTE_READER_H
#define SONDE_BASE_BYTE_READER_H

#include "base/varint.h"

#include <string.h>

typedef struct sonde__bytes {
    const uint8_t *at;
    const uint8_t *end;
    bool good;
} sonde__bytes;

/* The next len bytes, borrowed; NULL: there are not so many. */
static inline const uint8_t *sonde__bytes_take(sonde__bytes *in, size_t len)
{
    const uint8_t *taken = in->at;
    if (!in->good || (size_t)(in->end - in->at) < len) {
        in->good = false;
        return NULL;
    }
    in->at += len;
    return taken;
}

static inline uint64_t sonde__bytes_varint(sonde__bytes *in)
{
    uint64_t value = 0;
    in->good = in->good && sonde__varint_get(&in->at, in->end, &value);
    return in->good ? value : 0;
}

static inline uint8_t sonde__bytes_byte(sonde__bytes *in)
{
    const uint8_t *byte = sonde__bytes_take(in, 1);
    return byte ? *byte : 0;
}

static inline double sonde__bytes_double(sonde__bytes *in)
{
    double value = 0;
    const uint8_t *bytes = sonde__bytes_take(in, sizeof value);
    if (bytes)
        memcpy(&value, bytes, sizeof value);
    return value;
}

#endif
