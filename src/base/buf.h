/* SPDX-License-Identifier: Apache-2.0 */
/* A growable byte buffer with a sticky failure: writers append without checking, the owner checks
   once at the end. After a failure nothing more is appended, so what is there is a clean prefix. */
#ifndef SONDE_BASE_BUF_H
#define SONDE_BASE_BUF_H

#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct sonde__buf {
    char *data;
    size_t len;
    size_t cap;
    size_t limit;        /* never grows beyond this many bytes */
    bool fixed;          /* data belongs to the caller and cannot grow */
    sonde_status status; /* SONDE_OK, SONDE_ENOMEM or SONDE_ELIMIT */
} sonde__buf;

/* An empty buffer that grows on demand up to limit bytes. Allocates nothing yet. */
void sonde__buf_init(sonde__buf *buf, size_t limit);

/* A buffer over the caller's memory; appending beyond cap fails with SONDE_ELIMIT. */
void sonde__buf_init_fixed(sonde__buf *buf, char *data, size_t cap);

/* Frees what init allocated. The buffer may be initialised again. */
void sonde__buf_free(sonde__buf *buf);

/* Empties the buffer and clears a failure; keeps the memory. */
void sonde__buf_clear(sonde__buf *buf);

/* Hands the text over, NUL-terminated, to be freed with free(), and its length without the NUL; or
   frees the buffer and returns why it failed. For buffers that grow. */
sonde_status sonde__buf_give(sonde__buf *buf, char **text, size_t *len);

/* Makes room for extra more bytes. False, with status set, when that is not possible. */
bool sonde__buf_grow(sonde__buf *buf, size_t extra);

/* printf into the buffer; for diagnostics and tables, never for JSON or on a hot path. */
void sonde__buf_printf(sonde__buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline bool sonde__buf_reserve(sonde__buf *buf, size_t extra)
{
    return buf->status == SONDE_OK && (buf->cap - buf->len >= extra || sonde__buf_grow(buf, extra));
}

static inline void sonde__buf_append(sonde__buf *buf, const void *bytes, size_t len)
{
    if (len > 0 && sonde__buf_reserve(buf, len)) {
        memcpy(buf->data + buf->len, bytes, len);
        buf->len += len;
    }
}

static inline void sonde__buf_char(sonde__buf *buf, char c)
{
    if (sonde__buf_reserve(buf, 1))
        buf->data[buf->len++] = c;
}

static inline void sonde__buf_text(sonde__buf *buf, const char *text)
{
    sonde__buf_append(buf, text, strlen(text));
}

#endif
