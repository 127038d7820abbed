/* SPDX-License-Identifier: Apache-2.0 */
/* Pull reader over a whole JSON text in memory: validates as it goes (RFC 8259, UTF-8), allocates
   nothing, and hands out slices of the input. Call next until END or ERROR. */
#ifndef SONDE_BASE_JSON_READ_H
#define SONDE_BASE_JSON_READ_H

#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sonde__json_token {
    SONDE__JSON_ERROR, /* reader->error and reader->pos tell what and where; stays so */
    SONDE__JSON_END,   /* one complete value was read and only white space follows */
    SONDE__JSON_OBJECT_BEGIN,
    SONDE__JSON_OBJECT_END,
    SONDE__JSON_ARRAY_BEGIN,
    SONDE__JSON_ARRAY_END,
    SONDE__JSON_KEY, /* and its colon */
    SONDE__JSON_STRING,
    SONDE__JSON_NUMBER,
    SONDE__JSON_TRUE,
    SONDE__JSON_FALSE,
    SONDE__JSON_NULL,
} sonde__json_token;

enum {
    SONDE__JSON_READ_DEPTH_MAX = 64,
    SONDE__JSON_READ_SIZE_MAX = 1 << 30, /* bytes of one text */
};

typedef struct sonde__json_reader {
    const char *text;
    size_t len;
    size_t pos;        /* offset of the next byte; of the offending byte after ERROR */
    const char *slice; /* KEY, STRING: between the quotes, escapes as written; NUMBER: its text */
    size_t slice_len;
    bool escaped;      /* the slice of a KEY or STRING holds escapes: use unescape */
    const char *error; /* static text, NULL while all is well */
    unsigned depth;
    uint64_t is_object; /* bit n: level n is an object */
    int state;          /* what may come next */
} sonde__json_reader;

void sonde__json_reader_init(sonde__json_reader *reader, const char *text, size_t len);

sonde__json_token sonde__json_next(sonde__json_reader *reader);

/* After OBJECT_BEGIN, ARRAY_BEGIN or KEY, and at the start: skips to the end of that value
   (validating it). After any other token there is nothing to skip. False on ERROR. */
bool sonde__json_skip(sonde__json_reader *reader);

/* Decodes the current KEY or STRING into out (at most slice_len bytes are written; no NUL added).
   Returns its length. Lone surrogates become U+FFFD. */
size_t sonde__json_unescape(const sonde__json_reader *reader, char *out);

/* True when the current KEY or STRING equals text (escapes considered). */
bool sonde__json_equals(const sonde__json_reader *reader, const char *text);

/* The current NUMBER. EBADDATA when it is not written as an integer (1.0, 1e3), ELIMIT when it does
   not fit. */
sonde_status sonde__json_get_int(const sonde__json_reader *reader, int64_t *out);
sonde_status sonde__json_get_uint(const sonde__json_reader *reader, uint64_t *out);

/* The current NUMBER, correctly rounded; ELIMIT when it overflows to infinity. */
sonde_status sonde__json_get_double(const sonde__json_reader *reader, double *out);

#endif
