/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers, written front to back into a buffer. A message whose length is not known before
   is begun with room for its length and closed when it is complete; the length then takes five
   bytes, which every decoder reads. Short ones are moved instead (SHORT), and take one. */
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

static inline void sonde__pb_tag(sonde__buf *buf, unsigned field, unsigned type)
{
    sonde__pb_raw_varint(buf, (uint64_t)field << 3 | type);
}

static inline void sonde__pb_uint(sonde__buf *buf, unsigned field, uint64_t value)
{
    sonde__pb_tag(buf, field, SONDE__PB_VARINT);
    sonde__pb_raw_varint(buf, value);
}

/* sint32 and sint64. */
static inline void sonde__pb_sint(sonde__buf *buf, unsigned field, int64_t value)
{
    sonde__pb_uint(buf, field, sonde__zigzag(value));
}

static inline void sonde__pb_fixed64(sonde__buf *buf, unsigned field, uint64_t value)
{
    sonde__pb_tag(buf, field, SONDE__PB_FIXED64);
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    sonde__buf_append(buf, bytes, sizeof bytes);
}

static inline void sonde__pb_double(sonde__buf *buf, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    sonde__pb_fixed64(buf, field, bits);
}

static inline void sonde__pb_bytes(sonde__buf *buf, unsigned field, const void *data, size_t len)
{
    sonde__pb_tag(buf, field, SONDE__PB_BYTES);
    sonde__pb_raw_varint(buf, len);
    sonde__buf_append(buf, data, len);
}

/* Begins a message; what is returned is given to end. */
static inline size_t sonde__pb_begin(sonde__buf *buf, unsigned field)
{
    sonde__pb_tag(buf, field, SONDE__PB_BYTES);
    static const char room[SONDE__PB_LENGTH_BYTES];
    sonde__buf_append(buf, room, sizeof room);
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
    sonde__pb_tag(buf, field, SONDE__PB_BYTES);
    sonde__buf_char(buf, 0);
    return buf->len;
}

static inline void sonde__pb_end_short(sonde__buf *buf, size_t begun)
{
    uint8_t head[SONDE__VARINT_MAX];
    size_t len = buf->len - begun;
    size_t more = (size_t)(sonde__varint_put(head, len) - head) - 1;
    if (buf->status != SONDE_OK || (more > 0 && !sonde__buf_reserve(buf, more)))
        return;
    if (more > 0)
        memmove(buf->data + begun + more, buf->data + begun, len);
    memcpy(buf->data + begun - 1, head, more + 1);
    buf->len += more;
}

#endif
