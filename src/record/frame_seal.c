/* SPDX-License-Identifier: Apache-2.0 */
#include "record/frame_seal.h"

#include "base/crc32c.h"

#include <string.h>

/* The checksum covers what is behind it. */
enum { CRC_END = offsetof(sonde__frame_header, crc) + sizeof(uint32_t) };

sonde__frame_header sonde__frame_header_new(unsigned type, uint16_t lane, uint64_t session,
                                            uint64_t run)
{
    return (sonde__frame_header){
        .magic = SONDE__FRAME_MAGIC,
        .version = SONDE__FRAME_VERSION,
        .type = (uint8_t)type,
        .lane = lane,
        .session = session,
        .run = run,
    };
}

uint32_t sonde__frame_seal(sonde__frame_header *header, const struct iovec *body, int count)
{
    size_t length = sizeof *header;
    for (int i = 0; i < count; i++)
        length += body[i].iov_len;
    header->length = (uint32_t)length;
    uint32_t crc =
        sonde__crc32c(0, (const uint8_t *)header + CRC_END, sizeof *header - (size_t)CRC_END);
    for (int i = 0; i < count; i++)
        crc = sonde__crc32c(crc, body[i].iov_base, body[i].iov_len);
    header->crc = crc;
    return header->length;
}

sonde_status sonde__frame_check(const uint8_t *data, size_t avail, size_t *length)
{
    sonde__frame_header header;
    *length = sizeof header;
    if (avail < sizeof header) {
        size_t n = avail < sizeof header.magic ? avail : sizeof header.magic;
        header.magic = SONDE__FRAME_MAGIC;
        return memcmp(data, &header.magic, n) == 0 ? SONDE_EEND : SONDE_EBADDATA;
    }
    memcpy(&header, data, sizeof header);
    if (header.magic != SONDE__FRAME_MAGIC || header.length < sizeof header ||
        header.length > SONDE__FRAME_BYTES_MAX || header.plain_bytes > SONDE__FRAME_BYTES_MAX)
        return SONDE_EBADDATA;
    size_t body = header.plain_bytes ? header.plain_bytes : header.length - sizeof header;
    if (header.string_bytes > body)
        return SONDE_EBADDATA;
    *length = header.length;
    if (avail < header.length)
        return SONDE_EEND;
    if (sonde__crc32c(0, data + CRC_END, header.length - (size_t)CRC_END) != header.crc)
        return SONDE_EBADDATA;
    return SONDE_OK;
}
