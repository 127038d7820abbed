/* SPDX-License-Identifier: Apache-2.0 */
/* Parts change between two frames, when all that is written is committed: so a part holds a range
   of numbers of each lane that begins where the part before it ends. Where only the last parts are
   kept, the first one has the start frame alone: it is the file that readers are given. */
#include "record/drain_parts.h"

#include "base/varint.h"
#include "record/drain.h"
#include "record/pump_segment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sonde__parts_init(sonde__parts *parts, const sonde_options *options)
{
    *parts = (sonde__parts){
        .part_bytes = options->part_bytes,
        .bytes_max = options->bytes_max,
        .keep_last = options->when_full == SONDE_FULL_KEEP_LAST,
    };
    sonde__buf_init(&parts->marks, SONDE__FRAME_BYTES_MAX / 2);
}

static void free_part(sonde__part *part)
{
    free(part->first);
    *part = (sonde__part){0};
}

void sonde__parts_free(sonde__parts *parts)
{
    for (size_t i = 0; i < parts->kept_count; i++)
        free_part(&parts->kept[i]);
    free_part(&parts->now);
    free(parts->kept);
    sonde__buf_free(&parts->marks);
    *parts = (sonde__parts){0};
}

/* Which numbers the part that begins now has: those from the tails on. */
static bool note_first(const sonde__pump *pump, sonde__part *part)
{
    uint32_t lanes = sonde__pump_lane_count(pump);
    uint64_t *first = calloc(lanes ? lanes : 1, sizeof *first);
    if (!first)
        return false;
    for (uint32_t i = 0; i < lanes; i++)
        first[i] = atomic_load_explicit(&sonde__pump_lane(pump, i)->tail_seq, memory_order_relaxed);
    free(part->first);
    part->first = first;
    part->lanes = lanes;
    part->number = pump->journal->part;
    return true;
}

/* How many of the oldest parts must go for the one that begins now. */
static size_t too_many(const sonde__pump *pump)
{
    const sonde__parts *parts = &pump->parts;
    uint64_t bytes = parts->part_bytes;
    size_t keep = 0;
    while (keep < parts->kept_count) {
        bytes += parts->kept[parts->kept_count - 1 - keep].bytes;
        if (bytes > parts->bytes_max)
            break;
        keep++;
    }
    return parts->kept_count - keep;
}

/* Lanes whose first numbers are not in the journal any more, and how many those are. */
static uint32_t make_marks(sonde__buf *marks, const sonde__part *oldest)
{
    uint32_t count = 0;
    sonde__buf_clear(marks);
    for (uint32_t i = 0; i < oldest->lanes; i++) {
        uint8_t bytes[2 * SONDE__VARINT_MAX];
        if (oldest->first[i] == 0)
            continue;
        uint8_t *end = sonde__varint_put(sonde__varint_put(bytes, i), oldest->first[i]);
        sonde__buf_append(marks, bytes, (size_t)(end - bytes));
        count++;
    }
    return count;
}

static void remove_oldest(sonde__pump *pump, size_t count)
{
    sonde__parts *parts = &pump->parts;
    for (size_t i = 0; i < count; i++) {
        char path[SONDE__JOURNAL_PATH_MAX];
        if (sonde__journal_part_path(pump->journal->path, parts->kept[i].number, path))
            unlink(path);
        pump->journal->before -= parts->kept[i].bytes;
        free_part(&parts->kept[i]);
    }
    parts->kept_count -= count;
    if (count > 0)
        memmove(parts->kept, parts->kept + count, parts->kept_count * sizeof *parts->kept);
}

sonde_status sonde__pump_begin_part(sonde__pump *pump)
{
    const sonde__segment_header *header = sonde__pump_header(pump);
    sonde__parts *parts = &pump->parts;
    bool removing = parts->keep_last && pump->journal->part > 1;
    if (removing && !note_first(pump, &parts->now))
        return SONDE_ENOMEM;
    struct iovec pieces[3] = {
        {pump->base + offsetof(sonde__segment_header, start_frame), header->start_frame_bytes}};
    size_t length = header->start_frame_bytes;
    int count = 1;
    size_t going = removing ? too_many(pump) : 0;
    sonde__frame_header mark = sonde__frame_header_new(SONDE__FRAME_DROPPED, SONDE__FRAME_NO_LANE,
                                                       header->session, header->run);
    if (removing)
        mark.records = make_marks(&parts->marks,
                                  going < parts->kept_count ? &parts->kept[going] : &parts->now);
    if (mark.records > 0) {
        if (parts->marks.status != SONDE_OK)
            return parts->marks.status;
        pieces[1] = (struct iovec){&mark, sizeof mark};
        pieces[2] = (struct iovec){parts->marks.data, parts->marks.len};
        length += sonde__frame_seal(&mark, &pieces[2], 1);
        count = 3;
    }
    sonde_status status =
        length > 0 ? sonde__journal_write(pump->journal, pieces, count, length) : SONDE_OK;
    if (status == SONDE_OK)
        remove_oldest(pump, going);
    return status;
}

static bool is_full(const sonde__pump *pump)
{
    const sonde__parts *parts = &pump->parts;
    if (parts->part_bytes == 0 || pump->stopped)
        return false;
    return pump->journal->end >= parts->part_bytes ||
           (parts->keep_last && pump->journal->part == 1);
}

static bool has_place(sonde__parts *parts)
{
    if (parts->kept_count < parts->kept_cap)
        return true;
    size_t cap = parts->kept_cap ? parts->kept_cap * 2 : 8;
    sonde__part *grown = realloc(parts->kept, cap * sizeof *grown);
    if (!grown)
        return false;
    parts->kept = grown;
    parts->kept_cap = cap;
    return true;
}

void sonde__parts_retire(sonde__parts *parts, unsigned number, uint64_t bytes)
{
    if (!parts->keep_last || number == 1 || !parts->now.first || !has_place(parts))
        return;
    parts->now.bytes = bytes;
    parts->kept[parts->kept_count++] = parts->now;
    parts->now = (sonde__part){0};
}

sonde_status sonde__pump_make_room(sonde__pump *pump)
{
    if (!is_full(pump))
        return SONDE_OK;
    if (!has_place(&pump->parts))
        return SONDE_ENOMEM;
    sonde_status status = pump->durable ? sonde__pump_sync(pump) : SONDE_OK;
    uint64_t bytes = pump->journal->end;
    unsigned part = pump->journal->part;
    if (status == SONDE_OK)
        status = sonde__journal_next_part(pump->journal);
    if (status != SONDE_OK)
        return status;
    sonde__parts_retire(&pump->parts, part, bytes);
    sonde__pump_note_part(pump);
    return sonde__pump_begin_part(pump);
}

bool sonde__pump_over_limit(const sonde__pump *pump, uint64_t bytes)
{
    const sonde__parts *parts = &pump->parts;
    return parts->bytes_max > 0 && !parts->keep_last &&
           pump->journal->before + pump->journal->end + bytes > parts->bytes_max;
}
