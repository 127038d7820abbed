/* SPDX-License-Identifier: Apache-2.0 */
/* What every frame of the journal has, whatever is in it: a header, a checksum, and a body that may
   be compressed. docs/journal-format.md specifies it; all integers are little-endian. */
#ifndef SONDE_RECORD_FRAME_SEAL_H
#define SONDE_RECORD_FRAME_SEAL_H

#include "record/limits.h"
#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define SONDE__FRAME_MAGIC 0x46444e53u /* "SNDF" */
enum {
    SONDE__FRAME_VERSION = 1,
    SONDE__FRAME_RECORDS = 1,
    SONDE__FRAME_METRICS = 2,
    SONDE__FRAME_DROPPED = 3, /* what was removed with earlier parts */
    SONDE__FRAME_MACHINE = 4, /* behind the header: one JSON object */
    SONDE__FRAME_NO_LANE = 0xffff
};

typedef struct sonde__frame_header {
    uint32_t magic;
    uint32_t length; /* of the whole frame */
    uint32_t crc;    /* CRC-32C of everything behind this field */
    uint8_t version;
    uint8_t type;
    uint16_t lane;
    uint64_t session;
    uint64_t run;
    uint64_t first_seq;
    uint32_t count;   /* numbers covered: first_seq ... first_seq + count - 1 */
    uint32_t records; /* entries behind the strings */
    uint64_t min_mono_ns;
    uint64_t max_mono_ns;
    int64_t wall_offset_ns; /* wall time = monotonic time + this */
    uint32_t string_bytes;
    uint32_t plain_bytes; /* of the body before it was compressed; 0: it is not */
} sonde__frame_header;
_Static_assert(sizeof(sonde__frame_header) == 80, "journal format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "journal format");

/* A header with all that does not depend on the body. */
sonde__frame_header sonde__frame_header_new(unsigned type, uint16_t lane, uint64_t session,
                                            uint64_t run);

/* Puts the length and the checksum into the header of a frame whose body is the pieces. Returns the
   length. */
uint32_t sonde__frame_seal(sonde__frame_header *header, const struct iovec *body, int count);

/* Checks the header and the CRC of a frame at data (avail bytes). OK; EEND: more bytes are needed
   (*length holds how many, when the header says so); EBADDATA: not a frame. */
sonde_status sonde__frame_check(const uint8_t *data, size_t avail, size_t *length);

#endif
