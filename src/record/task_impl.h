/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that implement tasks share. All take a lane that has been entered. */
#ifndef SONDE_RECORD_TASK_IMPL_H
#define SONDE_RECORD_TASK_IMPL_H

#include "record/lane.h"
#include "record/names.h"
#include "sonde/task.h"

#include <string.h>

/* A handle taken apart. */
typedef struct sonde__ref {
    uint64_t number;
    uint16_t lane;
    uint16_t slot;
} sonde__ref;

static inline sonde__ref sonde__ref_of(sonde_task task)
{
    return (sonde__ref){
        .number = task >> (SONDE__SLOT_BITS + SONDE__LANE_BITS),
        .lane = (uint16_t)(task >> SONDE__SLOT_BITS & ((1u << SONDE__LANE_BITS) - 1)),
        .slot = (uint16_t)(task & ((1u << SONDE__SLOT_BITS) - 1)),
    };
}

/* A task that sampling left out: there is nothing to put values into. */
static inline bool sonde__ref_unsampled(sonde__ref ref)
{
    return ref.number >> (63 - SONDE__SLOT_BITS - SONDE__LANE_BITS) != 0;
}

/* The lane a handle belongs to; NULL when the segment has none of that number. */
sonde__lane_local *sonde__lane_of(const sonde__ref *ref);

/* Adds a value to a slot that this thread owns or has claimed; spills when it does not fit. */
void sonde__slot_attr(sonde__lane_local *lane, sonde__slot *slot, unsigned group, uint32_t key,
                      unsigned type, const void *data, size_t len);

/* The same by handle: into the slot when it is this lane's, else as a record of its own. */
void sonde__task_attr(sonde__lane_local *lane, sonde__ref ref, unsigned group, uint32_t key,
                      unsigned type, const void *data, size_t len);

/* The 16 bytes of a SONDE__SYS_ID attribute. */
static inline void sonde__put_id(uint8_t *out, uint64_t id)
{
    sonde__ring_attr attr = {SONDE__SYS_ID, SONDE_ATTR_UINT, SONDE__GROUP_SYSTEM, 8};
    memcpy(out, &attr, sizeof attr);
    memcpy(out + sizeof attr, &id, sizeof id);
}

/* Copies a multiple of 8 bytes, word by word as they were written a moment ago: a wider load would
   have to wait for the stores (and a call of memcpy costs more than a few words). */
static inline void sonde__copy_words(void *to, const void *from, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += 8) {
        __builtin_memcpy((uint8_t *)to + at, (const uint8_t *)from + at, 8);
        __asm__ volatile("" : : : "memory"); /* one word stays one word */
    }
}

#endif
