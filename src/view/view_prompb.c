/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf exposition: io.prometheus.client.MetricFamily messages, each after its length. The
   one form in which Prometheus takes native histograms; classic buckets, one for each octave, are
   beside them for those who do not. Field numbers are those of metrics.proto. */
#include "base/ids.h"
#include "view/native_buckets.h"
#include "view/view_formats.h"
#include "view/view_utf8.h"

#include <string.h>

enum { TYPE_COUNTER = 0, TYPE_GAUGE = 1, TYPE_HISTOGRAM = 4 };

static void put_pair(sonde__buf *out, const char *prefix, const char *key, const char *value,
                     size_t value_len)
{
    size_t pair = sonde__pb_begin_short(out, 1);
    size_t name = sonde__pb_begin_short(out, 1);
    sonde__buf_text(out, prefix);
    sonde__buf_text(out, key);
    sonde__pb_end_short(out, name);
    sonde__pb_text(out, 2, value, value_len);
    sonde__pb_end_short(out, pair);
}

static void put_label(void *user, const sonde__view_label *label)
{
    put_pair(user, label->prefix, label->key, label->value, strlen(label->value));
}

static void render(const sonde_view *view, const sonde__view_family *family,
                   const sonde__view_series *series, sonde__buf *out)
{
    (void)family;
    sonde__view_labels(view, series, put_label, out);
}

static void put_exemplar(sonde__buf *out, const sonde__exemplar *exemplar)
{
    char hex[32];
    size_t message = sonde__pb_begin_short(out, 3);
    sonde__id_to_hex(exemplar->trace_hi, hex);
    sonde__id_to_hex(exemplar->trace_lo, hex + 16);
    put_pair(out, "", "trace_id", hex, 32);
    sonde__id_to_hex(exemplar->span, hex);
    put_pair(out, "", "span_id", hex, 16);
    sonde__pb_double(out, 2, exemplar->value);
    size_t time = sonde__pb_begin_short(out, 3);
    sonde__pb_uint(out, 1, exemplar->wall_ns / 1000000000u);
    sonde__pb_uint(out, 2, exemplar->wall_ns % 1000000000u);
    sonde__pb_end_short(out, time);
    sonde__pb_end_short(out, message);
}

static void put_classic(sonde__buf *out, const sonde_view *view, const sonde__view_series *series)
{
    const sonde_distribution *d = series->metric->histogram;
    uint64_t below = d->negative + d->zero + d->under;
    size_t next = 0;
    int last = d->octave_count ? d->octaves[d->octave_count - 1].exponent : 0;
    for (int octave = d->octave_count ? d->octaves[0].exponent : 1; octave <= last; octave++) {
        if (next < d->octave_count && d->octaves[next].exponent == octave)
            below += d->octaves[next++].count;
        size_t bucket = sonde__pb_begin_short(out, 3);
        sonde__pb_uint(out, 1, below);
        sonde__pb_double(out, 2, sonde_bucket_bound(octave, SONDE_OCTAVE_BUCKETS - 1));
        const sonde__exemplar *exemplar = sonde__view_exemplar_of(view, series, octave);
        if (exemplar)
            put_exemplar(out, exemplar);
        sonde__pb_end_short(out, bucket);
    }
}

/* Spans and deltas of native buckets. */
typedef struct spans {
    sonde__buf *out;
    int next;       /* index behind the last bucket */
    int length;     /* of the span that is open */
    int offset;     /* and its beginning, from the end of the one before */
    int64_t before; /* count of the last bucket */
    bool first;
} spans;

static void put_span(const spans *s)
{
    size_t message = sonde__pb_begin_short(s->out, 12);
    sonde__pb_sint(s->out, 1, s->offset);
    sonde__pb_uint(s->out, 2, (uint64_t)s->length);
    sonde__pb_end_short(s->out, message);
}

static void to_spans(void *user, int index, uint64_t count)
{
    (void)count;
    spans *s = user;
    int key = index + 1; /* Prometheus numbers buckets by their upper bound */
    if (s->length > 0 && key == s->next) {
        s->length++;
    } else {
        if (s->length > 0)
            put_span(s);
        s->offset = s->first ? key : key - s->next;
        s->first = false;
        s->length = 1;
    }
    s->next = key + 1;
}

static void to_deltas(void *user, int index, uint64_t count)
{
    (void)index;
    spans *s = user;
    sonde__pb_raw_varint(s->out, sonde__zigzag((int64_t)count - s->before));
    s->before = (int64_t)count;
}

static void put_native(sonde__buf *out, const sonde_distribution *d)
{
    sonde__pb_sint(out, 5, SONDE__NATIVE_SCALE);
    sonde__pb_double(out, 6, SONDE__NATIVE_ZERO);
    sonde__pb_uint(out, 7, d->zero + d->under);
    int at = 0;
    uint64_t negative = sonde__native_negative(d, &at);
    if (negative > 0) {
        size_t span = sonde__pb_begin_short(out, 9);
        sonde__pb_sint(out, 1, at + 1);
        sonde__pb_uint(out, 2, 1);
        sonde__pb_end_short(out, span);
        sonde__pb_sint(out, 10, (int64_t)negative);
    }
    spans s = {.out = out, .first = true};
    sonde__native_positive(d, to_spans, &s);
    if (s.length == 0)
        return;
    put_span(&s);
    size_t deltas = sonde__pb_begin(out, 13);
    sonde__native_positive(d, to_deltas, &s);
    sonde__pb_end(out, deltas);
}

static void put_value(sonde__buf *out, const sonde_view *view, const sonde__view_series *series)
{
    const sonde_metric *metric = series->metric;
    bool gauge = metric->kind == SONDE_METRIC_GAUGE;
    size_t value = metric->kind == SONDE_METRIC_HISTOGRAM
                       ? sonde__pb_begin(out, 7)
                       : sonde__pb_begin_short(out, gauge ? 2 : 3);
    if (metric->kind != SONDE_METRIC_HISTOGRAM) {
        bool whole = metric->kind == SONDE_METRIC_COUNTER;
        sonde__pb_double(out, 1, whole ? (double)metric->counter : metric->gauge);
        sonde__pb_end_short(out, value);
        return;
    }
    sonde__pb_uint(out, 1, metric->histogram->count);
    sonde__pb_double(out, 2, metric->histogram->sum);
    put_classic(out, view, series);
    put_native(out, metric->histogram);
    sonde__pb_end(out, value);
}

void sonde__encode_prometheus_protobuf(sonde_view *view, const sonde_encode_options *options,
                                       sonde__buf *out)
{
    (void)options;
    const sonde__rendered *labels = sonde__view_render(view, SONDE__RENDER_PROMPB, render);
    if (!labels) {
        out->status = SONDE_ENOMEM;
        return;
    }
    for (size_t f = 0; f < view->family_count; f++) {
        const sonde__view_family *family = &view->families[f];
        static const char room[SONDE__PB_LENGTH_BYTES];
        sonde__buf_append(out, room, sizeof room);
        size_t begun = out->len;
        sonde__pb_text(out, 1, family->name, strlen(family->name));
        sonde__pb_text(out, 2, family->help, strlen(family->help));
        unsigned type = family->kind == SONDE_METRIC_HISTOGRAM ? TYPE_HISTOGRAM
                        : family->kind == SONDE_METRIC_GAUGE   ? TYPE_GAUGE
                                                               : TYPE_COUNTER;
        sonde__pb_uint(out, 3, type);
        for (size_t i = family->first; i < (size_t)family->first + family->count; i++) {
            size_t metric = sonde__pb_begin(out, 4);
            sonde__rendered_put(labels, i, out);
            put_value(out, view, &view->series[i]);
            sonde__pb_end(out, metric);
        }
        sonde__pb_end(out, begun);
    }
}
