/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a file (or memory) frame by frame: valid frames are reported, anything else is passed over
   up to the next magic number. */
#ifndef SONDE_RECORD_FRAME_SCAN_H
#define SONDE_RECORD_FRAME_SCAN_H

#include "record/frame.h"
#include "sonde/status.h"

#include <stdint.h>

typedef struct sonde__journal_scan {
    int fd;              /* -1: memory */
    const uint8_t *data; /* memory, when fd is -1 */
    uint64_t size;       /* of the memory; of the file at the last scan */
    uint64_t next;       /* where the next scan begins: behind the last valid frame */
    uint64_t valid;      /* bytes of valid frames seen */
    uint64_t frames;
} sonde__journal_scan;

typedef void sonde__frame_visit(void *user, const sonde__frame_header *header, const uint8_t *frame,
                                uint64_t offset);

/* Scans from next to the end. May be called again after the file has grown. EIO, ENOMEM. */
sonde_status sonde__frame_scan(sonde__journal_scan *scan, sonde__frame_visit *visit, void *user);

#endif
