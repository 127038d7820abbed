/* SPDX-License-Identifier: Apache-2.0 */
/* Values as people read and write them. */
#ifndef SONDE_CLI_UNITS_H
#define SONDE_CLI_UNITS_H

#include "sonde/fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "21.7 MiB", "12.5 %", "1,234", "3.2 s" by the field's unit. */
void sonde__format_field(const sonde_field_info *info, double value, char *out, size_t cap);

/* "64.2 us", "1.20 ms", "2.5 s". */
void sonde__format_duration(uint64_t ns, char *out, size_t cap);

/* "1s", "250ms", "1.5m", "100us", "2h"; a bare number is seconds. False when it is none of these,
   zero or longer than a year. */
bool sonde__parse_duration(const char *text, uint64_t *ns);

/* A whole number from least to most. */
bool sonde__parse_count(const char *text, long least, long most, long *out);

#endif
