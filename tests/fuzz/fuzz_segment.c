/* SPDX-License-Identifier: Apache-2.0 */
/* Segments: the input is laid over a small valid one, as pairs of place and bytes would be by
   whoever writes to it; what passes the checks is drained. */
#include "fuzz.h"

#include "record/recover.h"
#include "record/segment_image.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAMES = SONDE__SEGMENT_HEADER_BYTES,
    NAMES_BYTES = 4096,
    LANE = NAMES + NAMES_BYTES,
    SLOTS = LANE + 4096,
    RING = SLOTS + 4 * SONDE__SLOT_BYTES,
    RING_BYTES = 4096,
    SIZE = RING + RING_BYTES,
};

static void make_valid(uint8_t *base)
{
    memset(base, 0, SIZE);
    sonde__segment_header *header = (sonde__segment_header *)(void *)base;
    memcpy(header->magic, SONDE__SEGMENT_MAGIC, sizeof header->magic);
    header->layout = SONDE__SEGMENT_LAYOUT;
    header->header_bytes = SONDE__SEGMENT_HEADER_BYTES;
    header->size = SIZE;
    atomic_store(&header->ready, 1);
    header->names_offset = NAMES;
    header->names_max = 16;
    header->names_bytes = 1024;
    atomic_store(&header->names_count, 1);
    header->lanes_offset = LANE;
    header->lane_stride = 4096;
    header->lanes_max = 1;
    atomic_store(&header->lanes_used, 1);
    header->journal_path[0] = '/';
    sonde__lane_header *lane = (sonde__lane_header *)(void *)(base + LANE);
    lane->ready = 1;
    lane->slots_offset = SLOTS;
    lane->slot_count = 4;
    lane->ring_offset = RING;
    lane->ring_bytes = RING_BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *base = aligned_alloc(64, (SIZE + 63) & ~63);
    if (!base)
        return 0;
    make_valid(base);
    /* the first byte says how much of the input goes over the header and the lane; the rest is the
       ring from its start, with the head behind it */
    size_t patches = size > 0 ? (size_t)(data[0] % 8) * 4 : 0;
    size_t at = size > 0 ? 1 : 0;
    sonde__lane_header *lane = (sonde__lane_header *)(void *)(base + LANE);
    size_t ring = size > at + patches ? size - at - patches : 0;
    ring = ring > RING_BYTES ? RING_BYTES : ring;
    if (ring > 0)
        memcpy(base + RING, data + at + patches, ring);
    atomic_store(&lane->head, ring & ~(size_t)7);
    for (size_t i = 0; i + 4 <= patches && at + i + 4 <= size; i += 4) {
        size_t place = (size_t)(data[at + i] | data[at + i + 1] << 8);
        base[place < SIZE ? place : LANE + place % 4096] = data[at + i + 2];
    }
    char reason[SONDE__REASON_MAX];
    if (sonde__segment_image_check(base, SIZE, reason) == SONDE_OK) {
        sonde__segment_image image = {.base = base, .size = SIZE, .fd = -1};
        sonde__buf out;
        sonde__buf_init(&out, 1 << 20);
        sonde__segment_frames(&image, true, &out);
        sonde__buf_free(&out);
    }
    free(base);
    return 0;
}
