/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian base-128 integers. A decoder never reads past its end and refuses more than ten
   bytes. */
#ifndef SONDE_BASE_VARINT_H
#define SONDE_BASE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SONDE__VARINT_MAX = 10 };

/* Writes at most SONDE__VARINT_MAX bytes; returns the end of what was written. */
static inline uint8_t *sonde__varint_put(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

static inline uint64_t sonde__zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t sonde__unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Reads one integer at *in and moves *in behind it. False, *in undefined, when the bytes end before
   the integer does or it does not fit into 64 bits. */
static inline bool sonde__varint_get(const uint8_t **in, const uint8_t *end, uint64_t *out)
{
    const uint8_t *p = *in;
    if (p < end && *p < 0x80) {
        *out = *p;
        *in = p + 1;
        return true;
    }
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint64_t byte = *p++;
        if (shift == 63 && byte > 1)
            return false;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            *in = p;
            return true;
        }
    }
    return false;
}

#endif
