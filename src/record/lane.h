/* SPDX-License-Identifier: Apache-2.0 */
/* A lane as its thread sees it. The struct lies in private memory that is wiped on fork
   (MADV_WIPEONFORK), so a child finds state ASK and nothing else; what others read is in the
   segment. Lane 0 is shared, behind a lock: for threads beyond the limit and for signal handlers
   that interrupted a call. */
#ifndef SONDE_RECORD_LANE_H
#define SONDE_RECORD_LANE_H

#include "base/ticks.h"
#include "record/segment.h"
#include "sonde/task.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Handles: number << 17 | lane << 7 | slot. */
enum { SONDE__SLOT_BITS = 7, SONDE__LANE_BITS = 10 };
#define SONDE__NUMBER_MASK (((uint64_t)1 << 47) - 1)

typedef struct sonde__lane_local {
    union {
        struct {
            uint32_t state;
            uint32_t busy; /* a call is inside; read together with state */
        };
        sonde_lane abi; /* with the thread's metric cells */
    };
    uint64_t run;
    uint16_t index;      /* of the lane in the segment */
    uint16_t top;        /* innermost open task, SONDE__NO_SLOT: none */
    uint16_t free_count; /* entries of free */
    bool tsc;            /* what its stamps are */
    bool shared;         /* lane 0 */
    bool bound;          /* it has a place in the segment; under the recorder's lock, as owned */
    bool owned;          /* a thread has it */
    uint64_t head;       /* bytes ever put into the ring */
    uint64_t limit;      /* head may go so far without a look at the tail */
    uint64_t seq;        /* number of the next record */
    uint64_t number;     /* of the last task */
    uint8_t *ring;
    sonde__slot *slots;
    sonde__lane_header *header;
    uint64_t woken_tail; /* the drain was woken when the tail was here */
    uint64_t stall_tail; /* a wait ended in vain when the tail was here */
    bool stalled;
    _Atomic uint32_t waiting; /* futex: the thread waits for room */
    uint8_t free[SONDE__SLOTS];
} __attribute__((aligned(64))) sonde__lane_local;

static inline sonde__lane_local *sonde__lane_mine(void)
{
    return (sonde__lane_local *)(void *)sonde__lane;
}

/* Slow ways in: claims a lane, joins a session, starts anew after a fork, or gives the shared lane
   with its lock held. NULL: nothing is recorded. ending: also when recording is paused. */
sonde__lane_local *sonde__lane_enter_slow(bool ending);
void sonde__lane_leave_shared(sonde__lane_local *lane);

/* The lane to record into, until leave. */
static inline sonde__lane_local *sonde__lane_enter(bool ending)
{
    sonde__lane_local *lane = sonde__lane_mine();
    if (__builtin_expect(__atomic_load_n(&lane->state, __ATOMIC_RELAXED) == SONDE_LANE_ON &&
                             __atomic_load_n(&lane->busy, __ATOMIC_RELAXED) == 0,
                         1)) {
        __atomic_store_n(&lane->busy, 1, __ATOMIC_RELAXED);
        /* close() sets the state, runs membarrier, then looks at busy: either it sees this store
           or the next load sees its state */
        atomic_signal_fence(memory_order_seq_cst);
        if (__builtin_expect(__atomic_load_n(&lane->state, __ATOMIC_RELAXED) == SONDE_LANE_ON, 1))
            return lane;
        __atomic_store_n(&lane->busy, 0, __ATOMIC_RELEASE);
    }
    return sonde__lane_enter_slow(ending);
}

/* The same for code that makes no call before it leaves: only the thread's own lane, only when all
   is as usual and, where it stamps, stamps are the TSC's. Else NULL, and nothing is to be undone.
 */
static inline sonde__lane_local *sonde__lane_enter_fast(bool stamps)
{
    sonde__lane_local *lane = sonde__lane_mine();
    if (__builtin_expect(__atomic_load_n(&lane->state, __ATOMIC_RELAXED) != SONDE_LANE_ON ||
                             __atomic_load_n(&lane->busy, __ATOMIC_RELAXED) != 0 ||
                             (stamps && !lane->tsc),
                         0))
        return NULL;
    __atomic_store_n(&lane->busy, 1, __ATOMIC_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(__atomic_load_n(&lane->state, __ATOMIC_RELAXED) == SONDE_LANE_ON, 1))
        return lane;
    __atomic_store_n(&lane->busy, 0, __ATOMIC_RELEASE);
    return NULL;
}

static inline void sonde__lane_leave_fast(sonde__lane_local *lane)
{
    __atomic_store_n(&lane->busy, 0, __ATOMIC_RELEASE);
}

static inline void sonde__lane_leave(sonde__lane_local *lane)
{
    if (__builtin_expect(lane->shared, 0))
        sonde__lane_leave_shared(lane);
    else
        __atomic_store_n(&lane->busy, 0, __ATOMIC_RELEASE);
}

/* The stack of the calling thread: the lane's own, or the thread's when the lane is shared. */
uint16_t *sonde__lane_shared_top(void);

static inline uint16_t *sonde__lane_top(sonde__lane_local *lane)
{
    return __builtin_expect(lane->shared, 0) ? sonde__lane_shared_top() : &lane->top;
}

/* Binds a local lane to its place in the segment; head, number and free slots start anew. */
void sonde__lane_bind(sonde__lane_local *lane, sonde__segment *segment, uint32_t index);

/* Room for a record of bytes (a multiple of 8) in the ring, or NULL when it must be dropped. */
void *sonde__ring_reserve_slow(sonde__lane_local *lane, uint32_t bytes);

static inline void *sonde__ring_reserve(sonde__lane_local *lane, uint32_t bytes)
{
    if (__builtin_expect(lane->head + bytes > lane->limit, 0))
        return sonde__ring_reserve_slow(lane, bytes);
    return lane->ring + (lane->head & (SONDE__RING_BYTES - 1));
}

/* The drain has read the lines that are written next, so they are in another core's cache: asking
   for them some records ahead hides the way back. One line for a task, one more where it has
   attributes. */
enum { SONDE__PREFETCH_BYTES = 320 };

static inline void sonde__ring_prefetch(const sonde__lane_local *lane, unsigned distance)
{
#if defined(__x86_64__)
    const uint8_t *ahead = lane->ring + ((lane->head + distance) & (SONDE__RING_BYTES - 1));
    __asm__ volatile("prefetchw %0" : : "m"(*ahead));
#else
    (void)lane;
#endif
}

/* Makes the reserved record visible to the drain and to whoever recovers. */
static inline void sonde__ring_publish(sonde__lane_local *lane, uint32_t bytes)
{
    lane->head += bytes;
    lane->seq++;
    atomic_store_explicit(&lane->header->head, lane->head, memory_order_release);
}

/* Counts one record that could not be kept; it takes a number like any other. */
void sonde__lane_drop(sonde__lane_local *lane, unsigned reason);

/* Adds one to a counter that only this lane's thread writes and others read. */
static inline void sonde__lane_count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static inline uint64_t sonde__slot_meta_of(const sonde__slot *slot)
{
    return atomic_load_explicit(&slot->meta, memory_order_relaxed);
}

/* The slot is free to be reused when whoever ends its task says so. */
static inline void sonde__slot_off_stack(sonde__slot *slot)
{
    atomic_fetch_and_explicit(&slot->meta, ~((uint64_t)SONDE__ON_STACK << 32),
                              memory_order_relaxed);
}

/* Finds a free slot after the free list ran out. SONDE__NO_SLOT: there is none. */
uint16_t sonde__slot_reclaim(sonde__lane_local *lane);

#endif
