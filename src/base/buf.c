/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 256 };

void sonde__buf_init(sonde__buf *buf, size_t limit)
{
    *buf = (sonde__buf){.limit = limit};
}

void sonde__buf_init_fixed(sonde__buf *buf, char *data, size_t cap)
{
    *buf = (sonde__buf){.data = data, .cap = cap, .limit = cap, .fixed = true};
}

void sonde__buf_free(sonde__buf *buf)
{
    if (!buf->fixed)
        free(buf->data);
    *buf = (sonde__buf){.limit = buf->limit};
}

void sonde__buf_clear(sonde__buf *buf)
{
    buf->len = 0;
    buf->status = SONDE_OK;
}

sonde_status sonde__buf_give(sonde__buf *buf, char **text, size_t *len)
{
    sonde__buf_char(buf, '\0');
    sonde_status status = buf->status;
    if (status != SONDE_OK) {
        sonde__buf_free(buf);
        return status;
    }
    *text = buf->data;
    *len = buf->len - 1;
    return SONDE_OK;
}

bool sonde__buf_grow(sonde__buf *buf, size_t extra)
{
    if (extra > buf->limit || buf->len > buf->limit - extra || buf->fixed) {
        buf->status = SONDE_ELIMIT;
        return false;
    }
    size_t need = buf->len + extra;
    size_t cap = buf->cap ? buf->cap : FIRST_CAPACITY;
    if (cap > buf->limit)
        cap = buf->limit;
    while (cap < need)
        cap = cap > buf->limit / 2 ? buf->limit : cap * 2;
    char *data = realloc(buf->data, cap);
    if (!data) {
        buf->status = SONDE_ENOMEM;
        return false;
    }
    buf->data = data;
    buf->cap = cap;
    return true;
}

void sonde__buf_printf(sonde__buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    /* one byte more than the text: vsnprintf ends it with a NUL that does not count */
    if (len >= 0 && sonde__buf_reserve(buf, (size_t)len + 1)) {
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}
