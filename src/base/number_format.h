/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as decimal text, without locale, allocation or printf. */
#ifndef SONDE_BASE_NUMBER_FORMAT_H
#define SONDE_BASE_NUMBER_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum {
    SONDE__UINT_TEXT_MAX = 20,   /* 18446744073709551615 */
    SONDE__INT_TEXT_MAX = 20,    /* -9223372036854775808 */
    SONDE__DOUBLE_TEXT_MAX = 25, /* -2.2250738585072014e-308, and room */
};

/* Each writes at most its MAX bytes, no NUL, and returns how many. */
size_t sonde__format_uint(uint64_t value, char *out);
size_t sonde__format_int(int64_t value, char *out);

/* The shortest decimal that reads back as exactly value (finite), in Python's repr form: "0.1",
   "1e+22", "100.0" with at least one decimal, exponent form below 1e-4 and from 1e16. */
size_t sonde__format_double(double value, char *out);

enum { SONDE__DECIMAL_TEXT_MAX = 22 };

/* value / 10^decimals (1 to 9) with all its decimals: 1234567, 6 is "1.234567". Writes at most
   SONDE__DECIMAL_TEXT_MAX bytes, no NUL, and returns how many. */
size_t sonde__format_decimal(uint64_t value, unsigned decimals, char *out);

#endif
