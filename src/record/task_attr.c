/* SPDX-License-Identifier: Apache-2.0 */
/* Values on tasks. They lie in the slot of the open task, where a reader of the live process sees
   them; what does not fit goes into the ring as a record of its own (a spill), and so do values
   that another thread gives. */
#include "base/ticks.h"
#include "record/recorder.h"
#include "record/task_impl.h"
#include "sonde/reader.h"

#include <string.h>

enum {
    ATTR_HEAD = sizeof(sonde__ring_attr),
    /* longest value in one record: head of the record, of the attribute, the full length, padding
     */
    VALUE_MAX = SONDE__RECORD_BYTES_MAX - (int)sizeof(sonde__ring_record) - ATTR_HEAD - 16,
};

sonde__lane_local *sonde__lane_of(const sonde__ref *ref)
{
    if (sonde__ref_unsampled(*ref))
        return NULL;
    if (ref->lane > SONDE__LANES_LIMIT)
        return NULL;
    return atomic_load_explicit(&sonde__the_recorder.by_index[ref->lane], memory_order_acquire);
}

/* The 8 bytes of a sonde__ring_attr, made in a register. */
static inline uint64_t attr_word(uint32_t key, unsigned type, unsigned group, size_t len)
{
    return key | (uint64_t)type << 32 | (uint64_t)group << 40 | (uint64_t)len << 48;
}

static uint32_t padded(size_t len)
{
    return (uint32_t)(len + 7) & ~7u;
}

/* One attribute at out: cut says that data was longer, full is its length then. */
static void put_attr(uint8_t *out, unsigned group, uint32_t key, unsigned type, const void *data,
                     size_t len, uint64_t full)
{
    bool cut = full > len;
    sonde__ring_attr attr = {
        .key = key,
        .type = (uint8_t)(type | (cut ? SONDE__TYPE_CUT : 0u)),
        .group = (uint8_t)group,
        .len = (uint16_t)(len + (cut ? 8 : 0)),
    };
    memcpy(out, &attr, ATTR_HEAD);
    out += ATTR_HEAD;
    if (cut) {
        memcpy(out, &full, 8);
        out += 8;
    }
    if (len > 0)
        memcpy(out, data, len);
}

/* Bytes already encoded, as an ATTRS record for task number of this lane, or for a span id. */
static void *spill_reserve(sonde__lane_local *lane, uint64_t number, uint64_t span,
                           uint32_t attr_bytes)
{
    uint32_t bytes = (uint32_t)sizeof(sonde__ring_record) + attr_bytes;
    sonde__ring_record *record = sonde__ring_reserve(lane, bytes);
    if (!record) {
        sonde__lane_drop(lane, SONDE_LOSS_FULL);
        return NULL;
    }
    *record = (sonde__ring_record){
        .seq = (uint32_t)lane->seq,
        .words = (uint16_t)(bytes / 8),
        .kind = SONDE__KIND_ATTRS,
        .flags = span ? SONDE__TARGET_SPAN | SONDE__PARENT_SPAN : 0,
        .start = sonde__ticks_now(lane->tsc),
        .attr_bytes = attr_bytes,
        .number = number,
        .parent = span,
    };
    return record + 1;
}

static void spill_one(sonde__lane_local *lane, uint64_t number, uint64_t span, unsigned group,
                      uint32_t key, unsigned type, const void *data, size_t len)
{
    size_t kept = len;
    if (kept > VALUE_MAX) {
        kept = VALUE_MAX;
        sonde__lane_count(&lane->header->cut);
    }
    uint32_t bytes = ATTR_HEAD + padded(kept + (kept < len ? 8 : 0));
    void *out = spill_reserve(lane, number, span, bytes);
    if (!out)
        return;
    memset((uint8_t *)out + bytes - 8, 0, 8); /* the padding */
    put_attr(out, group, key, type, data, kept, len);
    sonde__ring_publish(lane, (uint32_t)sizeof(sonde__ring_record) + bytes);
}

/* Moves the slot's values into the ring to make room. */
static void spill_slot(sonde__lane_local *lane, sonde__slot *slot, uint64_t number)
{
    uint32_t bytes = atomic_load_explicit(&slot->attr_bytes, memory_order_relaxed);
    void *out = spill_reserve(lane, number, slot->id, bytes);
    if (!out)
        return;
    sonde__copy_words(out, slot->attrs, bytes);
    sonde__ring_publish(lane, (uint32_t)sizeof(sonde__ring_record) + bytes);
    atomic_store_explicit(&slot->attr_bytes, 0, memory_order_release);
}

static void slot_attr_slow(sonde__lane_local *lane, sonde__slot *slot, unsigned group, uint32_t key,
                           unsigned type, const void *data, size_t len)
{
    uint64_t number = atomic_load_explicit(&slot->state, memory_order_relaxed) >> 2;
    if (ATTR_HEAD + (uint64_t)len > SONDE__SLOT_ATTR_BYTES / 2) {
        spill_one(lane, number, slot->id, group, key, type, data, len);
        return;
    }
    spill_slot(lane, slot, number);
    if (atomic_load_explicit(&slot->attr_bytes, memory_order_relaxed) == 0)
        sonde__slot_attr(lane, slot, group, key, type, data, len);
}

void sonde__slot_attr(sonde__lane_local *lane, sonde__slot *slot, unsigned group, uint32_t key,
                      unsigned type, const void *data, size_t len)
{
    uint32_t used = atomic_load_explicit(&slot->attr_bytes, memory_order_relaxed);
    if (len > SONDE__SLOT_ATTR_BYTES || used + ATTR_HEAD + padded(len) > SONDE__SLOT_ATTR_BYTES) {
        slot_attr_slow(lane, slot, group, key, type, data, len);
        return;
    }
    put_attr(slot->attrs + used, group, key, type, data, len, len);
    atomic_store_explicit(&slot->attr_bytes, used + ATTR_HEAD + padded(len), memory_order_release);
}

/* Whether the slot that a handle names is its task's, and the task is open in this very lane (or in
   the shared one, whose lock is held). */
static inline bool is_own(const sonde__lane_local *lane, const sonde__slot *slot, sonde__ref ref)
{
    return __builtin_expect(ref.lane == lane->index &&
                                atomic_load_explicit(&slot->state, memory_order_relaxed) ==
                                    (ref.number << 2 | SONDE__SLOT_OPEN),
                            1);
}

/* The span id of a task that is still open, wherever; 0: it is not. */
static uint64_t open_span(const sonde__lane_local *lane, sonde__ref ref)
{
    sonde__lane_local *owner = sonde__lane_of(&ref);
    if (!owner)
        return 0;
    const sonde__slot *slot = &owner->slots[ref.slot];
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (state != (ref.number << 2 | SONDE__SLOT_OPEN))
        return 0;
    return slot->id ? slot->id : sonde__span_id(lane->run, ref.lane, ref.number);
}

void sonde__task_attr(sonde__lane_local *lane, sonde__ref ref, unsigned group, uint32_t key,
                      unsigned type, const void *data, size_t len)
{
    sonde__slot *slot = &lane->slots[ref.slot];
    if (is_own(lane, slot, ref)) {
        sonde__slot_attr(lane, slot, group, key, type, data, len);
        return;
    }
    uint64_t span = open_span(lane, ref);
    if (span)
        spill_one(lane, 0, span, group, key, type, data, len);
    else if (!sonde__ref_unsampled(ref))
        sonde__lane_count(&lane->header->stale);
}

static __attribute__((noinline)) void attr_slow(sonde_task task, unsigned group, sonde_name *key,
                                                unsigned type, const void *data, size_t len)
{
    if (group >= SONDE_GROUP_COUNT)
        return;
    uint32_t id = sonde__name_id(key);
    sonde__lane_local *lane = sonde__lane_enter(true);
    if (!lane)
        return;
    sonde__task_attr(lane, sonde__ref_of(task), group, id, type, data, len);
    sonde__lane_leave(lane);
}

static __attribute__((noinline)) void word_slow(sonde_task task, unsigned group, sonde_name *key,
                                                unsigned type, uint64_t word)
{
    attr_slow(task, group, key, type, &word, sizeof word);
}

/* 8-byte values into the slot; whatever is unusual goes the slow way. */
static inline __attribute__((always_inline)) void word_attr(sonde_task task, unsigned group,
                                                            sonde_name *key, unsigned type,
                                                            uint64_t word)
{
    uint32_t id = __atomic_load_n(&key->id, __ATOMIC_RELAXED);
    sonde__lane_local *lane = sonde__lane_enter_fast(false);
    if (__builtin_expect(lane != NULL, 1)) {
        sonde__ref ref = sonde__ref_of(task);
        sonde__slot *slot = &lane->slots[ref.slot];
        uint32_t used = atomic_load_explicit(&slot->attr_bytes, memory_order_relaxed);
        if (__builtin_expect(is_own(lane, slot, ref) && id != 0 &&
                                 used + 16 <= SONDE__SLOT_ATTR_BYTES && group < SONDE_GROUP_COUNT,
                             1)) {
            uint64_t head = attr_word(id, type, group, 8);
            memcpy(slot->attrs + used, &head, 8);
            memcpy(slot->attrs + used + 8, &word, 8);
            atomic_store_explicit(&slot->attr_bytes, used + 16, memory_order_release);
            sonde__lane_leave_fast(lane);
            return;
        }
        sonde__lane_leave_fast(lane);
    }
    word_slow(task, group, key, type, word);
}

void sonde_task_int_on(sonde_task task, sonde_group group, sonde_name *key, int64_t value)
{
    word_attr(task, group, key, SONDE_ATTR_INT, (uint64_t)value);
}

void sonde_task_uint_on(sonde_task task, sonde_group group, sonde_name *key, uint64_t value)
{
    word_attr(task, group, key, SONDE_ATTR_UINT, value);
}

void sonde_task_double_on(sonde_task task, sonde_group group, sonde_name *key, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    word_attr(task, group, key, SONDE_ATTR_DOUBLE, word);
}

void sonde_task_bool_on(sonde_task task, sonde_group group, sonde_name *key, int value)
{
    word_attr(task, group, key, SONDE_ATTR_BOOL, value != 0);
}

/* Short values into the slot without a detour: the words that hold them, padding included, are
   written whole. */
static inline bool short_attr(sonde__slot *slot, unsigned group, uint32_t key, unsigned type,
                              const void *data, size_t len)
{
    uint32_t used = atomic_load_explicit(&slot->attr_bytes, memory_order_relaxed);
    if (len > 32 || len < 8 || used + ATTR_HEAD + 32 > SONDE__SLOT_ATTR_BYTES)
        return false;
    uint64_t head = attr_word(key, type, group, len);
    uint8_t *out = slot->attrs + used;
    memcpy(out, &head, sizeof head);
    if (len <= 16) {
        memcpy(out + 8, data, 8);
        memcpy(out + len, (const uint8_t *)data + len - 8, 8); /* the last 8 bytes, overlapping */
    } else {
        memcpy(out + 8, data, 16);
        memcpy(out + len - 8, (const uint8_t *)data + len - 16, 16);
    }
    atomic_store_explicit(&slot->attr_bytes, used + ATTR_HEAD + padded(len), memory_order_release);
    return true;
}

void sonde_task_data_on(sonde_task task, sonde_group group, sonde_name *key, sonde_attr_type type,
                        const void *data, size_t len)
{
    if ((unsigned)group >= SONDE_GROUP_COUNT || type < SONDE_ATTR_STRING || type > SONDE_ATTR_JSON)
        return;
    uint32_t id = __atomic_load_n(&key->id, __ATOMIC_RELAXED);
    sonde__lane_local *lane = sonde__lane_enter_fast(false);
    if (__builtin_expect(lane != NULL, 1)) {
        sonde__ref ref = sonde__ref_of(task);
        sonde__slot *slot = &lane->slots[ref.slot];
        bool done =
            is_own(lane, slot, ref) && id != 0 && short_attr(slot, group, id, type, data, len);
        sonde__lane_leave_fast(lane);
        if (__builtin_expect(done, 1))
            return;
    }
    attr_slow(task, group, key, type, data, len);
}

static void system_attr(sonde_task task, sonde__sys key, unsigned type, const void *data,
                        size_t len)
{
    if (!task)
        return;
    sonde__lane_local *lane = sonde__lane_enter(true);
    if (!lane)
        return;
    sonde__ref ref = sonde__ref_of(task);
    sonde__task_attr(lane, ref, SONDE__GROUP_SYSTEM, key, type, data, len);
    sonde__lane_leave(lane);
}

static void system_text(sonde_task task, sonde__sys key, const char *text)
{
    if (text)
        system_attr(task, key, SONDE_ATTR_STRING, text, strlen(text));
}

void sonde_task_subtype(sonde_task task, const char *text)
{
    system_text(task, SONDE__SYS_SUBTYPE, text);
}

void sonde_task_tag(sonde_task task, const char *text)
{
    system_text(task, SONDE__SYS_TAG, text);
}

void sonde_task_device(sonde_task task, const char *text)
{
    system_text(task, SONDE__SYS_DEVICE, text);
}

void sonde_task_worker(sonde_task task, const char *text)
{
    system_text(task, SONDE__SYS_WORKER, text);
}

void sonde_task_group(sonde_task task, const char *text)
{
    system_text(task, SONDE__SYS_GROUP, text);
}

void sonde_task_layer(sonde_task task, int64_t layer)
{
    system_attr(task, SONDE__SYS_LAYER, SONDE_ATTR_INT, &layer, sizeof layer);
}

void sonde_task_link(sonde_task task, sonde_context other)
{
    system_attr(task, SONDE__SYS_LINK, SONDE_ATTR_BYTES, &other, sizeof other);
}

void sonde_task_event(sonde_task task, sonde_name *event, const char *json, size_t len)
{
    enum { JSON_MAX = 4096 };
    if (!task)
        return;
    uint32_t name = sonde__name_id(event);
    sonde__lane_local *lane = sonde__lane_enter(true);
    if (!lane)
        return;
    uint8_t value[16 + JSON_MAX];
    uint64_t now = sonde__ticks_now(lane->tsc);
    memset(value, 0, 16);
    memcpy(value, &now, sizeof now);
    memcpy(value + 8, &name, sizeof name);
    if (len > JSON_MAX || !json) {
        if (len > JSON_MAX)
            sonde__lane_count(&lane->header->cut); /* half a JSON value is none */
        len = 0;
    }
    if (len > 0)
        memcpy(value + 16, json, len);
    sonde__ref ref = sonde__ref_of(task);
    sonde__task_attr(lane, ref, SONDE__GROUP_SYSTEM, SONDE__SYS_EVENT, SONDE__TYPE_EVENT, value,
                     16 + len);
    sonde__lane_leave(lane);
}
