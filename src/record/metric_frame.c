/* SPDX-License-Identifier: Apache-2.0 */
/* Behind the frame's header, for each series: kind, overflow, name, labels, then a counter's value
   as varint, a gauge's 8 bytes, or a histogram: sum, min, max (8 bytes each), zero, negative,
   under, over, unplaced, octaves; each octave its exponent, the number of buckets that are not 0,
   and those (1 byte and a varint). Texts have their length before them and a NUL behind. */
#include "record/metric_frame.h"

#include "base/byte_reader.h"
#include "base/clock.h"
#include "record/metric_limits.h"
#include "record/own_metrics.h"

#include <stdlib.h>
#include <string.h>

enum { FRAME_SOFT_MAX = 512 << 10, BUF_LIMIT = SONDE__FRAME_BYTES_MAX };

static void put_varint(sonde__buf *buf, uint64_t value)
{
    uint8_t bytes[SONDE__VARINT_MAX];
    sonde__buf_append(buf, bytes, (size_t)(sonde__varint_put(bytes, value) - bytes));
}

static void put_double(sonde__buf *buf, double value)
{
    sonde__buf_append(buf, &value, sizeof value);
}

static void put_text(sonde__buf *buf, const char *text)
{
    size_t len = strlen(text);
    put_varint(buf, len);
    sonde__buf_append(buf, text, len + 1);
}

static void put_octave(sonde__buf *buf, const sonde_octave *octave)
{
    unsigned used = 0;
    for (unsigned i = 0; i < SONDE_OCTAVE_BUCKETS; i++)
        used += octave->bucket[i] != 0;
    put_varint(buf, sonde__zigzag(octave->exponent));
    put_varint(buf, used);
    for (unsigned i = 0; i < SONDE_OCTAVE_BUCKETS; i++)
        if (octave->bucket[i]) {
            sonde__buf_char(buf, (char)i);
            put_varint(buf, octave->bucket[i]);
        }
}

static void put_histogram(sonde__buf *buf, const sonde_distribution *d)
{
    put_double(buf, d->sum);
    put_double(buf, d->min);
    put_double(buf, d->max);
    put_varint(buf, d->zero);
    put_varint(buf, d->negative);
    put_varint(buf, d->under);
    put_varint(buf, d->over);
    put_varint(buf, d->unplaced);
    put_varint(buf, d->octave_count);
    for (size_t i = 0; i < d->octave_count; i++)
        put_octave(buf, &d->octaves[i]);
}

static void put_metric(sonde__buf *buf, const sonde_metric *metric)
{
    sonde__buf_char(buf, (char)metric->kind);
    sonde__buf_char(buf, (char)(metric->overflow != 0));
    put_text(buf, metric->name);
    put_varint(buf, metric->label_count);
    for (size_t i = 0; i < metric->label_count; i++) {
        put_text(buf, metric->labels[i].key);
        put_text(buf, metric->labels[i].value);
    }
    if (metric->kind == SONDE_METRIC_COUNTER)
        put_varint(buf, metric->counter);
    else if (metric->kind == SONDE_METRIC_GAUGE)
        put_double(buf, metric->gauge);
    else
        put_histogram(buf, metric->histogram);
}

/* What tells that a series has changed. */
static uint64_t mark_of(const sonde_metric *metric)
{
    uint64_t bits = metric->counter;
    if (metric->kind == SONDE_METRIC_GAUGE)
        memcpy(&bits, &metric->gauge, sizeof bits);
    else if (metric->kind == SONDE_METRIC_HISTOGRAM)
        bits = metric->histogram->count;
    return bits;
}

static sonde_status write_frame(sonde__metric_writer *writer, sonde__journal *journal,
                                sonde__frame_header *header)
{
    if (writer->buf.status != SONDE_OK)
        return writer->buf.status;
    struct iovec body = {writer->buf.data, writer->buf.len};
    return sonde__journal_frame(journal, header, &body, 1);
}

static sonde__frame_header begin_frame(uint64_t session, uint64_t run)
{
    sonde__frame_header header =
        sonde__frame_header_new(SONDE__FRAME_METRICS, SONDE__FRAME_NO_LANE, session, run);
    header.min_mono_ns = header.max_mono_ns = sonde__clock_monotonic_ns();
    header.wall_offset_ns = (int64_t)(sonde__clock_wall_ns() - header.min_mono_ns);
    return header;
}

static bool grow_last(sonde__metric_writer *writer, size_t count)
{
    if (count <= writer->last_cap)
        return true;
    uint64_t *larger = realloc(writer->last, count * sizeof *larger);
    if (!larger)
        return false;
    memset(larger + writer->last_cap, 0, (count - writer->last_cap) * sizeof *larger);
    writer->last = larger;
    writer->last_cap = count;
    return true;
}

/* The set's series that changed, or all, in as many frames as they need. */
static sonde_status write_set(sonde__metric_writer *writer, sonde__journal *journal,
                              uint64_t session, uint64_t run, bool all)
{
    sonde_status status = SONDE_OK;
    size_t count = sonde_metric_set_count(writer->set);
    size_t first = 0; /* of the series whose frame is being built */
    sonde__frame_header header = begin_frame(session, run);
    sonde__buf_clear(&writer->buf);
    for (size_t i = 0; i < count && status == SONDE_OK; i++) {
        const sonde_metric *metric = sonde_metric_set_at(writer->set, i);
        if (all || mark_of(metric) != writer->last[i]) {
            put_metric(&writer->buf, metric);
            header.records++;
        }
        if (header.records == 0 || (writer->buf.len < FRAME_SOFT_MAX && i + 1 < count))
            continue;
        status = write_frame(writer, journal, &header);
        for (; status == SONDE_OK && first <= i; first++)
            writer->last[first] = mark_of(sonde_metric_set_at(writer->set, first));
        header = begin_frame(session, run);
        sonde__buf_clear(&writer->buf);
    }
    return status;
}

static bool has_set(sonde__metric_writer *writer)
{
    if (!writer->set) {
        writer->set = sonde_metric_set_create();
        sonde__buf_init(&writer->buf, BUF_LIMIT);
    }
    return writer->set != NULL;
}

sonde_status sonde__metric_frames_write(sonde__metric_writer *writer, sonde__journal *journal,
                                        uint64_t session, uint64_t run, bool all)
{
    if (!has_set(writer) || sonde_metric_set_collect(writer->set) != SONDE_OK ||
        !grow_last(writer, sonde_metric_set_count(writer->set)))
        return SONDE_ENOMEM;
    return write_set(writer, journal, session, run, all);
}

sonde_status sonde__metric_frames_recover(sonde__journal *journal, uint64_t session, uint64_t run)
{
    sonde__metric_writer writer = {0};
    sonde_status status =
        has_set(&writer) ? sonde_metric_set_read_run(writer.set, run) : SONDE_ENOMEM;
    if (status == SONDE_OK && !grow_last(&writer, sonde_metric_set_count(writer.set)))
        status = SONDE_ENOMEM;
    if (status == SONDE_OK)
        status = write_set(&writer, journal, session, run, true);
    sonde__metric_writer_free(&writer);
    return status;
}

void sonde__metric_writer_free(sonde__metric_writer *writer)
{
    sonde_metric_set_destroy(writer->set);
    sonde__buf_free(&writer->buf);
    free(writer->last);
    *writer = (sonde__metric_writer){0};
}

/* --- reading --- */

static const char *get_text(sonde__bytes *in)
{
    uint64_t len = sonde__bytes_varint(in);
    in->good = in->good && (uint64_t)(in->end - in->at) > len && in->at[len] == '\0';
    if (!in->good)
        return "";
    const char *text = (const char *)in->at;
    in->at += len + 1;
    return text;
}

/* A series and the memory its parts need. */
typedef struct decoded {
    sonde_metric metric;
    sonde_label labels[SONDE__LABELS_MAX];
    sonde_distribution distribution;
    sonde_octave octaves[SONDE_OCTAVES];
} decoded;

static void get_octave(sonde__bytes *in, sonde_octave *octave, sonde_distribution *d)
{
    *octave = (sonde_octave){.exponent = (int)sonde__unzigzag(sonde__bytes_varint(in))};
    uint64_t used = sonde__bytes_varint(in);
    in->good = in->good && used <= SONDE_OCTAVE_BUCKETS;
    for (uint64_t i = 0; in->good && i < used; i++) {
        unsigned bucket = sonde__bytes_byte(in) % SONDE_OCTAVE_BUCKETS;
        octave->bucket[bucket] = sonde__bytes_varint(in);
        octave->count += octave->bucket[bucket];
    }
    d->count += octave->count;
}

static void get_histogram(sonde__bytes *in, decoded *out)
{
    sonde_distribution *d = &out->distribution;
    *d = (sonde_distribution){.sum = sonde__bytes_double(in), .octaves = out->octaves};
    d->min = sonde__bytes_double(in);
    d->max = sonde__bytes_double(in);
    d->count += d->zero = sonde__bytes_varint(in);
    d->count += d->negative = sonde__bytes_varint(in);
    d->count += d->under = sonde__bytes_varint(in);
    d->count += d->over = sonde__bytes_varint(in);
    d->count += d->unplaced = sonde__bytes_varint(in);
    d->octave_count = (size_t)sonde__bytes_varint(in);
    in->good = in->good && d->octave_count <= SONDE_OCTAVES;
    for (size_t i = 0; in->good && i < d->octave_count; i++) {
        get_octave(in, &out->octaves[i], d);
        int exponent = out->octaves[i].exponent;
        in->good = in->good && exponent >= SONDE_OCTAVE_FIRST &&
                   exponent < SONDE_OCTAVE_FIRST + SONDE_OCTAVES &&
                   (i == 0 || exponent > out->octaves[i - 1].exponent);
    }
    out->metric.histogram = d;
}

static void get_metric(sonde__bytes *in, decoded *out)
{
    sonde_metric *metric = &out->metric;
    *metric = (sonde_metric){.kind = (sonde_metric_kind)sonde__bytes_byte(in)};
    metric->overflow = (int)sonde__bytes_byte(in);
    metric->name = get_text(in);
    metric->help = sonde__own_help_of(metric->name);
    metric->labels = out->labels;
    metric->label_count = (size_t)sonde__bytes_varint(in);
    in->good = in->good && metric->label_count <= SONDE__LABELS_MAX;
    for (size_t i = 0; in->good && i < metric->label_count; i++) {
        out->labels[i].key = get_text(in);
        out->labels[i].value = get_text(in);
    }
    if (metric->kind == SONDE_METRIC_COUNTER)
        metric->counter = sonde__bytes_varint(in);
    else if (metric->kind == SONDE_METRIC_GAUGE)
        metric->gauge = sonde__bytes_double(in);
    else if (metric->kind == SONDE_METRIC_HISTOGRAM)
        get_histogram(in, out);
    else
        in->good = false;
}

sonde_status sonde__metric_frame_read(const uint8_t *frame,
                                      void (*report)(void *user, uint64_t wall_ns,
                                                     const sonde_metric *metric),
                                      void *user)
{
    sonde__frame_header header;
    memcpy(&header, frame, sizeof header);
    if (header.type != SONDE__FRAME_METRICS || header.version != SONDE__FRAME_VERSION)
        return SONDE_EBADDATA;
    sonde__unpacked room = {0};
    sonde__bytes in = {.good = true};
    sonde_status status = sonde__frame_body(frame, &room, &in.at, &in.end);
    decoded *out = status == SONDE_OK ? malloc(sizeof *out) : NULL;
    if (!out) {
        sonde__unpacked_free(&room);
        return status == SONDE_OK ? SONDE_ENOMEM : status;
    }
    in.at += header.string_bytes;
    uint64_t wall_ns = header.min_mono_ns + (uint64_t)header.wall_offset_ns;
    for (uint32_t i = 0; in.good && i < header.records; i++) {
        get_metric(&in, out);
        if (in.good)
            report(user, wall_ns, &out->metric);
    }
    free(out);
    sonde__unpacked_free(&room);
    return in.good ? SONDE_OK : SONDE_EBADDATA;
}
