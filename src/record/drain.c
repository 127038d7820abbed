/* SPDX-License-Identifier: Apache-2.0 */
/* Draining. A record leaves its ring only when the frame that holds it is written (and synced,
   where that was asked for), so a journal that cannot be written loses nothing by itself: the rings
   fill up, and what does not fit then is counted by its lane. */
#include "record/drain.h"

#include "record/pump_segment.h"
#include "record/task_impl.h"
#include "sonde/reader.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static sonde__names_view names_of(const sonde__pump *pump)
{
    const sonde__segment_header *header = sonde__pump_header(pump);
    return (sonde__names_view){
        .area = pump->base + header->names_offset,
        .max = header->names_max,
        .bytes = header->names_bytes,
        .count = atomic_load_explicit(&header->names_count, memory_order_acquire),
    };
}

/* Number of the record at the tail. The drain stores tail_seq before tail and may die in between,
   so the record's own number decides. */
static uint64_t seq_at_tail(const sonde__pump *pump, const sonde__lane_header *lane, uint64_t tail)
{
    uint64_t seq = atomic_load_explicit(&lane->tail_seq, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&lane->head, memory_order_acquire);
    uint64_t at = tail & (lane->ring_bytes - 1);
    sonde__ring_record record;
    if (head - tail < 8)
        return seq;
    memcpy(&record, pump->base + lane->ring_offset + at, 8);
    if (record.kind == SONDE__KIND_PAD) {
        if (head - tail <= lane->ring_bytes - at)
            return seq;
        memcpy(&record, pump->base + lane->ring_offset, 8);
    }
    int32_t ahead = (int32_t)(record.seq - (uint32_t)seq);
    return seq + (uint64_t)(int64_t)ahead;
}

/* Reading starts again where the journal is known to be good. */
static void rewind_cursors(sonde__pump *pump)
{
    for (uint32_t i = 0; i < sonde__pump_lane_count(pump); i++) {
        const sonde__lane_header *lane = sonde__pump_lane(pump, i);
        pump->cursors[i].tail = atomic_load_explicit(&lane->tail, memory_order_relaxed);
        pump->cursors[i].seq = seq_at_tail(pump, lane, pump->cursors[i].tail);
        pump->cursors[i].damaged = false;
    }
}

sonde_status sonde__pump_init(sonde__pump *pump, uint8_t *base, uint64_t size,
                              sonde__journal *journal)
{
    sonde__frame_writer buffers = pump->frame;
    memset(pump, 0, sizeof *pump);
    pump->frame = buffers;
    pump->base = base;
    pump->size = size;
    pump->journal = journal;
    const sonde__segment_header *header = (const sonde__segment_header *)(const void *)base;
    sonde__anchor first = {header->first_ticks, header->first_mono_ns, 0};
    sonde__rate_init(&pump->rate, header->tsc != 0, first);
    pump->stopped = atomic_load_explicit(&header->journal_stopped, memory_order_relaxed) != 0;
    rewind_cursors(pump);
    return buffers.records ? SONDE_OK : sonde__frame_writer_init(&pump->frame);
}

void sonde__pump_free(sonde__pump *pump)
{
    sonde__frame_writer_free(&pump->frame);
    sonde__parts_free(&pump->parts);
}

static sonde_status write_frame(sonde__pump *pump)
{
    struct iovec body[2];
    if (!sonde__frame_finish(&pump->frame, body))
        return SONDE_ENOMEM;
    return sonde__journal_frame(pump->journal, &pump->frame.header, body, 2);
}

/* One record at the cursor into the frame. False: its bytes are not valid. */
static bool take_record(sonde__pump *pump, const sonde__names_view *names,
                        const sonde__lane_header *lane, sonde__cursor *cursor, uint64_t head)
{
    uint64_t mask = lane->ring_bytes - 1;
    uint64_t at = cursor->tail & mask;
    uint64_t avail = head - cursor->tail;
    const uint8_t *bytes = pump->base + lane->ring_offset + at;
    if (avail > lane->ring_bytes - at)
        avail = lane->ring_bytes - at;
    sonde__ring_record record;
    memcpy(&record, bytes, 8);
    uint64_t size = (uint64_t)record.words * 8;
    if (size < 8 || size > avail)
        return false;
    if (record.kind == SONDE__KIND_PAD) {
        cursor->tail += size;
        return true;
    }
    if (size < sizeof record || record.seq != (uint32_t)cursor->seq)
        return false;
    memcpy(&record, bytes, sizeof record);
    uint64_t count = 1;
    if (record.kind == SONDE__KIND_LOSS) {
        count = record.number;
        if (count == 0 || count > UINT32_MAX / 2)
            return false;
        sonde__frame_add_loss(&pump->frame, count, record.parent);
        pump->frame_lost += count;
    } else if ((record.kind > SONDE__KIND_ATTRS && record.kind != SONDE__KIND_TELEMETRY) ||
               size > SONDE__RECORD_BYTES_MAX || record.attr_bytes > size - sizeof record ||
               !sonde__frame_add(&pump->frame, names, &pump->rate, &record,
                                 bytes + sizeof record)) {
        return false;
    }
    if (pump->seen && cursor->seq >= cursor->counted) {
        cursor->counted = cursor->seq + count;
        pump->seen(pump, names, &record, bytes + sizeof record);
    }
    pump->frame.header.count += (uint32_t)count;
    cursor->tail += size;
    cursor->seq += count;
    return true;
}

void sonde__pump_skip(sonde__pump *pump, uint32_t index, uint64_t seq)
{
    const sonde__lane_header *lane = sonde__pump_lane(pump, index);
    sonde__cursor *cursor = &pump->cursors[index];
    uint64_t head = atomic_load_explicit(&lane->head, memory_order_acquire);
    sonde__names_view names = names_of(pump);
    cursor->told = seq;
    while (cursor->tail != head && cursor->seq < seq && !cursor->damaged) {
        /* into a frame that nobody writes */
        sonde__frame_begin(&pump->frame, 0, 0, (uint16_t)index, 0, 0);
        cursor->damaged = !take_record(pump, &names, lane, cursor, head);
    }
}

/* Tells the world how far a lane is written. */
static void commit(sonde__pump *pump, uint32_t index)
{
    sonde__lane_header *lane = sonde__pump_lane(pump, index);
    const sonde__cursor *cursor = &pump->cursors[index];
    pump->records += cursor->seq - atomic_load_explicit(&lane->tail_seq, memory_order_relaxed);
    atomic_store_explicit(&lane->tail_seq, cursor->seq, memory_order_relaxed);
    atomic_store(&lane->tail, cursor->tail);
    if (pump->moved)
        pump->moved(index);
}

/* The frame that was made has no room in the journal any more: what is in it becomes a number. */
static void drop_frame(sonde__pump *pump, uint32_t index)
{
    sonde__lane_header *lane = sonde__pump_lane(pump, index);
    uint64_t first = pump->frame.header.first_seq;
    if (atomic_load_explicit(&lane->drop_end, memory_order_relaxed) == 0 ||
        first < atomic_load_explicit(&lane->drop_first, memory_order_relaxed))
        atomic_store_explicit(&lane->drop_first, first, memory_order_relaxed);
    if (atomic_load_explicit(&lane->drop_end, memory_order_relaxed) < pump->cursors[index].seq)
        atomic_store_explicit(&lane->drop_end, pump->cursors[index].seq, memory_order_release);
    pump->lost += pump->frame.header.count;
}

/* Writes the frame that was made, or counts it where the journal's limit is reached. */
static sonde_status keep_or_drop(sonde__pump *pump, uint32_t index)
{
    const sonde__frame_writer *frame = &pump->frame;
    if (!pump->stopped && sonde__pump_over_limit(pump, sizeof frame->header + frame->strings.len +
                                                           frame->records_len)) {
        pump->stopped = true;
        atomic_store_explicit(&sonde__pump_header(pump)->journal_stopped, 1, memory_order_release);
    }
    if (pump->stopped) {
        drop_frame(pump, index);
        return SONDE_OK;
    }
    sonde_status status = write_frame(pump);
    if (status == SONDE_OK)
        pump->lost += pump->frame_lost;
    return status;
}

/* As much of a lane as goes into one frame. */
static void fill_frame(sonde__pump *pump, uint32_t index, uint64_t head)
{
    const sonde__segment_header *header = sonde__pump_header(pump);
    const sonde__lane_header *lane = sonde__pump_lane(pump, index);
    sonde__cursor *cursor = &pump->cursors[index];
    sonde__names_view names = names_of(pump);
    sonde__frame_begin(&pump->frame, header->session, header->run, (uint16_t)index, cursor->seq,
                       pump->rate.last.wall_offset_ns);
    pump->frame_lost = 0;
    uint64_t enough = cursor->tail + SONDE__FRAME_RING_BYTES;
    while (cursor->tail != head && cursor->tail < enough && !sonde__frame_full(&pump->frame) &&
           !cursor->damaged)
        cursor->damaged = !take_record(pump, &names, lane, cursor, head);
}

static sonde_status drain_lane(sonde__pump *pump, uint32_t index, bool *moved)
{
    sonde__segment_header *header = sonde__pump_header(pump);
    const sonde__lane_header *lane = sonde__pump_lane(pump, index);
    const sonde__cursor *cursor = &pump->cursors[index];
    uint64_t head = atomic_load_explicit(&lane->head, memory_order_acquire);
    while (cursor->tail != head && !cursor->damaged) {
        sonde_status status = sonde__pump_make_room(pump);
        if (status != SONDE_OK)
            return status;
        fill_frame(pump, index, head);
        if (pump->frame.header.records > 0) {
            status = keep_or_drop(pump, index);
            if (status != SONDE_OK)
                return status;
            *moved = true;
        }
        if (!pump->durable) {
            commit(pump, index);
            atomic_store_explicit(&header->journal_end, pump->journal->end, memory_order_relaxed);
        }
    }
    return SONDE_OK;
}

void sonde__pump_note_part(sonde__pump *pump)
{
    sonde__segment_header *header = sonde__pump_header(pump);
    atomic_store_explicit(&header->journal_end, pump->journal->end, memory_order_relaxed);
    atomic_store_explicit(&header->journal_part, pump->journal->part, memory_order_release);
}

sonde_status sonde__pump_sync(sonde__pump *pump)
{
    uint64_t bytes = pump->journal->end;
    unsigned part = pump->journal->part;
    sonde_status status = sonde__journal_sync(pump->journal);
    if (status != SONDE_OK) {
        if (pump->journal->part != part)
            sonde__parts_retire(&pump->parts, part, bytes);
        sonde__pump_note_part(pump);
        return status;
    }
    for (uint32_t i = 0; i < sonde__pump_lane_count(pump); i++)
        commit(pump, i);
    atomic_store_explicit(&sonde__pump_header(pump)->journal_end, pump->journal->end,
                          memory_order_relaxed);
    return SONDE_OK;
}

sonde_status sonde__pump_pass(sonde__pump *pump, bool *moved)
{
    sonde__segment_header *header = sonde__pump_header(pump);
    sonde__rate_update(&pump->rate, sonde__anchor_read(pump->rate.tsc));
    atomic_store_explicit(&header->wall_offset_ns, pump->rate.last.wall_offset_ns,
                          memory_order_relaxed);
    *moved = false;
    sonde_status status = SONDE_OK;
    if (pump->journal->end == 0)
        status = sonde__pump_begin_part(pump);
    for (uint32_t i = 0; i < sonde__pump_lane_count(pump) && status == SONDE_OK; i++)
        status = drain_lane(pump, i, moved);
    if (status == SONDE_OK && pump->durable && *moved)
        status = sonde__pump_sync(pump);
    if (status != SONDE_OK)
        rewind_cursors(pump);
    return status;
}

/* A frame with one LOSS record. */
static sonde_status write_loss(sonde__pump *pump, uint32_t lane, uint64_t first, uint64_t count,
                               uint64_t reasons)
{
    const sonde__segment_header *header = sonde__pump_header(pump);
    sonde__frame_begin(&pump->frame, header->session, header->run, (uint16_t)lane, first,
                       pump->rate.last.wall_offset_ns);
    sonde__frame_add_loss(&pump->frame, count, reasons);
    pump->frame.header.count = (uint32_t)count;
    return write_frame(pump);
}

sonde_status sonde__pump_tell_dropped(sonde__pump *pump)
{
    sonde_status status = SONDE_OK;
    for (uint32_t i = 0; i < sonde__pump_lane_count(pump); i++) {
        const sonde__lane_header *lane = sonde__pump_lane(pump, i);
        sonde__cursor *cursor = &pump->cursors[i];
        uint64_t end = atomic_load_explicit(&lane->drop_end, memory_order_acquire);
        uint64_t first = atomic_load_explicit(&lane->drop_first, memory_order_relaxed);
        if (first < cursor->told)
            first = cursor->told;
        while (first < end && status == SONDE_OK) {
            uint64_t count = end - first < UINT32_MAX / 2 ? end - first : UINT32_MAX / 2;
            status = write_loss(pump, i, first, count, SONDE_LOSS_LIMIT);
            if (status == SONDE_OK)
                cursor->told = first += count;
        }
    }
    return status;
}

/* Losses that no LOSS record tells, because nothing was recorded after them. */
static sonde_status finish_losses(sonde__pump *pump)
{
    sonde__segment_header *header = sonde__pump_header(pump);
    sonde_status status = sonde__pump_tell_dropped(pump);
    for (uint32_t i = 0; i < sonde__pump_lane_count(pump) && status == SONDE_OK; i++) {
        const sonde__lane_header *lane = sonde__pump_lane(pump, i);
        uint64_t count = atomic_load_explicit(&lane->loss_count, memory_order_acquire);
        uint64_t first = atomic_load_explicit(&lane->loss_first, memory_order_relaxed);
        if (count == 0 || count > UINT32_MAX / 2 || first != pump->cursors[i].seq)
            continue;
        status = write_loss(pump, i, first, count,
                            atomic_load_explicit(&lane->loss_reasons, memory_order_relaxed));
        if (status == SONDE_OK) {
            pump->cursors[i].seq += count;
            pump->lost += count;
            commit(pump, i);
            atomic_store_explicit(&header->journal_end, pump->journal->end, memory_order_relaxed);
        }
    }
    return status;
}

/* The bytes of a slot, when there is an open task in it. Where threads may be writing to it, they
   come through the kernel. */
static bool copy_slot(const sonde__pump *pump, uint64_t offset, sonde__slot *out)
{
    sonde__slot *slot = (sonde__slot *)(void *)(pump->base + offset);
    unsigned phase = atomic_load_explicit(&slot->state, memory_order_acquire) & 3;
    if (phase != SONDE__SLOT_OPEN && phase != SONDE__SLOT_ENDING)
        return false;
    if (!pump->live) {
        memcpy(out, slot, sizeof *out);
        return true;
    }
    struct iovec to = {out, sizeof *out};
    struct iovec from = {slot, sizeof *slot};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof *out;
}

/* Adds one open task of a lane to the frame, from the bytes of its slot. */
static void add_open(sonde__pump *pump, const sonde__names_view *names, uint64_t offset)
{
    sonde__slot slot;
    if (!copy_slot(pump, offset, &slot))
        return;
    uint64_t state = atomic_load_explicit(&slot.state, memory_order_relaxed);
    unsigned phase = state & 3;
    if (phase != SONDE__SLOT_OPEN && phase != SONDE__SLOT_ENDING)
        return;
    uint32_t attr_bytes = atomic_load_explicit(&slot.attr_bytes, memory_order_relaxed);
    uint64_t meta = atomic_load_explicit(&slot.meta, memory_order_relaxed);
    unsigned status = sonde__meta_status(meta);
    unsigned flags = sonde__meta_flags(meta);
    uint8_t attrs[SONDE__SLOT_ATTR_BYTES + 16];
    uint32_t id_bytes = slot.id ? 16 : 0;
    if (slot.id)
        sonde__put_id(attrs, slot.id);
    memcpy(attrs + id_bytes, slot.attrs, sizeof slot.attrs);
    if (attr_bytes > sizeof slot.attrs)
        attr_bytes = 0;
    sonde__ring_record record = {
        .kind = SONDE__KIND_OPEN,
        .flags = (uint8_t)((flags & SONDE__PARENT_MASK) | (status & SONDE__STATUS_MASK)),
        .start = slot.start,
        .name = sonde__meta_name(meta),
        .attr_bytes = attr_bytes + id_bytes,
        .number = state >> 2,
        .parent = slot.parent,
    };
    if (!sonde__frame_add(&pump->frame, names, &pump->rate, &record, attrs)) {
        record.attr_bytes = id_bytes; /* half-written attributes: the task itself is still shown */
        sonde__frame_add(&pump->frame, names, &pump->rate, &record, attrs);
    }
    pump->open++;
}

sonde_status sonde__pump_open_tasks(sonde__pump *pump)
{
    sonde__segment_header *header = sonde__pump_header(pump);
    sonde__names_view names = names_of(pump);
    sonde_status status = SONDE_OK;
    for (uint32_t i = 0; i < sonde__pump_lane_count(pump) && status == SONDE_OK; i++) {
        const sonde__lane_header *lane = sonde__pump_lane(pump, i);
        sonde__frame_begin(&pump->frame, header->session, header->run, (uint16_t)i,
                           pump->cursors[i].seq, pump->rate.last.wall_offset_ns);
        for (uint32_t n = 0; n < lane->slot_count; n++) {
            add_open(pump, &names, lane->slots_offset + (uint64_t)n * SONDE__SLOT_BYTES);
            if (sonde__frame_full(&pump->frame)) {
                status = write_frame(pump);
                sonde__frame_begin(&pump->frame, header->session, header->run, (uint16_t)i,
                                   pump->cursors[i].seq, pump->rate.last.wall_offset_ns);
            }
        }
        if (pump->frame.header.records > 0 && status == SONDE_OK)
            status = write_frame(pump);
    }
    return status;
}

sonde_status sonde__pump_finish(sonde__pump *pump, const sonde__run_end *end)
{
    sonde__segment_header *header = sonde__pump_header(pump);
    sonde_status status = finish_losses(pump);
    if (status == SONDE_OK)
        status = sonde__pump_open_tasks(pump);
    if (status != SONDE_OK)
        return status;
    sonde__frame_writer *frame = &pump->frame;
    sonde__anchor now = sonde__anchor_read(pump->rate.tsc);
    sonde__frame_begin(frame, header->session, header->run, SONDE__FRAME_NO_LANE, 0,
                       now.wall_offset_ns);
    frame->header.min_mono_ns = frame->header.max_mono_ns = now.mono_ns;
    sonde__frame_run_begin(frame, SONDE__KIND_RUN_END);
    sonde__frame_run_uint(frame, SONDE__RUN_ENDED, now.mono_ns + (uint64_t)now.wall_offset_ns);
    sonde__frame_run_uint(frame, SONDE__RUN_STATUS, end->status);
    sonde__frame_run_uint(frame, SONDE__RUN_STATE, end->state);
    sonde__frame_run_uint(frame, SONDE__RUN_SIGNAL_LOST,
                          atomic_load_explicit(&header->signal_lost, memory_order_relaxed));
    sonde__frame_run_text(frame, SONDE__RUN_ERROR, end->error);
    sonde__frame_run_attrs(frame, end->attrs, end->attr_count, SONDE__FRAME_BYTES_MAX);
    sonde__frame_run_end(frame);
    status = write_frame(pump);
    if (status == SONDE_OK && pump->durable)
        status = sonde__pump_sync(pump);
    return status;
}
