/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers, written front to back into a buffer. A message whose length is not known before
   is begun with room for its length and closed when it is complete; the length then takes five
   bytes, which every decoder reads. Short ones have room for one
   byte, and are moved where that was too little. */
#ifndef SONDE_BASE_PROTOBUF_H
#define SONDE_BASE_PROTOBUF_H

#include "base/buf.h"
#include "base/varint.h"

#include <stdint.h>
#include <string.h>

enum { SONDE__PB_VARINT = 0, SONDE__PB_FIXED64 = 1, SONDE__PB_BYTES = 2 };
enum { SONDE__PB_LENGTH_BYTES = 5, SONDE__PB_HEAD_MAX = 2 * SONDE__VARINT_MAX };

static inline void sonde__pb_raw_varint(sonde__buf *buf, uint64_t value)
{
    if (!sonde__buf_reserve(buf, SONDE__VARINT_MAX))
        return;
    uint8_t *at = (uint8_t *)buf->data + buf->len;
    buf->len += (size_t)(sonde__varint_put(at, value) - at);
}

/* Writes a field's number and type at out; returns the end of it. */
static inline uint8_t *sonde__pb_put_tag(uint8_t *out, unsigned field, unsigned type)
{
    return sonde__varint_put(out, (uint64_t)field << 3 | type);
}

static inline void sonde__pb_uint(sonde__buf *buf, unsigned field, uint64_t value)
{
    if (!sonde__buf_reserve(buf, SONDE__PB_HEAD_MAX))
        return;
    uint8_t *at = (uint8_t *)buf->data + buf->len;
    uint8_t *end = sonde__pb_put_tag(at, field, SONDE__PB_VARINT);
    buf->len += (size_t)(sonde__varint_put(end, value) - at);
}

/* sint32 and sint64. */
static inline void sonde__pb_sint(sonde__buf *buf, unsigned field, int64_t value)
{
    sonde__pb_uint(buf, field, sonde__zigzag(value));
}

static inline void sonde__pb_fixed64(sonde__buf *buf, unsigned field, uint64_t value)
{
    if (!sonde__buf_reserve(buf, SONDE__PB_HEAD_MAX))
        return;
    uint8_t *at = (uint8_t *)buf->data + buf->len;
    uint8_t *end = sonde__pb_put_tag(at, field, SONDE__PB_FIXED64);
    for (int i = 0; i < 8; i++)
        *end++ = (uint8_t)(value >> 8 * i);
    buf->len += (size_t)(end - at);
}

static inline void sonde__pb_double(sonde__buf *buf, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    sonde__pb_fixed64(buf, field, bits);
}

static inline void sonde__pb_bytes(sonde__buf *buf, unsigned field, const void *data, size_t len)
{
    if (!sonde__buf_reserve(buf, SONDE__PB_HEAD_MAX + len))
        return;
    uint8_t *at = (uint8_t *)buf->data + buf->len;
    uint8_t *end = sonde__pb_put_tag(at, field, SONDE__PB_BYTES);
    end = sonde__varint_put(end, len);
    if (len > 0)
        memcpy(end, data, len);
    buf->len += (size_t)(end - at) + len;
}

/* Begins a message; what is returned is given to end. */
static inline size_t sonde__pb_begin(sonde__buf *buf, unsigned field)
{
    if (sonde__buf_reserve(buf, SONDE__PB_HEAD_MAX)) {
        uint8_t *at = (uint8_t *)buf->data + buf->len;
        uint8_t *end = sonde__pb_put_tag(at, field, SONDE__PB_BYTES);
        buf->len += (size_t)(end - at) + SONDE__PB_LENGTH_BYTES; /* written by end */
    }
    return buf->len;
}

static inline void sonde__pb_end(sonde__buf *buf, size_t begun)
{
    if (buf->status != SONDE_OK)
        return;
    uint8_t *at = (uint8_t *)buf->data + begun - SONDE__PB_LENGTH_BYTES;
    uint64_t len = buf->len - begun;
    for (int i = 0; i < SONDE__PB_LENGTH_BYTES; i++, len >>= 7)
        at[i] = (uint8_t)((len & 0x7f) | (i + 1 < SONDE__PB_LENGTH_BYTES ? 0x80 : 0));
}

/* The same for messages that are mostly shorter than 128 bytes. */
static inline size_t sonde__pb_begin_short(sonde__buf *buf, unsigned field)
{
    if (sonde__buf_reserve(buf, SONDE__PB_HEAD_MAX)) {
        uint8_t *at = (uint8_t *)buf->data + buf->len;
        buf->len += (size_t)(sonde__pb_put_tag(at, field, SONDE__PB_BYTES) - at) + 1;
    }
    return buf->len;
}

static inline void sonde__pb_end_short(sonde__buf *buf, size_t begun)
{
    size_t len = buf->len - begun;
    if (buf->status != SONDE_OK)
        return;
    if (len < 0x80) {
        buf->data[begun - 1] = (char)len;
        return;
    }
    uint8_t head[SONDE__VARINT_MAX];
    size_t more = (size_t)(sonde__varint_put(head, len) - head) - 1;
    if (!sonde__buf_reserve(buf, more))
        return;
    memmove(buf->data + begun + more, buf->data + begun, len);
    memcpy(buf->data + begun - 1, head, more + 1);
    buf->len += more;
}

#endif
