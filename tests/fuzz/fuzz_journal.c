/* SPDX-License-Identifier: Apache-2.0 */
/* Journals: any bytes are scanned; then, since a random checksum is never right, each piece that
   looks like a frame is given a good one and decoded. */
#include "fuzz.h"

#include "base/crc32c.h"
#include "record/decode.h"
#include "record/frame_scan.h"

#include <stdlib.h>
#include <string.h>

static void decode(const uint8_t *frame)
{
    sonde__decoder decoder = {0};
    if (sonde__decoder_start(&decoder, frame) == SONDE_OK) {
        sonde__entry entry;
        while (sonde__decoder_next(&decoder, &entry)) {
            const uint8_t *at = entry.attrs;
            const uint8_t *end = at + entry.attrs_len;
            sonde__decoded_attr attr;
            volatile size_t sum = entry.name.len ? (size_t)(uint8_t)entry.name.text[0] : 0;
            while (at && sonde__decode_attr(&decoder, &at, end, &attr))
                if (attr.type == SONDE_ATTR_STRING && attr.attr.value.s.len > 0)
                    sum = sum + (size_t)(uint8_t)attr.attr.value.s.data[attr.attr.value.s.len - 1];
        }
    }
    sonde__decoder_free(&decoder);
}

static void visit(void *user, const sonde__frame_header *header, const uint8_t *frame,
                  uint64_t offset)
{
    (void)user;
    (void)header;
    (void)offset;
    decode(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sonde__journal_scan scan = {.fd = -1, .data = data, .size = size};
    sonde__frame_scan(&scan, visit, NULL);
    sonde__frame_header header;
    if (size < sizeof header)
        return 0;
    uint8_t *frame = malloc(size);
    if (!frame)
        return 0;
    memcpy(frame, data, size);
    memcpy(&header, frame, sizeof header);
    header.magic = SONDE__FRAME_MAGIC;
    header.length = (uint32_t)size;
    header.version = SONDE__FRAME_VERSION;
    header.type = SONDE__FRAME_RECORDS;
    size_t skip = offsetof(sonde__frame_header, crc) + sizeof header.crc;
    memcpy(frame, &header, sizeof header);
    header.crc = sonde__crc32c(0, frame + skip, size - skip);
    memcpy(frame, &header, sizeof header);
    size_t length;
    if (sonde__frame_check(frame, size, &length) == SONDE_OK)
        decode(frame);
    free(frame);
    return 0;
}
