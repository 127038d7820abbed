/* SPDX-License-Identifier: Apache-2.0 */
/* Another process's segment, as a checked copy. Nothing is mapped, nothing is believed: owner,
   mode, size and every offset are checked before they are used. */
#ifndef SONDE_RECORD_SEGMENT_IMAGE_H
#define SONDE_RECORD_SEGMENT_IMAGE_H

#include "record/segment.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SONDE__REASON_MAX = 200 };

typedef struct sonde__segment_image {
    uint8_t *base;
    uint64_t size;
    int fd; /* -1: made from memory */
} sonde__segment_image;

/* Reads and checks the segment at path. reason (REASON_MAX bytes) says in words what was wrong:
   EABSENT, EDENIED (owner or mode), EUNSUPPORTED (another layout or boot), EBADDATA, EEARLY (its
   process has not finished opening), ENOMEM, EIO. lock: takes the lock of a dead process's segment
   first; EBUSY when its process lives. uid: who must own it. */
sonde_status sonde__segment_image_open(sonde__segment_image *image, const char *path, uint32_t uid,
                                       bool lock, char *reason);

/* The checked header alone, to tell whose segment it is: a copy of all of it costs a thousand times
   more, and a folder may hold many. Fails as open does; *out is then undefined. */
sonde_status sonde__segment_peek(const char *path, uint32_t uid, sonde__segment_header *out);

/* Checks bytes that are in memory already; they become the image's. For the file reader and for
   fuzzing: any bytes may come. */
sonde_status sonde__segment_image_check(const uint8_t *base, uint64_t size, char *reason);

void sonde__segment_image_close(sonde__segment_image *image);

static inline sonde__segment_header *sonde__image_header(const sonde__segment_image *image)
{
    return (sonde__segment_header *)(void *)image->base;
}

/* Calls visit for each name in the segments' folder that looks like a segment of uid. */
void sonde__segment_list(uint32_t uid, void (*visit)(void *user, const char *path), void *user);

#endif
