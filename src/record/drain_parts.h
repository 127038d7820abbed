/* SPDX-License-Identifier: Apache-2.0 */
/* A journal in parts: when one is full the next begins, and where only the last are kept, the
   oldest are removed. Numbers removed with a part are told by a DROPPED frame at the beginning of
   the part that made it go, before it goes. */
#ifndef SONDE_RECORD_DRAIN_PARTS_H
#define SONDE_RECORD_DRAIN_PARTS_H

#include "base/buf.h"
#include "sonde/session.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part behind the one being written. */
typedef struct sonde__part {
    unsigned number;
    uint32_t lanes;
    uint64_t bytes;
    uint64_t *first; /* by lane: the number of its first record in this part */
} sonde__part;

typedef struct sonde__parts {
    uint64_t part_bytes; /* a part ends with the frame that passes this; 0: one file */
    uint64_t bytes_max;  /* of all parts together; 0: any */
    bool keep_last;      /* beyond that the oldest part goes; else nothing more is written */
    sonde__part now;     /* bytes are the journal's */
    sonde__part *kept;   /* oldest first; not the first part, which is never removed */
    size_t kept_count;
    size_t kept_cap;
    sonde__buf marks;
} sonde__parts;

struct sonde__pump;

void sonde__parts_init(sonde__parts *parts, const sonde_options *options);
void sonde__parts_free(sonde__parts *parts);

/* The part that was being written is complete. */
void sonde__parts_retire(sonde__parts *parts, unsigned number, uint64_t bytes);

/* Writes what a part begins with: who writes, and what was removed. Then removes that. */
sonde_status sonde__pump_begin_part(struct sonde__pump *pump);

/* Before a frame is made: goes on in a new part when this one is full. */
sonde_status sonde__pump_make_room(struct sonde__pump *pump);

/* True when bytes more would pass the limit of a journal that stops there. */
bool sonde__pump_over_limit(const struct sonde__pump *pump, uint64_t bytes);

#endif
