/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text as numbers, without locale or allocation. The text is a number by the grammar of
   JSON (RFC 8259, section 6), which the caller has checked; len is at least 1. */
#ifndef SONDE_BASE_NUMBER_PARSE_H
#define SONDE_BASE_NUMBER_PARSE_H

#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>

/* EBADDATA when there is a fraction or exponent (1.0, 1e3), ELIMIT when it does not fit. */
sonde_status sonde__parse_int(const char *text, size_t len, int64_t *out);
sonde_status sonde__parse_uint(const char *text, size_t len, uint64_t *out);

/* Rounded to the nearest double, ties to even, for any number of digits. ELIMIT when it overflows
   to infinity; what is too small becomes 0. */
sonde_status sonde__parse_double(const char *text, size_t len, double *out);

#endif
