/* SPDX-License-Identifier: Apache-2.0 */
/* From entries to records: ids are computed, attributes sorted into their places, and those that
   arrived before their task's end are put back where they belong. */
#include "record/reader_impl.h"
#include "record/recorder.h"

#include <stdlib.h>
#include <string.h>

/* The id of an entry without SYS_ID. */
static uint64_t computed_id(const sonde__decoder *decoder, const sonde__entry *entry)
{
    if (entry->kind == SONDE__KIND_ATTRS && (entry->flags & SONDE__TARGET_SPAN))
        return entry->parent;
    return sonde__span_id(decoder->header.run, decoder->header.lane, entry->number);
}

uint64_t sonde__entry_id(const sonde__decoder *decoder, const sonde__entry *entry)
{
    const uint8_t *at = entry->attrs;
    const uint8_t *end = at + entry->attrs_len;
    sonde__decoded_attr attr;
    while (at && sonde__decode_attr(decoder, &at, end, &attr))
        if (attr.system == SONDE__SYS_ID && attr.type == SONDE_ATTR_UINT)
            return attr.attr.value.u;
    return computed_id(decoder, entry);
}

/* --- attributes held back --- */

static size_t text_bytes(const sonde__decoded_attr *attr)
{
    size_t bytes = attr->attr.key_len + attr->name.len;
    if (attr->type >= SONDE_ATTR_STRING && attr->type != SONDE__TYPE_TICKS)
        bytes += attr->attr.value.s.len;
    return bytes;
}

static const char *copy_out(char **to, const char *from, size_t len)
{
    const char *copy = *to;
    if (len > 0)
        memcpy(*to, from, len);
    *to += len;
    return copy;
}

/* Copies the attributes of an entry, whose frame will be gone when they are needed. */
static sonde__held *copy_attrs(const sonde__decoder *decoder, const sonde__entry *entry,
                               uint64_t id)
{
    const uint8_t *end = entry->attrs + entry->attrs_len;
    size_t count = 0;
    size_t bytes = 0;
    sonde__decoded_attr attr;
    for (const uint8_t *at = entry->attrs; at && sonde__decode_attr(decoder, &at, end, &attr);) {
        count++;
        bytes += text_bytes(&attr);
    }
    sonde__held *held = calloc(1, sizeof *held);
    if (!held)
        return NULL;
    held->attrs = calloc(count ? count : 1, sizeof *held->attrs);
    held->text = malloc(bytes ? bytes : 1);
    if (!held->attrs || !held->text) {
        free(held->attrs);
        free(held->text);
        free(held);
        return NULL;
    }
    char *to = held->text;
    held->id = id;
    for (const uint8_t *at = entry->attrs; at && sonde__decode_attr(decoder, &at, end, &attr);) {
        attr.attr.key = copy_out(&to, attr.attr.key, attr.attr.key_len);
        attr.name.text = copy_out(&to, attr.name.text, attr.name.len);
        if (attr.type >= SONDE_ATTR_STRING && attr.type != SONDE__TYPE_TICKS)
            attr.attr.value.s.data = copy_out(&to, attr.attr.value.s.data, attr.attr.value.s.len);
        attr.mono_ns += (uint64_t)decoder->header.wall_offset_ns; /* wall time from here on */
        held->attrs[held->count++] = attr;
    }
    return held;
}

static void free_held(sonde__held *held)
{
    while (held) {
        sonde__held *next = held->next;
        free(held->attrs);
        free(held->text);
        free(held);
        held = next;
    }
}

static void hold(sonde__builder *builder, sonde__held *held)
{
    sonde__held **at = &builder->held[held->id % SONDE__HELD_BUCKETS];
    while (*at)
        at = &(*at)->next; /* later values come later */
    *at = held;
    builder->held_count++;
}

/* Takes what is held for id out, in the order it came. */
static sonde__held *release(sonde__builder *builder, uint64_t id)
{
    sonde__held *first = NULL;
    sonde__held **last = &first;
    for (sonde__held **at = &builder->held[id % SONDE__HELD_BUCKETS]; *at;) {
        sonde__held *held = *at;
        if (held->id != id) {
            at = &held->next;
            continue;
        }
        *at = held->next;
        held->next = NULL;
        *last = held;
        last = &held->next;
        builder->held_count--;
    }
    return first;
}

/* --- putting attributes into their places --- */

static void add_attr(sonde__builder *builder, const sonde_attr *attr)
{
    for (size_t i = 0; i < builder->attr_count; i++) {
        sonde_attr *old = &builder->attrs[i];
        if (old->group == attr->group && old->key_len == attr->key_len &&
            memcmp(old->key, attr->key, attr->key_len) == 0) {
            *old = *attr; /* the last value counts */
            return;
        }
    }
    void *attrs = builder->attrs;
    if (builder->attr_count >= SONDE__ATTRS_MAX ||
        !sonde__grow(&attrs, &builder->attr_cap, builder->attr_count, sizeof *attr))
        return;
    builder->attrs = attrs;
    builder->attrs[builder->attr_count++] = *attr;
}

static void add_tag(sonde__builder *builder, const sonde_attr *attr)
{
    void *tags = builder->tags;
    if (!sonde__grow(&tags, &builder->tag_cap, builder->tag_count, sizeof *attr))
        return;
    builder->tags = tags;
    builder->tags[builder->tag_count++] = *attr;
}

static void add_event(sonde__builder *builder, const sonde__decoded_attr *attr, uint64_t wall_ns)
{
    void *events = builder->events;
    if (!sonde__grow(&events, &builder->event_cap, builder->event_count, sizeof *builder->events))
        return;
    builder->events = events;
    builder->events[builder->event_count++] = (sonde_event){
        .name = attr->name.text,
        .name_len = attr->name.len,
        .wall_ns = wall_ns,
        .json = attr->attr.value.s.len ? attr->attr.value.s.data : NULL,
        .json_len = attr->attr.value.s.len,
    };
}

static void add_link(sonde__builder *builder, const sonde_attr *attr)
{
    void *links = builder->links;
    if (attr->value.s.len != sizeof(sonde_context) ||
        !sonde__grow(&links, &builder->link_cap, builder->link_count, sizeof *builder->links))
        return;
    builder->links = links;
    memcpy(&builder->links[builder->link_count++], attr->value.s.data, sizeof(sonde_context));
}

static bool text_place(sonde_record *out, unsigned key, const char ***text, size_t **len)
{
    switch (key) {
    case SONDE__SYS_ERROR:
        *text = &out->error;
        *len = &out->error_len;
        return true;
    case SONDE__SYS_SUBTYPE:
        *text = &out->subtype;
        *len = &out->subtype_len;
        return true;
    case SONDE__SYS_DEVICE:
        *text = &out->device;
        *len = &out->device_len;
        return true;
    case SONDE__SYS_WORKER:
        *text = &out->worker;
        *len = &out->worker_len;
        return true;
    case SONDE__SYS_GROUP:
        *text = &out->group;
        *len = &out->group_len;
        return true;
    default:
        return false;
    }
}

static void place_number(sonde_record *out, const sonde__decoded_attr *attr, uint64_t wall_ns)
{
    switch (attr->system) {
    case SONDE__SYS_LAYER:
        out->has_layer = 1;
        out->layer = attr->attr.value.i;
        break;
    case SONDE__SYS_ID:
        out->id = attr->attr.value.u;
        break;
    case SONDE__SYS_SUBMITTED:
        out->submitted_wall_ns = attr->type == SONDE__TYPE_TICKS ? wall_ns : attr->attr.value.u;
        break;
    default:
        break;
    }
}

/* wall_ns is the attribute's time, where it has one. */
static void place(sonde_reader *reader, sonde_record *out, const sonde__decoded_attr *attr,
                  uint64_t wall_ns)
{
    sonde__builder *builder = &reader->builder;
    if (sonde__readings_place(reader, out, attr))
        return;
    const char **text;
    size_t *len;
    bool is_text = attr->type >= SONDE_ATTR_STRING && attr->type <= SONDE_ATTR_JSON;
    if (attr->system == 0) {
        add_attr(builder, &attr->attr);
    } else if (is_text && text_place(out, attr->system, &text, &len)) {
        *text = attr->attr.value.s.data;
        *len = attr->attr.value.s.len;
    } else if (is_text && attr->system == SONDE__SYS_TAG) {
        add_tag(builder, &attr->attr);
    } else if (is_text && attr->system == SONDE__SYS_LINK) {
        add_link(builder, &attr->attr);
    } else if (is_text && attr->system == SONDE__SYS_TRACE && attr->attr.value.s.len == 16) {
        memcpy(&out->trace_hi, attr->attr.value.s.data, 8);
        memcpy(&out->trace_lo, attr->attr.value.s.data + 8, 8);
    } else if (attr->type == SONDE__TYPE_EVENT) {
        add_event(builder, attr, wall_ns);
    } else if (!is_text) {
        place_number(out, attr, wall_ns);
    }
}

/* --- records --- */

static void lend(const sonde__builder *builder, sonde_record *out)
{
    out->attrs = builder->attrs;
    out->attr_count = builder->attr_count;
    out->tags = builder->tags;
    out->tag_count = builder->tag_count;
    out->events = builder->events;
    out->event_count = builder->event_count;
    out->links = builder->links;
    out->link_count = builder->link_count;
}

static uint64_t parent_of(const sonde__stream *stream, const sonde__entry *entry)
{
    switch (entry->flags & SONDE__PARENT_MASK) {
    case SONDE__PARENT_LANE:
        return sonde__span_id(stream->decoder.header.run, stream->decoder.header.lane,
                              entry->parent);
    case SONDE__PARENT_SPAN:
        return entry->parent;
    case SONDE__PARENT_NONE:
        return stream->run->run.parent;
    default:
        return 0;
    }
}

static void fill_plain(const sonde__stream *stream, const sonde__entry *entry, sonde_record *out)
{
    uint64_t offset = (uint64_t)stream->decoder.header.wall_offset_ns;
    out->status = (sonde_task_status)(entry->flags & SONDE__STATUS_MASK);
    out->id = computed_id(&stream->decoder, entry);
    out->parent = parent_of(stream, entry);
    out->trace_hi = stream->run->run.trace_hi;
    out->trace_lo = stream->run->run.trace_lo;
    out->name = entry->name.text;
    out->name_len = entry->name.len;
    out->start_wall_ns = entry->start + offset;
    if (entry->kind == SONDE__KIND_TASK) {
        out->end_wall_ns = entry->end + offset;
        out->duration_ns = entry->end - entry->start;
    } else if (entry->kind == SONDE__KIND_SUBMIT) {
        out->submitted_wall_ns = out->start_wall_ns;
        out->start_wall_ns = 0;
    }
}

static void fill_attrs(sonde_reader *reader, const sonde__stream *stream, const sonde__entry *entry,
                       sonde_record *out)
{
    sonde__builder *builder = &reader->builder;
    uint64_t offset = (uint64_t)stream->decoder.header.wall_offset_ns;
    const uint8_t *at = entry->attrs;
    const uint8_t *end = at + entry->attrs_len;
    sonde__decoded_attr attr;
    if (builder->held_count > 0) {
        builder->used = release(builder, sonde__entry_id(&stream->decoder, entry));
        for (const sonde__held *held = builder->used; held; held = held->next)
            for (size_t i = 0; i < held->count; i++)
                place(reader, out, &held->attrs[i], held->attrs[i].mono_ns);
    }
    while (at && sonde__decode_attr(&stream->decoder, &at, end, &attr))
        place(reader, out, &attr, attr.mono_ns + offset);
    lend(builder, out);
}

static void fill_run(const sonde__stream *stream, const sonde__entry *entry, sonde_record *out)
{
    const sonde_run *run = &stream->run->run;
    bool begin = entry->kind == SONDE__KIND_RUN_BEGIN;
    out->status = begin ? SONDE_RUNNING : run->status;
    out->trace_hi = run->trace_hi;
    out->trace_lo = run->trace_lo;
    out->parent = run->parent;
    out->start_wall_ns = run->started_wall_ns;
    out->end_wall_ns = begin ? 0 : run->ended_wall_ns;
}

bool sonde__builder_make(sonde_reader *reader, const sonde__stream *stream, sonde_record *out)
{
    sonde__builder *builder = &reader->builder;
    const sonde__entry *entry = &stream->entry;
    free_held(builder->used);
    builder->used = NULL;
    sonde__readings_next(&builder->readings);
    builder->attr_count = builder->tag_count = builder->event_count = builder->link_count = 0;
    *out = (sonde_record){
        .kind = (sonde_record_kind)entry->kind,
        .run = stream->decoder.header.run,
        .lane = stream->decoder.header.lane,
        .seq = entry->seq,
        .count = entry->count,
        .process = &stream->run->run,
    };
    switch (entry->kind) {
    case SONDE__KIND_LOSS:
        out->reasons = (unsigned)entry->parent;
        reader->stats.lost += entry->count;
        return true;
    case SONDE__KIND_RUN_BEGIN:
    case SONDE__KIND_RUN_END:
        fill_run(stream, entry, out);
        return true;
    case SONDE__KIND_ATTRS:
        if (builder->held_count < SONDE__PENDING_TASKS_MAX) {
            sonde__held *held =
                copy_attrs(&stream->decoder, entry, computed_id(&stream->decoder, entry));
            if (held)
                hold(builder, held);
        }
        return false;
    case SONDE__KIND_TELEMETRY:
        sonde__readings_keep(&builder->readings, &stream->decoder, entry);
        return false;
    case SONDE__KIND_OPEN:
        if (sonde__open_ids_ended(&reader->open_ids, sonde__entry_id(&stream->decoder, entry)))
            return false;
        break;
    default:
        break;
    }
    fill_plain(stream, entry, out);
    fill_attrs(reader, stream, entry, out);
    if (entry->kind == SONDE__KIND_TASK && reader->open_ids.count > 0)
        sonde__open_ids_end(&reader->open_ids, out->id);
    return true;
}

bool sonde__builder_leftover(sonde_reader *reader, sonde_record *out)
{
    sonde__builder *builder = &reader->builder;
    free_held(builder->used);
    builder->used = NULL;
    sonde__readings_next(&builder->readings);
    builder->attr_count = builder->tag_count = builder->event_count = builder->link_count = 0;
    for (size_t i = 0; i < SONDE__HELD_BUCKETS && builder->held_count > 0; i++) {
        if (!builder->held[i])
            continue;
        const sonde__run_info *run = reader->runs[0];
        *out = (sonde_record){
            .kind = SONDE_RECORD_UPDATE,
            .id = builder->held[i]->id,
            .run = run->run.run,
            .process = &run->run,
            .trace_hi = run->run.trace_hi,
            .trace_lo = run->run.trace_lo,
        };
        builder->used = release(builder, out->id);
        for (const sonde__held *held = builder->used; held; held = held->next)
            for (size_t n = 0; n < held->count; n++)
                place(reader, out, &held->attrs[n], held->attrs[n].mono_ns);
        lend(builder, out);
        return true;
    }
    return false;
}

void sonde__builder_free(sonde__builder *builder)
{
    sonde__readings_free(&builder->readings);
    for (size_t i = 0; i < SONDE__HELD_BUCKETS; i++)
        free_held(builder->held[i]);
    free_held(builder->used);
    free(builder->attrs);
    free(builder->tags);
    free(builder->events);
    free(builder->links);
}
