/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of ten to 128 bits, for exact conversion between double and decimal text. */
#ifndef SONDE_BASE_POW10_TABLE_H
#define SONDE_BASE_POW10_TABLE_H

#include <stdint.h>

enum {
    SONDE__POW10_MIN = -292,
    SONDE__POW10_MAX = 324,
};

/* The 128-bit number hi * 2^64 + lo. */
typedef struct sonde__pow10 {
    uint64_t hi;
    uint64_t lo;
} sonde__pow10;

/* The entry for e is 10^e, scaled by the power of two that brings it into [2^127, 2^128), rounded
   up: ceil(10^e * 2^(127 - floor(log2(10^e)))). It is exact for 0 <= e <= 55. */
extern const sonde__pow10 sonde__pow10_table[SONDE__POW10_MAX - SONDE__POW10_MIN + 1];

/* The entry for 10^exponent; the exponent is in [SONDE__POW10_MIN, SONDE__POW10_MAX]. */
static inline sonde__pow10 sonde__pow10_get(int exponent)
{
    return sonde__pow10_table[exponent - SONDE__POW10_MIN];
}

/* floor(log2(10^exponent)) for exponents of the table: 1741647 / 2^19 is nearly log2(10). */
static inline int sonde__floor_log2_pow10(int exponent)
{
    return (exponent * 1741647) >> 19;
}

#endif
