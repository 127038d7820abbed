/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that do not simply begin and end here: submitted work, work measured elsewhere, and the
   identity of tasks for others. */
#include "base/ids.h"
#include "record/recorder.h"
#include "record/task_impl.h"
#include "record/task_metrics.h"
#include "sonde/reader.h"

#include <string.h>

const char *sonde_task_status_name(sonde_task_status status)
{
    static const char *const names[] = {"UNKNOWN", "SUBMITTED", "WAITING",
                                        "RUNNING", "FINISHED",  "ERROR"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : names[0];
}

/* The span id of the innermost open task; 0: none. */
static uint64_t top_span(sonde__lane_local *lane)
{
    uint16_t top = *sonde__lane_top(lane);
    if (top == SONDE__NO_SLOT)
        return 0;
    const sonde__slot *slot = &lane->slots[top];
    uint64_t number = atomic_load_explicit(&slot->state, memory_order_relaxed) >> 2;
    return slot->id ? slot->id : sonde__span_id(lane->run, lane->index, number);
}

sonde_task sonde_task_current(void)
{
    sonde__lane_local *lane = sonde__lane_mine();
    if (__atomic_load_n(&lane->state, __ATOMIC_RELAXED) == SONDE_LANE_ASK &&
        !__atomic_load_n(&sonde__the_recorder.lanes_exhausted, __ATOMIC_RELAXED))
        return 0; /* nothing was begun by this thread, or in this process after a fork */
    lane = sonde__lane_enter(true);
    if (!lane)
        return 0;
    sonde_task task = 0;
    uint16_t top = *sonde__lane_top(lane);
    if (top != SONDE__NO_SLOT) {
        uint64_t number = atomic_load_explicit(&lane->slots[top].state, memory_order_relaxed) >> 2;
        task = number << (SONDE__SLOT_BITS + SONDE__LANE_BITS) |
               (uint64_t)lane->index << SONDE__SLOT_BITS | top;
    }
    sonde__lane_leave(lane);
    return task;
}

sonde_context sonde_task_context(sonde_task task)
{
    sonde_context context = {0, 0, 0};
    if (!task)
        return context;
    sonde__lane_local *lane = sonde__lane_enter(true);
    if (!lane)
        return context;
    sonde__ref ref = sonde__ref_of(task);
    const sonde__lane_local *owner = sonde__lane_of(&ref);
    if (owner) {
        const sonde__slot *slot = &owner->slots[ref.slot];
        uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        uint64_t id = state == (ref.number << 2 | SONDE__SLOT_OPEN) ? slot->id : 0;
        const sonde__segment_header *header =
            sonde__segment_header_of(&sonde__the_recorder.segment);
        context.trace_hi = header->trace_hi;
        context.trace_lo = header->trace_lo;
        context.span = id ? id : sonde__span_id(lane->run, ref.lane, ref.number);
    }
    sonde__lane_leave(lane);
    return context;
}

void sonde_task_set_status(sonde_task task, sonde_task_status status)
{
    sonde__lane_local *lane = task ? sonde__lane_enter(true) : NULL;
    if (!lane)
        return;
    sonde__ref ref = sonde__ref_of(task);
    sonde__lane_local *owner = sonde__lane_of(&ref);
    sonde__slot *slot = owner ? &owner->slots[ref.slot] : NULL;
    bool open = slot && atomic_load_explicit(&slot->state, memory_order_relaxed) ==
                            (ref.number << 2 | SONDE__SLOT_OPEN);
    if (open) {
        uint64_t meta = sonde__slot_meta_of(slot);
        uint64_t bits = (uint64_t)((unsigned)status & SONDE__STATUS_MASK) << 40;
        while (!atomic_compare_exchange_weak_explicit(&slot->meta, &meta,
                                                      (meta & ~((uint64_t)0xff << 40)) | bits,
                                                      memory_order_relaxed, memory_order_relaxed)) {
        }
    } else if (!sonde__ref_unsampled(ref)) {
        sonde__lane_count(&lane->header->stale);
    }
    sonde__lane_leave(lane);
}

sonde_ticket sonde_task_submit(sonde_name *activity)
{
    sonde_ticket ticket = {{0, 0, 0}, 0, 0, activity};
    if (!sonde_enabled())
        return ticket;
    uint32_t name = sonde__name_id(activity);
    sonde__lane_local *lane = sonde__lane_enter(false);
    if (!lane)
        return ticket;
    sonde__ring_record *record = sonde__ring_reserve(lane, sizeof *record);
    if (record) {
        uint64_t number = ++lane->number;
        ticket.parent = top_span(lane);
        ticket.submitted = sonde__ticks_now(lane->tsc);
        ticket.self.span = sonde__span_id(lane->run, lane->index, number);
        *record = (sonde__ring_record){
            .seq = (uint32_t)lane->seq,
            .words = sizeof *record / 8,
            .kind = SONDE__KIND_SUBMIT,
            .flags = (uint8_t)(SONDE_SUBMITTED |
                               (ticket.parent ? SONDE__PARENT_SPAN : SONDE__PARENT_NONE)),
            .start = ticket.submitted,
            .name = name,
            .number = number,
            .parent = ticket.parent,
        };
        sonde__ring_publish(lane, sizeof *record);
    } else {
        sonde__lane_drop(lane, SONDE_LOSS_FULL);
    }
    sonde__lane_leave(lane);
    if (ticket.self.span != 0)
        sonde__task_metrics_submitted(activity);
    return ticket;
}

/* Encodes the attributes of a given task; what does not fit into one record is left out and
   counted. */
typedef struct pack {
    uint8_t bytes[SONDE__RECORD_BYTES_MAX - sizeof(sonde__ring_record)];
    uint32_t used;
    uint64_t left_out;
} pack;

static void pack_add(pack *p, unsigned group, uint32_t key, unsigned type, const void *data,
                     size_t len)
{
    uint32_t padded = (uint32_t)(len + 7) & ~7u;
    if (len > sizeof p->bytes || sizeof p->bytes - p->used < sizeof(sonde__ring_attr) + padded) {
        p->left_out++;
        return;
    }
    sonde__ring_attr attr = {key, (uint8_t)type, (uint8_t)group, (uint16_t)len};
    memcpy(p->bytes + p->used, &attr, sizeof attr);
    p->used += (uint32_t)sizeof attr;
    if (padded > 0)
        memset(p->bytes + p->used + padded - 8, 0, 8);
    if (len > 0)
        memcpy(p->bytes + p->used, data, len);
    p->used += padded;
}

static void pack_text(pack *p, sonde__sys key, const char *text)
{
    if (text)
        pack_add(p, SONDE__GROUP_SYSTEM, key, SONDE_ATTR_STRING, text, strlen(text));
}

static uint32_t key_id(const sonde_attr *attr)
{
    if (attr->key_len == 0)
        return sonde__name_id(sonde_name_get(attr->key));
    char text[SONDE__NAME_LEN_MAX + 1];
    size_t len = attr->key_len < SONDE__NAME_LEN_MAX ? attr->key_len : SONDE__NAME_LEN_MAX;
    memcpy(text, attr->key, len);
    text[len] = '\0';
    return sonde__name_id(sonde_name_get(text));
}

static void pack_attr(pack *p, const sonde_attr *attr)
{
    if ((unsigned)attr->group >= SONDE_GROUP_COUNT)
        return;
    uint32_t key = key_id(attr);
    uint64_t word = attr->value.u;
    switch (attr->type) {
    case SONDE_ATTR_BOOL:
        word = attr->value.b != 0;
        pack_add(p, attr->group, key, attr->type, &word, 8);
        break;
    case SONDE_ATTR_INT:
    case SONDE_ATTR_UINT:
    case SONDE_ATTR_DOUBLE:
        pack_add(p, attr->group, key, attr->type, &word, 8);
        break;
    case SONDE_ATTR_STRING:
    case SONDE_ATTR_BYTES:
    case SONDE_ATTR_JSON:
        pack_add(p, attr->group, key, attr->type, attr->value.s.data, attr->value.s.len);
        break;
    }
}

void sonde_task_attrs(sonde_task task, const sonde_attr *attrs, size_t count)
{
    for (size_t i = 0; task && i < count; i++) {
        const sonde_attr *attr = &attrs[i];
        sonde_name name = {NULL, key_id(attr), 0};
        switch (attr->type) {
        case SONDE_ATTR_INT:
            sonde_task_int_on(task, attr->group, &name, attr->value.i);
            break;
        case SONDE_ATTR_UINT:
            sonde_task_uint_on(task, attr->group, &name, attr->value.u);
            break;
        case SONDE_ATTR_DOUBLE:
            sonde_task_double_on(task, attr->group, &name, attr->value.d);
            break;
        case SONDE_ATTR_BOOL:
            sonde_task_bool_on(task, attr->group, &name, attr->value.b);
            break;
        case SONDE_ATTR_STRING:
        case SONDE_ATTR_BYTES:
        case SONDE_ATTR_JSON:
            sonde_task_data_on(task, attr->group, &name, attr->type, attr->value.s.data,
                               attr->value.s.len);
            break;
        }
    }
}

static void pack_info(pack *p, const sonde_task_info *info)
{
    p->used = 0;
    p->left_out = 0;
    pack_text(p, SONDE__SYS_SUBTYPE, info->subtype);
    pack_text(p, SONDE__SYS_DEVICE, info->device);
    pack_text(p, SONDE__SYS_WORKER, info->worker);
    pack_text(p, SONDE__SYS_GROUP, info->group);
    if (info->layer)
        pack_add(p, SONDE__GROUP_SYSTEM, SONDE__SYS_LAYER, SONDE_ATTR_INT, info->layer, 8);
    if (info->submitted_wall_ns) /* UINT instead of TICKS: wall time */
        pack_add(p, SONDE__GROUP_SYSTEM, SONDE__SYS_SUBMITTED, SONDE_ATTR_UINT,
                 &info->submitted_wall_ns, 8);
    uint64_t trace[2] = {info->parent.trace_hi, info->parent.trace_lo};
    const sonde_session *session = &sonde__the_recorder.session;
    if ((trace[0] | trace[1]) != 0 &&
        (trace[0] != session->trace_hi || trace[1] != session->trace_lo))
        pack_add(p, SONDE__GROUP_SYSTEM, SONDE__SYS_TRACE, SONDE_ATTR_BYTES, trace, sizeof trace);
    for (size_t i = 0; i < info->attr_count; i++)
        pack_attr(p, &info->attrs[i]);
    pack_text(p, SONDE__SYS_ERROR, info->error);
}

static sonde_context write_given(sonde__lane_local *lane, const sonde_task_info *info,
                                 uint32_t name, const pack *p)
{
    sonde_context self = {0, 0, 0};
    uint32_t bytes = (uint32_t)sizeof(sonde__ring_record) + p->used;
    sonde__ring_record *record = sonde__ring_reserve(lane, bytes);
    if (!record) {
        sonde__lane_drop(lane, SONDE_LOSS_FULL);
        return self;
    }
    uint64_t parent = info->parent.span ? info->parent.span : top_span(lane);
    uint64_t number = ++lane->number;
    *record = (sonde__ring_record){
        .seq = (uint32_t)lane->seq,
        .words = (uint16_t)(bytes / 8),
        .kind = SONDE__KIND_TASK,
        .flags = (uint8_t)(((unsigned)info->status & SONDE__STATUS_MASK) | SONDE__GIVEN_TIMES |
                           (parent ? SONDE__PARENT_SPAN : SONDE__PARENT_NONE)),
        .start = info->start_wall_ns,
        .end = info->start_wall_ns + info->duration_ns,
        .name = name,
        .attr_bytes = p->used,
        .number = number,
        .parent = parent,
    };
    memcpy(record + 1, p->bytes, p->used);
    sonde__ring_publish(lane, bytes);
    const sonde__segment_header *header = sonde__segment_header_of(&sonde__the_recorder.segment);
    self.trace_hi = header->trace_hi;
    self.trace_lo = header->trace_lo;
    self.span = sonde__span_id(lane->run, lane->index, number);
    return self;
}

sonde_context sonde_task_record(const sonde_task_info *info)
{
    sonde_context self = {0, 0, 0};
    if (!info->activity || !sonde_enabled())
        return self;
    uint32_t name = sonde__name_id(info->activity);
    pack p;
    pack_info(&p, info);
    sonde__lane_local *lane = sonde__lane_enter(false);
    if (!lane)
        return self;
    for (; p.left_out > 0; p.left_out--)
        sonde__lane_count(&lane->header->cut);
    self = write_given(lane, info, name, &p);
    sonde__lane_leave(lane);
    return self;
}

void sonde_context_format(sonde_context context, char out[SONDE_TRACEPARENT_SIZE])
{
    memcpy(out, "00-", 3);
    sonde__id_to_hex(context.trace_hi, out + 3);
    sonde__id_to_hex(context.trace_lo, out + 19);
    out[35] = '-';
    sonde__id_to_hex(context.span, out + 36);
    memcpy(out + 52, "-01", 3);
    out[SONDE_TRACEPARENT_SIZE - 1] = '\0';
}

/* Lower-case hexadecimal only, as the standard asks. */
static bool is_hex(const char *text, size_t len)
{
    return strspn(text, "0123456789abcdef") >= len;
}

sonde_status sonde_context_parse(const char *text, sonde_context *out)
{
    sonde_context context;
    size_t len = strlen(text);
    if (len < SONDE_TRACEPARENT_SIZE - 1 || !is_hex(text, 2) || memcmp(text, "ff", 2) == 0 ||
        (memcmp(text, "00", 2) == 0 && len != SONDE_TRACEPARENT_SIZE - 1) ||
        (len > SONDE_TRACEPARENT_SIZE - 1 && text[55] != '-'))
        return SONDE_EBADDATA;
    if (text[2] != '-' || text[35] != '-' || text[52] != '-' || !is_hex(text + 3, 32) ||
        !is_hex(text + 36, 16) || !is_hex(text + 53, 2) ||
        !sonde__id_from_hex(text + 3, 16, &context.trace_hi) ||
        !sonde__id_from_hex(text + 19, 16, &context.trace_lo) ||
        !sonde__id_from_hex(text + 36, 16, &context.span))
        return SONDE_EBADDATA;
    if ((context.trace_hi | context.trace_lo) == 0 || context.span == 0)
        return SONDE_EBADDATA;
    *out = context;
    return SONDE_OK;
}
