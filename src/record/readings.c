/* SPDX-License-Identifier: Apache-2.0 */
#include "record/readings.h"

#include "record/reader_impl.h"
#include "record/segment.h"
#include "record/usage.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 2 * SONDE__READINGS_MAX };

static uint32_t bucket_of(uint64_t run, uint64_t id)
{
    uint64_t hash = (run ^ id * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(hash >> 40) % BUCKETS;
}

/* The bucket that holds (run, id), or the free one where it belongs. */
static uint32_t *find(const sonde__readings *readings, uint64_t run, uint64_t id)
{
    for (uint32_t i = bucket_of(run, id);; i = (i + 1) % BUCKETS) {
        uint32_t at = readings->buckets[i];
        const sonde__kept_reading *kept = at ? &readings->ring[at - 1] : NULL;
        if (!kept || (kept->run == run && kept->id == id))
            return &readings->buckets[i];
    }
}

/* Takes a bucket out and moves those behind it up, so that no search ends too early. */
static void remove_bucket(sonde__readings *readings, uint32_t hole)
{
    readings->buckets[hole] = 0;
    for (uint32_t i = (hole + 1) % BUCKETS; readings->buckets[i]; i = (i + 1) % BUCKETS) {
        uint32_t moved = readings->buckets[i];
        const sonde__kept_reading *kept = &readings->ring[moved - 1];
        readings->buckets[i] = 0;
        *find(readings, kept->run, kept->id) = moved;
    }
}

static void drop_oldest(sonde__readings *readings)
{
    sonde__kept_reading *oldest = &readings->ring[readings->first++ % SONDE__READINGS_MAX];
    remove_bucket(readings,
                  (uint32_t)(find(readings, oldest->run, oldest->id) - readings->buckets));
    readings->bytes -= oldest->len;
    free(oldest->bytes);
    *oldest = (sonde__kept_reading){0};
}

static bool make_room(sonde__readings *readings, size_t len)
{
    if (!readings->ring)
        readings->ring = calloc(SONDE__READINGS_MAX, sizeof *readings->ring);
    if (!readings->buckets)
        readings->buckets = calloc(BUCKETS, sizeof *readings->buckets);
    if (!readings->ring || !readings->buckets)
        return false;
    while (readings->put - readings->first == SONDE__READINGS_MAX ||
           (readings->put > readings->first && readings->bytes + len > SONDE__READINGS_BYTES_MAX))
        drop_oldest(readings);
    return true;
}

static void keep_bytes(sonde__readings *readings, uint64_t run, uint64_t id, const void *data,
                       size_t len)
{
    uint8_t *copy = make_room(readings, len) ? malloc(len) : NULL;
    uint32_t *bucket = copy ? find(readings, run, id) : NULL;
    if (!bucket || *bucket) { /* no memory, or the same record once more */
        free(copy);
        return;
    }
    memcpy(copy, data, len);
    uint32_t at = (uint32_t)(readings->put++ % SONDE__READINGS_MAX);
    readings->ring[at] = (sonde__kept_reading){run, id, copy, len};
    readings->bytes += len;
    *bucket = at + 1;
}

/* The reading that a telemetry record holds; false: none. */
static bool reading_of(const sonde__decoder *decoder, const sonde__entry *entry, sonde_reading *out)
{
    const uint8_t *at = entry->attrs;
    const uint8_t *end = at + entry->attrs_len;
    sonde__decoded_attr attr;
    while (at && sonde__decode_attr(decoder, &at, end, &attr))
        if (attr.system == SONDE__SYS_TELEMETRY && attr.type == SONDE_ATTR_BYTES &&
            attr.attr.value.s.len > 0) {
            *out = (sonde_reading){attr.attr.value.s.data, attr.attr.value.s.len};
            return true;
        }
    return false;
}

void sonde__readings_keep(sonde__readings *readings, const sonde__decoder *decoder,
                          const sonde__entry *entry)
{
    sonde_reading reading;
    if (reading_of(decoder, entry, &reading))
        keep_bytes(readings, decoder->header.run, (uint64_t)decoder->header.lane << 48 | entry->seq,
                   reading.data, reading.len);
}

/* A copy that lives as long as the record given out. */
static bool copy_again(sonde__readings *readings, sonde_reading *reading)
{
    void *again = readings->again;
    if (!sonde__grow(&again, &readings->again_cap, readings->again_count, sizeof(void *)))
        return false;
    readings->again = again;
    void *copy = malloc(reading->len);
    if (!copy)
        return false;
    memcpy(copy, reading->data, reading->len);
    readings->again[readings->again_count++] = copy;
    reading->data = copy;
    return true;
}

/* The reading of an id: one that is kept, or out of its file once more. */
static bool look_up(sonde__readings *readings, sonde_reader *reader, uint64_t run, uint64_t id,
                    sonde_reading *out)
{
    uint32_t at = readings->buckets ? *find(readings, run, id) : 0;
    if (at != 0) {
        const sonde__kept_reading *kept = &readings->ring[at - 1];
        *out = (sonde_reading){kept->bytes, kept->len};
        return true;
    }
    const sonde__stream *found =
        sonde__reader_revisit(reader, run, (uint16_t)(id >> 48), id & ((UINT64_C(1) << 48) - 1));
    return found && found->entry.kind == SONDE__KIND_TELEMETRY &&
           reading_of(&found->decoder, &found->entry, out) && copy_again(readings, out);
}

static void add_inside(sonde__readings *readings, sonde_record *out, const sonde_reading *reading)
{
    void *inside = readings->inside;
    if (!sonde__grow(&inside, &readings->inside_cap, out->reading_count, sizeof *reading))
        return;
    readings->inside = inside;
    readings->inside[out->reading_count++] = *reading;
    out->readings = readings->inside;
}

bool sonde__readings_place(sonde_reader *reader, sonde_record *out, const sonde__decoded_attr *attr)
{
    sonde__readings *readings = &reader->builder.readings;
    sonde_reading reading;
    switch (attr->system) {
    case SONDE__SYS_POINT:
        return true;
    case SONDE__SYS_USAGE:
        if (attr->type == SONDE_ATTR_BYTES &&
            sonde__usage_load(attr->attr.value.s.data, attr->attr.value.s.len, &readings->usage))
            out->usage = &readings->usage;
        return true;
    case SONDE__SYS_TELEMETRY_START:
    case SONDE__SYS_TELEMETRY_END:
    case SONDE__SYS_TELEMETRY_INSIDE:
        break;
    default:
        return false;
    }
    if (attr->type != SONDE_ATTR_UINT ||
        !look_up(readings, reader, out->run, attr->attr.value.u, &reading))
        return true;
    if (attr->system == SONDE__SYS_TELEMETRY_INSIDE) {
        add_inside(readings, out, &reading);
    } else if (attr->system == SONDE__SYS_TELEMETRY_START) {
        out->telemetry_start = reading.data;
        out->telemetry_start_len = reading.len;
    } else {
        out->telemetry_end = reading.data;
        out->telemetry_end_len = reading.len;
    }
    return true;
}

void sonde__readings_next(sonde__readings *readings)
{
    while (readings->again_count > 0)
        free(readings->again[--readings->again_count]);
}

void sonde__readings_free(sonde__readings *readings)
{
    while (readings->put > readings->first)
        drop_oldest(readings);
    sonde__readings_next(readings);
    free(readings->again);
    free(readings->inside);
    free(readings->ring);
    free(readings->buckets);
    *readings = (sonde__readings){0};
}
