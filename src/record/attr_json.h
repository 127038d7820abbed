/* SPDX-License-Identifier: Apache-2.0 */
/* Values of attributes as JSON, as far as every view agrees on them. */
#ifndef SONDE_RECORD_ATTR_JSON_H
#define SONDE_RECORD_ATTR_JSON_H

#include "base/json_write.h"
#include "sonde/attr.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes a number or a truth value. False: it is neither, nothing was written. */
bool sonde__attr_json_scalar(sonde__json *json, const sonde_attr *attr);

/* True when the text is one JSON value, which may be written as it is. */
bool sonde__is_json(const char *text, size_t len);

/* Writes any value: JSON as it is where it is valid, other texts and bytes as a string. */
void sonde__attr_json_value(sonde__json *json, const sonde_attr *attr);

#endif
