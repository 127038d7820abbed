/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming JSON writer into a buffer. Commas and colons are its business; the caller nests begin
   and end calls correctly (asserted). Text is made valid: each byte that is not part of well-formed
   UTF-8 becomes U+FFFD, control characters, U+2028 and U+2029 are escaped. NaN and infinities
   become null. Several values may follow one another at the top; what separates them is the
   caller's. It writes to the buffer between them directly. Failures are those of the buffer. */
#ifndef SONDE_BASE_JSON_WRITE_H
#define SONDE_BASE_JSON_WRITE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum { SONDE__JSON_DEPTH_MAX = 64 };

typedef struct sonde__json {
    sonde__buf *buf;
    unsigned depth;
    bool comma;         /* the next value or key is preceded by a comma */
    bool after_key;     /* a key was written, its value is due */
    uint64_t is_object; /* bit n: level n is an object */
} sonde__json;

void sonde__json_init(sonde__json *json, sonde__buf *buf);

void sonde__json_begin_object(sonde__json *json);
void sonde__json_end_object(sonde__json *json);
void sonde__json_begin_array(sonde__json *json);
void sonde__json_end_array(sonde__json *json);

void sonde__json_key(sonde__json *json, const char *key);
void sonde__json_key_n(sonde__json *json, const char *key, size_t len);

void sonde__json_string(sonde__json *json, const char *text);
void sonde__json_string_n(sonde__json *json, const char *text, size_t len);
void sonde__json_uint(sonde__json *json, uint64_t value);
void sonde__json_int(sonde__json *json, int64_t value);
void sonde__json_double(sonde__json *json, double value);
void sonde__json_bool(sonde__json *json, bool value);
void sonde__json_null(sonde__json *json);

/* text is already one valid JSON value. */
void sonde__json_raw(sonde__json *json, const char *text, size_t len);

#endif
