/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of frames compressed by zstd. The library, libzstd.so.1, is loaded when it is first needed
   and at no other time: a program that neither writes nor reads compressed frames does without. */
#ifndef SONDE_RECORD_FRAME_PACK_H
#define SONDE_RECORD_FRAME_PACK_H

#include "record/frame_seal.h"

#include <stdbool.h>

/* What compresses the frames of one journal; zero: nothing is compressed. */
typedef struct sonde__packer {
    int level;
    void *context; /* libzstd's */
    uint8_t *room; /* a body in one piece, and behind it what it becomes */
} sonde__packer;

/* level: zstd's, from 1. EABSENT: there is no libzstd.so.1 here (the packer is zero then), ENOMEM.
 */
sonde_status sonde__packer_init(sonde__packer *packer, int level);
void sonde__packer_free(sonde__packer *packer);

/* Replaces the pieces of a body by one shorter one, valid until the next call, and notes that in
   the header; leaves all as it is where that does not help. Returns how many pieces there are. */
int sonde__pack(sonde__packer *packer, sonde__frame_header *header, struct iovec *body, int count);

/* Memory for bodies that were compressed; zero at first, freed by sonde__unpacked_free. */
typedef struct sonde__unpacked {
    uint8_t *data;
    size_t cap;
} sonde__unpacked;

/* The plain body of a frame that sonde__frame_check accepted: in the frame itself, or in room.
   EABSENT: it is compressed and there is no libzstd.so.1 here; EBADDATA, ENOMEM. */
sonde_status sonde__frame_body(const uint8_t *frame, sonde__unpacked *room, const uint8_t **body,
                               const uint8_t **end);
void sonde__unpacked_free(sonde__unpacked *room);

/* False: compressed frames cannot be read here. */
bool sonde__zstd_here(void);

#endif
