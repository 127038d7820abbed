/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of frames. The bytes have a good checksum but may still be anybody's: every length is
   checked, and a record that is not understood ends its frame. */
#ifndef SONDE_RECORD_DECODE_H
#define SONDE_RECORD_DECODE_H

#include "record/frame.h"
#include "record/frame_pack.h"
#include "sonde/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sonde__slice {
    const char *text;
    size_t len;
} sonde__slice;

/* A position in a frame. The frame's bytes must stay. */
typedef struct sonde__decoder {
    sonde__frame_header header;
    const uint8_t *at;
    const uint8_t *end;
    uint32_t left; /* records */
    uint64_t seq;  /* of the next record */
    uint64_t prev_number;
    uint64_t prev_end;
    sonde__slice *strings; /* from 1 */
    size_t string_count;
    size_t string_cap;
    sonde__unpacked room;
} sonde__decoder;

/* One record, its attributes still encoded. Times are monotonic nanoseconds. */
typedef struct sonde__entry {
    sonde__kind kind;
    unsigned flags;
    uint64_t seq;
    uint64_t count; /* numbers it covers */
    uint64_t number;
    uint64_t parent; /* LOSS: reasons */
    sonde__slice name;
    uint64_t start;
    uint64_t end;
    const uint8_t *attrs;
    size_t attrs_len;
} sonde__entry;

/* Starts on a frame that sonde__frame_check accepted. The decoder is zero-initialised once and may
   be used for many frames. EBADDATA, EUNSUPPORTED (version), EABSENT (no libzstd.so.1), ENOMEM. */
sonde_status sonde__decoder_start(sonde__decoder *decoder, const uint8_t *frame);
void sonde__decoder_free(sonde__decoder *decoder);

/* False at the end of the frame, or where it cannot be understood. */
bool sonde__decoder_next(sonde__decoder *decoder, sonde__entry *out);

/* One attribute of an entry. System attributes have their number in system and no key. */
typedef struct sonde__decoded_attr {
    unsigned system;   /* 0: a user's attribute, in attr */
    sonde_attr attr;   /* its value also for system attributes */
    unsigned type;     /* as in the frame: TICKS and EVENT too */
    uint64_t mono_ns;  /* TICKS, EVENT */
    sonde__slice name; /* EVENT */
} sonde__decoded_attr;

/* Reads the attribute at *at and moves on. False at the end, or where it is not valid. */
bool sonde__decode_attr(const sonde__decoder *decoder, const uint8_t **at, const uint8_t *end,
                        sonde__decoded_attr *out);

#endif
