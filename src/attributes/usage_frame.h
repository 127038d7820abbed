/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a usage file: bytes in, values out. A commit is one or more frames, the last of them
   marked; it counts when all of them are there and whole. All integers are little-endian;
   docs/attributes.md describes the format. */
#ifndef SONDE_ATTRIBUTES_USAGE_FRAME_H
#define SONDE_ATTRIBUTES_USAGE_FRAME_H

#include "attributes/usage_map.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SONDE__USAGE_MAGIC 0x55444e53u /* "SNDU" */

enum {
    SONDE__USAGE_VERSION = 1,
    SONDE__USAGE_DELTAS = 1,   /* to be added to what is there */
    SONDE__USAGE_SNAPSHOT = 2, /* in place of what is there */

    SONDE__USAGE_FLAG_FIRST = 1,  /* of its commit */
    SONDE__USAGE_FLAG_LAST = 2,   /* of its commit */
    SONDE__USAGE_FLAG_COMPAT = 4, /* days change as in the original */

    SONDE__USAGE_FRAME_FULL = 1 << 20, /* a frame is closed when it has this many bytes */
    SONDE__USAGE_FRAME_MAX = 2 << 20,  /* a longer one is not valid */
};

typedef struct sonde__usage_header {
    uint32_t magic;
    uint32_t length; /* of the whole frame */
    uint32_t crc;    /* CRC-32C of everything behind this field */
    uint8_t version;
    uint8_t type;
    uint8_t flags;
    uint8_t reserved;
    uint64_t writer;   /* random, by handle */
    uint64_t sequence; /* of the commit, by writer, from 1 */
    uint64_t records;  /* counted by the commit; in its first frame */
    uint64_t overflow; /* in its first frame */
} sonde__usage_header;
_Static_assert(sizeof(sonde__usage_header) == 48, "usage file format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "usage file format");

/* Appends the frames of one commit: all metrics of usage. The caller holds its lock. */
sonde_status sonde__usage_encode(const sonde_usage *usage, int type, uint64_t writer,
                                 uint64_t sequence, sonde__buf *out);

/* Whether a header can be one; its frame's length is then sensible. */
bool sonde__usage_header_good(const sonde__usage_header *header);

/* Whether the frame at data (header.length bytes) has its checksum. */
bool sonde__usage_frame_good(const uint8_t *data);

/* Applies a frame that is good to a map, as a whole or (ENOMEM, EBADDATA) in part: then the map is
   to be read anew. The caller holds the lock. */
sonde_status sonde__usage_decode(const uint8_t *data, sonde_usage *usage);

#endif
