/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning and ending tasks: the hot path. A begin fills a slot and stamps it last; an end stamps
   first, claims the slot by one compare-and-swap (another thread may end the same task), copies it
   into the ring as one record, publishes the record and then frees the slot, so that a death at any
   point leaves the task either open or ended, never neither. */
#include "record/task.h"

#include "record/recorder.h"
#include "sonde/reader.h"

#include <string.h>

/* The innermost task that is still open; those that another thread has ended are taken off. */
static uint16_t settle_top(sonde__lane_local *lane, uint16_t *top)
{
    while (*top != SONDE__NO_SLOT) {
        sonde__slot *slot = &lane->slots[*top];
        uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if (__builtin_expect((state & 3) != SONDE__SLOT_ENDED, 1))
            break;
        uint8_t index = (uint8_t)*top;
        *top = slot->below;
        atomic_store_explicit(&slot->state, state & ~(uint64_t)3, memory_order_relaxed);
        lane->free[lane->free_count++] = index;
    }
    return *top;
}

/* A slot with everything but its start; NULL when there is none, which counts as a lost record. */
static inline sonde__slot *open_slot(sonde__lane_local *lane, uint32_t name, uint16_t *index)
{
    uint16_t i;
    if (__builtin_expect(lane->free_count > 0, 1))
        i = lane->free[--lane->free_count];
    else
        i = sonde__slot_reclaim(lane);
    if (__builtin_expect(i == SONDE__NO_SLOT, 0)) {
        sonde__lane_drop(lane, SONDE_LOSS_SLOTS);
        return NULL;
    }
    sonde__slot *slot = &lane->slots[i];
    slot->name = name;
    slot->id = 0;
    atomic_store_explicit(&slot->status, SONDE_RUNNING, memory_order_relaxed);
    atomic_store_explicit(&slot->attr_bytes, 0, memory_order_relaxed);
    *index = i;
    return slot;
}

static inline void set_parent(sonde__slot *slot, unsigned kind, uint64_t parent)
{
    slot->parent = parent;
    atomic_store_explicit(&slot->flags, (uint8_t)(SONDE__ON_STACK | kind), memory_order_relaxed);
}

/* Puts the slot on the stack, stamps it, makes it visible. */
static inline sonde_task start_slot(sonde__lane_local *lane, sonde__slot *slot, uint16_t index,
                                    uint16_t *top)
{
    uint64_t number = ++lane->number;
    slot->below = *top;
    *top = index;
    slot->start = sonde__ticks_now(lane->tsc);
    atomic_store_explicit(&slot->state, number << 2 | SONDE__SLOT_OPEN, memory_order_release);
    return number << (SONDE__SLOT_BITS + SONDE__LANE_BITS) |
           (uint64_t)lane->index << SONDE__SLOT_BITS | index;
}

sonde_task sonde_task_begin_on(sonde_name *activity)
{
    uint32_t name = sonde__name_id(activity);
    sonde__lane_local *lane = sonde__lane_enter(false);
    if (__builtin_expect(!lane, 0))
        return 0;
    uint16_t *top = sonde__lane_top(lane);
    uint16_t below = settle_top(lane, top);
    uint16_t index;
    sonde_task task = 0;
    sonde__slot *slot = open_slot(lane, name, &index);
    if (__builtin_expect(slot != NULL, 1)) {
        if (below != SONDE__NO_SLOT) {
            uint64_t state = atomic_load_explicit(&lane->slots[below].state, memory_order_relaxed);
            uint64_t id = lane->slots[below].id;
            set_parent(slot, id ? SONDE__PARENT_SPAN : SONDE__PARENT_LANE, id ? id : state >> 2);
        } else {
            set_parent(slot, SONDE__PARENT_NONE, 0);
        }
        task = start_slot(lane, slot, index, top);
    }
    sonde__lane_leave(lane);
    return task;
}

static void put_trace(sonde__lane_local *lane, sonde__slot *slot, sonde_context context)
{
    const sonde_session *session = &sonde__the_recorder.session;
    uint64_t trace[2] = {context.trace_hi, context.trace_lo};
    if ((trace[0] | trace[1]) != 0 &&
        (trace[0] != session->trace_hi || trace[1] != session->trace_lo))
        sonde__slot_attr(lane, slot, SONDE__GROUP_SYSTEM, SONDE__SYS_TRACE, SONDE_ATTR_BYTES, trace,
                         sizeof trace);
}

sonde_task sonde_task_begin_under(sonde_name *activity, sonde_context parent)
{
    uint32_t name = sonde__name_id(activity);
    sonde__lane_local *lane = sonde__lane_enter(false);
    if (!lane)
        return 0;
    uint16_t *top = sonde__lane_top(lane);
    settle_top(lane, top);
    uint16_t index;
    sonde_task task = 0;
    sonde__slot *slot = open_slot(lane, name, &index);
    if (slot) {
        set_parent(slot, parent.span ? SONDE__PARENT_SPAN : SONDE__PARENT_ROOT, parent.span);
        put_trace(lane, slot, parent);
        task = start_slot(lane, slot, index, top);
    }
    sonde__lane_leave(lane);
    return task;
}

sonde_task sonde_task_begin_ticket(const sonde_ticket *ticket)
{
    if (!ticket->activity || !sonde_enabled())
        return 0;
    if (ticket->self.span == 0)
        return sonde_task_begin_on(ticket->activity);
    uint32_t name = sonde__name_id(ticket->activity);
    sonde__lane_local *lane = sonde__lane_enter(false);
    if (!lane)
        return 0;
    uint16_t *top = sonde__lane_top(lane);
    settle_top(lane, top);
    uint16_t index;
    sonde_task task = 0;
    sonde__slot *slot = open_slot(lane, name, &index);
    if (slot) {
        slot->id = ticket->self.span;
        set_parent(slot, ticket->parent ? SONDE__PARENT_SPAN : SONDE__PARENT_NONE, ticket->parent);
        sonde__slot_attr(lane, slot, SONDE__GROUP_SYSTEM, SONDE__SYS_SUBMITTED, SONDE__TYPE_TICKS,
                         &ticket->submitted, 8);
        put_trace(lane, slot, ticket->self);
        task = start_slot(lane, slot, index, top);
    }
    sonde__lane_leave(lane);
    return task;
}

/* The record of a slot that this thread has claimed, into this thread's lane. id is the task's,
   when it does not follow from this lane and number; else 0. */
static inline void write_task(sonde__lane_local *lane, const sonde__slot *slot, uint64_t number,
                              uint64_t end, unsigned flags, uint64_t parent, uint64_t id)
{
    uint32_t slot_bytes = atomic_load_explicit(&slot->attr_bytes, memory_order_relaxed);
    uint32_t attr_bytes = slot_bytes + (__builtin_expect(id != 0, 0) ? 16 : 0);
    uint32_t bytes = (uint32_t)sizeof(sonde__ring_record) + attr_bytes;
    sonde__ring_record *record = sonde__ring_reserve(lane, bytes);
    if (__builtin_expect(!record, 0)) {
        sonde__lane_drop(lane, SONDE_LOSS_FULL);
        return;
    }
    record->seq = (uint32_t)lane->seq;
    record->words = (uint16_t)(bytes / 8);
    record->kind = SONDE__KIND_TASK;
    record->flags = (uint8_t)flags;
    record->start = slot->start;
    record->end = end;
    record->name = slot->name;
    record->attr_bytes = attr_bytes;
    record->number = number;
    record->parent = parent;
    if (slot_bytes)
        sonde__copy_words(record + 1, slot->attrs, slot_bytes);
    if (__builtin_expect(id != 0, 0))
        sonde__put_id((uint8_t *)(record + 1) + slot_bytes, id);
    sonde__ring_publish(lane, bytes);
}

/* Claims an open slot for ending. False: somebody else ended the task. */
static inline bool claim_slot(sonde__slot *slot, uint64_t number)
{
    uint64_t open = number << 2 | SONDE__SLOT_OPEN;
    return atomic_compare_exchange_strong_explicit(&slot->state, &open,
                                                   number << 2 | SONDE__SLOT_ENDING,
                                                   memory_order_acquire, memory_order_relaxed);
}

static inline void free_slot(sonde__lane_local *lane, sonde__slot *slot, uint64_t number,
                             uint16_t index)
{
    atomic_store_explicit(&slot->state, number << 2 | SONDE__SLOT_FREE, memory_order_release);
    lane->free[lane->free_count++] = (uint8_t)index;
}

/* Ends the task on top of the stack, as status. */
static inline void pop(sonde__lane_local *lane, uint16_t *top, uint64_t end, unsigned status)
{
    uint16_t index = *top;
    sonde__slot *slot = &lane->slots[index];
    uint64_t number = atomic_load_explicit(&slot->state, memory_order_relaxed) >> 2;
    if (__builtin_expect(!claim_slot(slot, number), 0)) {
        settle_top(lane, top);
        if (*top == index) { /* another thread is ending it right now, and will mark it */
            *top = slot->below;
            sonde__slot_off_stack(slot);
        }
        return;
    }
    *top = slot->below;
    write_task(lane, slot, number, end, (sonde__slot_flags(slot) & SONDE__PARENT_MASK) | status,
               slot->parent, slot->id);
    free_slot(lane, slot, number, index);
}

static bool is_on_stack(const sonde__lane_local *lane, uint16_t top, uint16_t index)
{
    for (; top != SONDE__NO_SLOT; top = lane->slots[top].below)
        if (top == index)
            return true;
    return false;
}

/* A task of another thread, or one that its thread left behind: the record goes into this thread's
   lane with the identity the task has in its own. */
static void end_elsewhere(sonde__lane_local *lane, const sonde__ref *ref, uint64_t end,
                          unsigned status)
{
    sonde__lane_local *owner = sonde__lane_of(ref);
    sonde__slot *slot = owner ? &owner->slots[ref->slot] : NULL;
    if (!slot || !claim_slot(slot, ref->number)) {
        sonde__lane_count(&lane->header->stale);
        return;
    }
    uint64_t id = slot->id ? slot->id : sonde__span_id(lane->run, ref->lane, ref->number);
    unsigned kind = sonde__slot_flags(slot) & SONDE__PARENT_MASK;
    uint64_t parent = slot->parent;
    if (kind == SONDE__PARENT_LANE) {
        parent = sonde__span_id(lane->run, ref->lane, parent);
        kind = SONDE__PARENT_SPAN;
    }
    write_task(lane, slot, ++lane->number, end, kind | status, parent, id);
    atomic_store_explicit(&slot->state, ref->number << 2 | SONDE__SLOT_ENDED, memory_order_release);
}

static void end_slow(sonde__lane_local *lane, uint16_t *top, const sonde__ref *ref, uint64_t end,
                     unsigned status)
{
    settle_top(lane, top);
    sonde__slot *slot = ref->lane == lane->index ? &lane->slots[ref->slot] : NULL;
    if (slot && is_on_stack(lane, *top, ref->slot)) {
        uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
        if (state != (ref->number << 2 | SONDE__SLOT_OPEN)) {
            sonde__lane_count(&lane->header->stale);
            return;
        }
        while (*top != SONDE__NO_SLOT && *top != ref->slot)
            pop(lane, top, end, SONDE_UNKNOWN);
        if (*top == ref->slot)
            pop(lane, top, end, status);
        return;
    }
    end_elsewhere(lane, ref, end, status);
}

void sonde_task_end_on(sonde_task task, sonde_task_status status, const char *error,
                       size_t error_len)
{
    sonde__lane_local *lane = sonde__lane_enter(true);
    if (__builtin_expect(!lane, 0))
        return;
    uint64_t end = sonde__ticks_now(lane->tsc);
    sonde__ref ref = sonde__ref_of(task);
    uint16_t *top = sonde__lane_top(lane);
    unsigned bits = (unsigned)status & SONDE__STATUS_MASK;
    if (__builtin_expect(error != NULL, 0))
        sonde__task_attr(lane, &ref, SONDE__GROUP_SYSTEM, SONDE__SYS_ERROR, SONDE_ATTR_STRING,
                         error, error_len);
    if (__builtin_expect(
            ref.lane == lane->index && *top == ref.slot &&
                atomic_load_explicit(&lane->slots[ref.slot].state, memory_order_relaxed) ==
                    (ref.number << 2 | SONDE__SLOT_OPEN),
            1))
        pop(lane, top, end, bits);
    else
        end_slow(lane, top, &ref, end, bits);
    sonde__lane_leave(lane);
}
