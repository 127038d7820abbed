/* SPDX-License-Identifier: Apache-2.0 */
#include "record/readings.h"

#include "record/segment.h"

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

void sonde__readings_keep(sonde__readings *readings, const sonde__decoder *decoder,
                          const sonde__entry *entry)
{
    const uint8_t *at = entry->attrs;
    const uint8_t *end = at + entry->attrs_len;
    sonde__decoded_attr attr;
    while (at && sonde__decode_attr(decoder, &at, end, &attr))
        if (attr.system == SONDE__SYS_TELEMETRY && attr.type == SONDE_ATTR_BYTES &&
            attr.attr.value.s.len > 0)
            keep_bytes(readings, decoder->header.run,
                       (uint64_t)decoder->header.lane << 48 | entry->seq, attr.attr.value.s.data,
                       attr.attr.value.s.len);
}

bool sonde__readings_place(sonde__readings *readings, sonde_record *out,
                           const sonde__decoded_attr *attr)
{
    if (attr->system == SONDE__SYS_USAGE && attr->type == SONDE_ATTR_BYTES) {
        if (attr->attr.value.s.len == sizeof readings->usage) {
            memcpy(&readings->usage, attr->attr.value.s.data, sizeof readings->usage);
            out->usage = &readings->usage;
        }
        return true;
    }
    bool start = attr->system == SONDE__SYS_TELEMETRY_START;
    if (attr->type != SONDE_ATTR_UINT || (!start && attr->system != SONDE__SYS_TELEMETRY_END))
        return attr->system == SONDE__SYS_POINT;
    uint32_t at = readings->buckets ? *find(readings, out->run, attr->attr.value.u) : 0;
    if (at == 0)
        return true;
    const sonde__kept_reading *kept = &readings->ring[at - 1];
    if (start) {
        out->telemetry_start = kept->bytes;
        out->telemetry_start_len = kept->len;
    } else {
        out->telemetry_end = kept->bytes;
        out->telemetry_end_len = kept->len;
    }
    return true;
}

void sonde__readings_free(sonde__readings *readings)
{
    while (readings->put > readings->first)
        drop_oldest(readings);
    free(readings->ring);
    free(readings->buckets);
    *readings = (sonde__readings){0};
}
