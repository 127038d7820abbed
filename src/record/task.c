/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning and ending tasks: the hot path. A begin fills a slot and stamps it last; an end stamps
   first, claims the slot by one compare-and-swap (another thread may end the same task), copies it
   into the ring as one record, publishes the record and then frees the slot, so that a death at any
   point leaves the task either open or ended, never neither. The usual case is written out without
   a call, so that it saves no registers; anything else goes to the function with "slow" in its
   name, which does the whole again. */
#include "sonde/task.h"

#include "record/recorder.h"
#include "record/task_impl.h"
#include "record/task_metrics.h"
#include "record/task_telemetry_hooks.h"
#include "sonde/reader.h"

#include <string.h>

#define LIKELY(x)   __builtin_expect((x), 1)
#define UNLIKELY(x) __builtin_expect((x), 0)

static inline uint64_t state_of(const sonde__slot *slot)
{
    return atomic_load_explicit(&slot->state, memory_order_relaxed);
}

/* Takes tasks that another thread has ended off the stack. */
static void settle_top(sonde__lane_local *lane, uint16_t *top)
{
    while (*top != SONDE__NO_SLOT) {
        sonde__slot *slot = &lane->slots[*top];
        uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if ((state & 3) != SONDE__SLOT_ENDED)
            return;
        uint8_t index = (uint8_t)*top;
        *top = sonde__meta_below(sonde__slot_meta_of(slot));
        atomic_store_explicit(&slot->state, state & ~(uint64_t)3, memory_order_relaxed);
        lane->free[lane->free_count++] = index;
    }
}

/* Slot index, or SONDE__NO_SLOT, which counts as a lost record. */
static inline uint16_t take_slot(sonde__lane_local *lane)
{
    if (LIKELY(lane->free_count > 0))
        return lane->free[--lane->free_count];
    uint16_t index = sonde__slot_reclaim(lane);
    if (index == SONDE__NO_SLOT)
        sonde__lane_drop(lane, SONDE_LOSS_SLOTS);
    return index;
}

/* Fills slot index, puts it on the stack, stamps it, makes it visible. tsc is the lane's. */
static inline __attribute__((always_inline)) sonde_task start_at(sonde__lane_local *lane,
                                                                 uint16_t *top, uint16_t index,
                                                                 uint32_t name,
                                                                 unsigned parent_kind,
                                                                 uint64_t parent, bool tsc)
{
    sonde__slot *slot = &lane->slots[index];
    uint64_t number = ++lane->number;
    slot->parent = parent;
    uint64_t meta = sonde__slot_meta(name, SONDE__ON_STACK | parent_kind, SONDE_RUNNING, *top);
    atomic_store_explicit(&slot->meta, meta, memory_order_relaxed);
    *top = index;
    slot->start = sonde__ticks_now(tsc);
    atomic_store_explicit(&slot->state, number << 2 | SONDE__SLOT_OPEN, memory_order_release);
    return number << (SONDE__SLOT_BITS + SONDE__LANE_BITS) |
           (uint64_t)lane->index << SONDE__SLOT_BITS | index;
}

static sonde_task start(sonde__lane_local *lane, uint16_t *top, uint16_t index, uint32_t name,
                        unsigned parent_kind, uint64_t parent)
{
    return start_at(lane, top, index, name, parent_kind, parent, lane->tsc);
}

static inline void clear_slot(sonde__slot *slot, uint64_t id)
{
    atomic_store_explicit(&slot->attr_bytes, 0, memory_order_relaxed);
    slot->id = id;
}

sonde_task sonde__task_begin_plain(sonde_name *activity)
{
    uint32_t name = sonde__name_id(activity);
    sonde__lane_local *lane = sonde__lane_enter(false);
    if (UNLIKELY(!lane))
        return 0;
    uint16_t *top = sonde__lane_top(lane);
    unsigned kind = SONDE__PARENT_NONE;
    uint64_t parent = 0;
    if (*top != SONDE__NO_SLOT) {
        if (UNLIKELY((state_of(&lane->slots[*top]) & 3) == SONDE__SLOT_ENDED))
            settle_top(lane, top);
        if (LIKELY(*top != SONDE__NO_SLOT)) {
            const sonde__slot *below = &lane->slots[*top];
            kind = UNLIKELY(below->id != 0) ? SONDE__PARENT_SPAN : SONDE__PARENT_LANE;
            parent = UNLIKELY(below->id != 0) ? below->id : state_of(below) >> 2;
        }
    }
    sonde_task task = 0;
    uint16_t index = take_slot(lane);
    if (LIKELY(index != SONDE__NO_SLOT)) {
        clear_slot(&lane->slots[index], 0);
        task = start(lane, top, index, name, kind, parent);
    }
    sonde__lane_leave(lane);
    return task;
}

/* The handle of a task that is counted and not recorded. */
static inline bool is_unsampled(sonde_task task)
{
    return (task & SONDE__UNSAMPLED) != 0;
}

static __attribute__((noinline)) sonde_task begin_slow(sonde_name *activity)
{
    return sonde__task_metrics_sampled(activity) ? sonde__task_begin_plain(activity)
                                                 : SONDE__UNSAMPLED | sonde__name_id(activity);
}

static __attribute__((noinline)) sonde_task begin_measured(sonde_name *activity)
{
    return sonde_task_begin_measured(activity, sonde__measure_start());
}

sonde_task sonde_task_begin_on(sonde_name *activity)
{
    if (sonde__measuring_now())
        return begin_measured(activity);
    uint64_t both; /* the name's number, and above it how it is sampled: not 0 is not usual */
    __atomic_load((const uint64_t *)(const void *)&activity->id, &both, __ATOMIC_RELAXED);
    uint32_t name = (uint32_t)both;
    sonde__lane_local *lane = sonde__lane_enter_fast(true);
    if (UNLIKELY(!lane))
        return begin_slow(activity);
    uint16_t top = lane->top;
    unsigned kind = SONDE__PARENT_NONE;
    uint64_t parent = 0;
    bool usual = both - 1 < UINT32_MAX && lane->free_count > 0;
    if (top != SONDE__NO_SLOT) {
        const sonde__slot *below = &lane->slots[top];
        uint64_t state = state_of(below);
        usual = usual && (state & 3) != SONDE__SLOT_ENDED && below->id == 0;
        kind = SONDE__PARENT_LANE;
        parent = state >> 2;
    }
    if (UNLIKELY(!usual)) {
        sonde__lane_leave_fast(lane);
        return begin_slow(activity);
    }
    uint16_t index = lane->free[--lane->free_count];
    clear_slot(&lane->slots[index], 0);
    sonde__ring_prefetch(lane, SONDE__PREFETCH_BYTES);
    sonde_task task = start_at(lane, &lane->top, index, name, kind, parent, true);
    sonde__lane_leave_fast(lane);
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
    sonde__reading before;
    bool measured =
        sonde__measuring_now() && sonde__reading_take(sonde__measure_start(), 0, &before);
    uint32_t name = sonde__name_id(activity);
    sonde__lane_local *lane = sonde__lane_enter(false);
    if (!lane)
        return 0;
    uint16_t *top = sonde__lane_top(lane);
    settle_top(lane, top);
    sonde_task task = 0;
    uint16_t index = take_slot(lane);
    if (index != SONDE__NO_SLOT) {
        clear_slot(&lane->slots[index], 0);
        put_trace(lane, &lane->slots[index], parent);
        task = start(lane, top, index, name, parent.span ? SONDE__PARENT_SPAN : SONDE__PARENT_ROOT,
                     parent.span);
    }
    sonde__lane_leave(lane);
    if (measured)
        sonde__reading_at_start(task, &before);
    return task;
}

sonde_task sonde_task_begin_ticket(const sonde_ticket *ticket)
{
    if (ticket->activity && ticket->self.span != 0)
        sonde__task_metrics_started(ticket->activity);
    if (!ticket->activity || !sonde_enabled())
        return 0;
    if (ticket->self.span == 0)
        return sonde_task_begin_on(ticket->activity);
    sonde__reading before;
    bool measured =
        sonde__measuring_now() && sonde__reading_take(sonde__measure_start(), 0, &before);
    uint32_t name = sonde__name_id(ticket->activity);
    sonde__lane_local *lane = sonde__lane_enter(false);
    if (!lane)
        return 0;
    uint16_t *top = sonde__lane_top(lane);
    settle_top(lane, top);
    sonde_task task = 0;
    uint16_t index = take_slot(lane);
    if (index != SONDE__NO_SLOT) {
        sonde__slot *slot = &lane->slots[index];
        clear_slot(slot, ticket->self.span);
        sonde__slot_attr(lane, slot, SONDE__GROUP_SYSTEM, SONDE__SYS_SUBMITTED, SONDE__TYPE_TICKS,
                         &ticket->submitted, 8);
        put_trace(lane, slot, ticket->self);
        task = start(lane, top, index, name,
                     ticket->parent ? SONDE__PARENT_SPAN : SONDE__PARENT_NONE, ticket->parent);
    }
    sonde__lane_leave(lane);
    if (measured)
        sonde__reading_at_start(task, &before);
    return task;
}

/* The record of a claimed slot, but for the id behind its attributes, at its place in the ring. */
static inline __attribute__((always_inline)) void fill_record(const sonde__lane_local *lane,
                                                              sonde__ring_record *record,
                                                              const sonde__slot *slot,
                                                              sonde__ring_record head,
                                                              uint32_t slot_bytes)
{
    head.seq = (uint32_t)lane->seq;
    head.words = (uint16_t)((sizeof head + head.attr_bytes) / 8);
    head.kind = SONDE__KIND_TASK;
    head.start = slot->start;
    *record = head;
    if (slot_bytes) {
        sonde__ring_prefetch(lane, SONDE__PREFETCH_BYTES + 64);
        sonde__copy_words(record + 1, slot->attrs, slot_bytes);
    }
}

/* The record of a slot that this thread has claimed, into this thread's lane. id is the task's,
   when it does not follow from this lane and number; else 0. */
static void write_task(sonde__lane_local *lane, const sonde__slot *slot, sonde__ring_record head,
                       uint64_t id)
{
    uint32_t slot_bytes = atomic_load_explicit(&slot->attr_bytes, memory_order_relaxed);
    head.attr_bytes = slot_bytes + (id != 0 ? 16 : 0);
    uint32_t bytes = (uint32_t)sizeof head + head.attr_bytes;
    sonde__ring_record *record = sonde__ring_reserve(lane, bytes);
    if (UNLIKELY(!record)) {
        sonde__lane_drop(lane, SONDE_LOSS_FULL);
        return;
    }
    fill_record(lane, record, slot, head, slot_bytes);
    if (id != 0)
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

/* Another thread has ended the task on top, or is about to. */
static void pop_lost(sonde__lane_local *lane, uint16_t *top)
{
    uint16_t index = *top;
    settle_top(lane, top);
    if (*top == index) { /* not marked yet: whoever ends it will */
        *top = sonde__meta_below(sonde__slot_meta_of(&lane->slots[index]));
        sonde__slot_off_stack(&lane->slots[index]);
    }
}

/* What a record says of a task in its own lane. */
static inline sonde__ring_record head_of(const sonde__slot *slot, uint64_t number, uint64_t meta,
                                         uint64_t end, unsigned status)
{
    return (sonde__ring_record){
        .flags = (uint8_t)((sonde__meta_flags(meta) & SONDE__PARENT_MASK) | status),
        .end = end,
        .name = sonde__meta_name(meta),
        .number = number,
        .parent = slot->parent,
    };
}

static inline void free_slot(sonde__lane_local *lane, sonde__slot *slot, sonde__ref ref)
{
    atomic_store_explicit(&slot->state, ref.number << 2 | SONDE__SLOT_FREE, memory_order_release);
    lane->free[lane->free_count++] = (uint8_t)ref.slot;
}

/* The claimed task on top of the stack becomes a record, then its slot is free. */
static void finish(sonde__lane_local *lane, sonde__slot *slot, sonde__ref ref, uint64_t end,
                   unsigned status)
{
    uint64_t meta = sonde__slot_meta_of(slot);
    *sonde__lane_top(lane) = sonde__meta_below(meta);
    write_task(lane, slot, head_of(slot, ref.number, meta, end, status), slot->id);
    free_slot(lane, slot, ref);
}

/* The same for a lane of this thread's own that has room for it, and a task without an id. */
static inline __attribute__((always_inline)) void finish_fast(sonde__lane_local *lane,
                                                              sonde__slot *slot, sonde__ref ref,
                                                              uint64_t end, unsigned status,
                                                              uint32_t attr_bytes)
{
    uint64_t meta = sonde__slot_meta_of(slot);
    lane->top = sonde__meta_below(meta);
    sonde__ring_record head = head_of(slot, ref.number, meta, end, status);
    head.attr_bytes = attr_bytes;
    void *place = lane->ring + (lane->head & (SONDE__RING_BYTES - 1));
    fill_record(lane, place, slot, head, attr_bytes);
    sonde__ring_publish(lane, (uint32_t)sizeof head + attr_bytes);
    free_slot(lane, slot, ref);
}

/* Ends the task on top of the stack, as status. */
static void pop(sonde__lane_local *lane, uint16_t *top, uint64_t end, unsigned status)
{
    sonde__slot *slot = &lane->slots[*top];
    sonde__ref ref = {.number = state_of(slot) >> 2, .lane = lane->index, .slot = *top};
    if (claim_slot(slot, ref.number))
        finish(lane, slot, ref, end, status);
    else
        pop_lost(lane, top);
}

static bool is_on_stack(const sonde__lane_local *lane, uint16_t top, uint16_t index)
{
    for (; top != SONDE__NO_SLOT; top = sonde__meta_below(sonde__slot_meta_of(&lane->slots[top])))
        if (top == index)
            return true;
    return false;
}

/* A task of another thread, or one that its thread left behind: the record goes into this thread's
   lane with the identity the task has in its own. */
static void end_elsewhere(sonde__lane_local *lane, sonde__ref ref, uint64_t end, unsigned status)
{
    sonde__lane_local *owner = sonde__lane_of(&ref);
    sonde__slot *slot = owner ? &owner->slots[ref.slot] : NULL;
    if (!slot || !claim_slot(slot, ref.number)) {
        sonde__lane_count(&lane->header->stale);
        return;
    }
    uint64_t id = slot->id ? slot->id : sonde__span_id(lane->run, ref.lane, ref.number);
    uint64_t meta = sonde__slot_meta_of(slot);
    unsigned kind = sonde__meta_flags(meta) & SONDE__PARENT_MASK;
    uint64_t parent = slot->parent;
    if (kind == SONDE__PARENT_LANE) {
        parent = sonde__span_id(lane->run, ref.lane, parent);
        kind = SONDE__PARENT_SPAN;
    }
    sonde__ring_record head = head_of(slot, ++lane->number, meta, end, status);
    head.flags = (uint8_t)(kind | status);
    head.parent = parent;
    write_task(lane, slot, head, id);
    atomic_store_explicit(&slot->state, ref.number << 2 | SONDE__SLOT_ENDED, memory_order_release);
}

static __attribute__((noinline)) void end_slow(sonde__lane_local *lane, uint16_t *top,
                                               sonde__ref ref, uint64_t end, unsigned status)
{
    settle_top(lane, top);
    if (ref.lane != lane->index || !is_on_stack(lane, *top, ref.slot)) {
        end_elsewhere(lane, ref, end, status);
        return;
    }
    if (state_of(&lane->slots[ref.slot]) != (ref.number << 2 | SONDE__SLOT_OPEN)) {
        sonde__lane_count(&lane->header->stale);
        return;
    }
    while (*top != SONDE__NO_SLOT && *top != ref.slot)
        pop(lane, top, end, SONDE_UNKNOWN);
    if (*top == ref.slot)
        pop(lane, top, end, status);
}

static __attribute__((noinline)) void put_error(sonde__lane_local *lane, sonde__ref ref,
                                                const char *error, size_t len)
{
    sonde__task_attr(lane, ref, SONDE__GROUP_SYSTEM, SONDE__SYS_ERROR, SONDE_ATTR_STRING, error,
                     len);
}

void sonde__task_end_at(sonde_task task, sonde_task_status status, const char *error,
                        size_t error_len, uint64_t end_ticks)
{
    if (UNLIKELY(is_unsampled(task))) {
        sonde__task_metrics_unsampled(task, status);
        return;
    }
    sonde__lane_local *lane = sonde__lane_enter(true);
    if (UNLIKELY(!lane))
        return;
    uint64_t end = end_ticks ? end_ticks : sonde__ticks_now(lane->tsc);
    sonde__ref ref = sonde__ref_of(task);
    uint16_t *top = sonde__lane_top(lane);
    unsigned bits = (unsigned)status & SONDE__STATUS_MASK;
    if (UNLIKELY(error != NULL))
        put_error(lane, ref, error, error_len);
    if (LIKELY(ref.lane == lane->index && *top == ref.slot &&
               state_of(&lane->slots[ref.slot]) == (ref.number << 2 | SONDE__SLOT_OPEN)))
        pop(lane, top, end, bits);
    else
        end_slow(lane, top, ref, end, bits);
    sonde__lane_leave(lane);
}

static __attribute__((noinline)) void end_measured(sonde_task task, sonde_task_status status,
                                                   const char *error, size_t error_len)
{
    sonde__task_end_measured(task, status, error, error_len, sonde__measure_end());
}

void sonde_task_end_on(sonde_task task, sonde_task_status status, const char *error,
                       size_t error_len)
{
    if (sonde__measuring_now()) {
        end_measured(task, status, error, error_len);
        return;
    }
    sonde__lane_local *lane = error ? NULL : sonde__lane_enter_fast(true);
    if (UNLIKELY(!lane)) {
        sonde__task_end_at(task, status, error, error_len, 0);
        return;
    }
    uint64_t end = sonde__ticks_now(true);
    sonde__ref ref = sonde__ref_of(task);
    sonde__slot *slot = &lane->slots[ref.slot];
    uint32_t attr_bytes = atomic_load_explicit(&slot->attr_bytes, memory_order_relaxed);
    if (LIKELY(ref.lane == lane->index && lane->top == ref.slot && slot->id == 0 &&
               lane->head + sizeof(sonde__ring_record) + attr_bytes <= lane->limit &&
               claim_slot(slot, ref.number))) {
        finish_fast(lane, slot, ref, end, (unsigned)status & SONDE__STATUS_MASK, attr_bytes);
        sonde__lane_leave_fast(lane);
        return;
    }
    sonde__lane_leave_fast(lane);
    sonde__task_end_at(task, status, NULL, 0, 0);
}
