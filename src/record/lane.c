/* SPDX-License-Identifier: Apache-2.0 */
/* The slow side of a lane: everything that happens once per half ring, or less often. */
#include "record/lane.h"

#include "base/clock.h"
#include "record/recorder.h"
#include "sonde/reader.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING_MASK = SONDE__RING_BYTES - 1 };

void sonde__lane_bind(sonde__lane_local *lane, sonde__segment *segment, uint32_t index)
{
    sonde__lane_header *header = sonde__segment_lane(segment, index);
    lane->run = sonde__segment_header_of(segment)->run;
    lane->tsc = sonde__segment_header_of(segment)->tsc != 0;
    lane->index = (uint16_t)index;
    lane->top = SONDE__NO_SLOT;
    lane->header = header;
    lane->ring = segment->base + header->ring_offset;
    lane->slots = (sonde__slot *)(void *)(segment->base + header->slots_offset);
    lane->head = 0;
    lane->limit = SONDE__RING_BYTES / 2;
    lane->seq = 0;
    /* numbers start anywhere, so that the handle of an earlier segment is not one of this */
    lane->number = sonde__span_id(lane->run, index, 0) & (SONDE__NUMBER_MASK >> 1);
    lane->stalled = false;
    lane->woken_tail = UINT64_MAX;
    lane->free_count = SONDE__SLOTS;
    for (unsigned i = 0; i < SONDE__SLOTS; i++)
        lane->free[i] = (uint8_t)(SONDE__SLOTS - 1 - i);
    lane->bound = true;
}

/* Waits for the drain to move, at most until the deadline. Returns the tail that was seen. A busy
   drain frees a part of the ring every few microseconds, sooner than a sleeper would wake. */
static uint64_t wait_for_tail(sonde__lane_local *lane, uint64_t tail, uint64_t deadline_ns)
{
    int saved = errno;
    for (int i = 0; i < SONDE__FULL_SPINS; i++) {
        uint64_t seen = atomic_load_explicit(&lane->header->tail, memory_order_acquire);
        if (seen != tail)
            return seen;
        sonde__relax();
    }
    for (;;) {
        atomic_store(&lane->waiting, 1);
        uint64_t now_tail = atomic_load(&lane->header->tail);
        uint64_t now = sonde__clock_monotonic_ns();
        if (now_tail != tail || now >= deadline_ns) {
            atomic_store(&lane->waiting, 0);
            errno = saved;
            return now_tail;
        }
        uint64_t left = deadline_ns - now;
        struct timespec limit = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
        syscall(SYS_futex, &lane->waiting, FUTEX_WAIT_PRIVATE, 1, &limit, NULL, 0);
    }
}

/* False: the ring stays full and the record is to be dropped. One wait per stall: as long as the
   drain has not moved since a wait in vain, nobody waits again. */
static bool make_room(sonde__lane_local *lane, uint64_t tail)
{
    uint64_t wait_ns = sonde__the_recorder.full_wait_ns;
    if (lane->stalled && lane->stall_tail == tail)
        return false;
    sonde__drain_wake(&sonde__the_recorder.drain);
    if (wait_ns > 0 && wait_for_tail(lane, tail, sonde__clock_monotonic_ns() + wait_ns) != tail)
        return true;
    lane->stalled = true;
    lane->stall_tail = tail;
    return false;
}

/* How far head may go before the slow side must look again: the ring's end, the reader's tail, and
   half of the ring as long as the drain was not woken for this half. */
static void set_limit(sonde__lane_local *lane, uint64_t tail)
{
    uint64_t lap_end = (lane->head & ~(uint64_t)RING_MASK) + SONDE__RING_BYTES;
    uint64_t full = tail + SONDE__RING_BYTES;
    uint64_t limit = full < lap_end ? full : lap_end;
    uint64_t half = tail + SONDE__RING_BYTES / 2;
    if (lane->woken_tail != tail && half < limit)
        limit = half;
    lane->limit = limit;
}

static void write_pad(sonde__lane_local *lane, uint64_t bytes)
{
    sonde__ring_record pad = {.words = (uint16_t)(bytes / 8), .kind = SONDE__KIND_PAD};
    memcpy(lane->ring + (lane->head & RING_MASK), &pad, 8);
    lane->head += bytes;
}

/* What was dropped since the last record, as one record in its place. */
static void write_loss(sonde__lane_local *lane)
{
    sonde__lane_header *header = lane->header;
    uint64_t count = atomic_load_explicit(&header->loss_count, memory_order_relaxed);
    sonde__ring_record loss = {
        .seq = (uint32_t)atomic_load_explicit(&header->loss_first, memory_order_relaxed),
        .words = sizeof loss / 8,
        .kind = SONDE__KIND_LOSS,
        .number = count,
        .parent = atomic_load_explicit(&header->loss_reasons, memory_order_relaxed),
    };
    memcpy(lane->ring + (lane->head & RING_MASK), &loss, sizeof loss);
    lane->head += sizeof loss;
    atomic_store_explicit(&header->head, lane->head, memory_order_release);
    /* after the record is visible: a death in between tells the loss twice, and the second telling
       is known by its numbers */
    atomic_store_explicit(&header->loss_count, 0, memory_order_release);
    atomic_store_explicit(&header->loss_reasons, 0, memory_order_relaxed);
}

/* Bytes to put before a record of the given size so that it does not cross the ring's end. */
static uint64_t padding_for(uint64_t head, uint64_t bytes)
{
    uint64_t to_end = SONDE__RING_BYTES - (head & RING_MASK);
    return bytes > to_end ? to_end : 0;
}

void *sonde__ring_reserve_slow(sonde__lane_local *lane, uint32_t bytes)
{
    bool loss = atomic_load_explicit(&lane->header->loss_count, memory_order_relaxed) > 0;
    uint64_t extra = loss ? sizeof(sonde__ring_record) : 0;
    for (;;) {
        uint64_t tail = atomic_load_explicit(&lane->header->tail, memory_order_acquire);
        uint64_t loss_pad = loss ? padding_for(lane->head, extra) : 0;
        uint64_t pad = padding_for(lane->head + loss_pad + extra, bytes);
        uint64_t used = lane->head - tail + loss_pad + extra + pad + bytes;
        if (used > SONDE__RING_BYTES) {
            if (make_room(lane, tail))
                continue;
            return NULL;
        }
        lane->stalled = false;
        if (loss_pad)
            write_pad(lane, loss_pad);
        if (loss)
            write_loss(lane);
        if (pad)
            write_pad(lane, pad);
        if (used > SONDE__RING_BYTES / 2 && lane->woken_tail != tail) {
            lane->woken_tail = tail;
            sonde__drain_wake(&sonde__the_recorder.drain);
        }
        set_limit(lane, tail);
        if (lane->limit < lane->head + bytes)
            lane->limit = lane->head + bytes;
        return lane->ring + (lane->head & RING_MASK);
    }
}

void sonde__lane_drop(sonde__lane_local *lane, unsigned reason)
{
    sonde__lane_header *header = lane->header;
    uint64_t count = atomic_load_explicit(&header->loss_count, memory_order_relaxed);
    if (count == 0)
        atomic_store_explicit(&header->loss_first, lane->seq, memory_order_relaxed);
    uint32_t reasons = atomic_load_explicit(&header->loss_reasons, memory_order_relaxed);
    atomic_store_explicit(&header->loss_reasons, reasons | reason, memory_order_relaxed);
    atomic_store_explicit(&header->loss_count, count + 1, memory_order_release);
    lane->seq++;
    lane->limit = 0; /* the next record goes through the slow side, which tells the loss first */
}

uint16_t sonde__slot_reclaim(sonde__lane_local *lane)
{
    for (unsigned i = 0; i < SONDE__SLOTS; i++) {
        uint64_t state = atomic_load_explicit(&lane->slots[i].state, memory_order_acquire);
        if ((state & 3) == SONDE__SLOT_ENDED &&
            !(sonde__meta_flags(sonde__slot_meta_of(&lane->slots[i])) & SONDE__ON_STACK)) {
            atomic_store_explicit(&lane->slots[i].state, state & ~(uint64_t)3,
                                  memory_order_relaxed);
            lane->free[lane->free_count++] = (uint8_t)i;
        }
    }
    return lane->free_count > 0 ? lane->free[--lane->free_count] : SONDE__NO_SLOT;
}
