/* SPDX-License-Identifier: Apache-2.0 */
/* ExportMetricsServiceRequest as protobuf: one ResourceMetrics for each source. Field numbers are
   those of opentelemetry/proto/metrics/v1. Histograms are exponential, as they are kept. */
#include "view/native_buckets.h"
#include "view/otlp_metric.h"
#include "view/otlp_value.h"
#include "view/view_formats.h"
#include "view/view_utf8.h"

#include <string.h>

enum { CUMULATIVE = 2 };

/* Attributes of a number's data point have field 7, of a histogram's field 1. */
static void render(const sonde_view *view, const sonde__view_family *family,
                   const sonde__view_series *series, sonde__buf *out)
{
    (void)view;
    for (size_t i = 0; i < series->metric->label_count; i++) {
        const sonde_label *label = &series->metric->labels[i];
        sonde_attr attr = {
            .type = SONDE_ATTR_STRING, .key = label->key, .key_len = strlen(label->key)};
        attr.value.s.data = label->value;
        attr.value.s.len = strlen(label->value);
        sonde__otlp_attr(out, family->kind == SONDE_METRIC_HISTOGRAM ? 1 : 7, "", &attr);
    }
}

typedef struct writer {
    sonde_view *view;
    const sonde__rendered *attrs;
    sonde__buf *out;
    uint64_t start_ns;
} writer;

static uint8_t *put_bits(uint8_t *at, unsigned field, uint64_t bits)
{
    *at++ = (uint8_t)(field << 3 | SONDE__PB_FIXED64);
    for (int i = 0; i < 8; i++)
        *at++ = (uint8_t)(bits >> 8 * i);
    return at;
}

/* NumberDataPoint: its length is known, so it is written in one piece. */
static void put_number(const writer *w, size_t at)
{
    const sonde_metric *metric = w->view->series[at].metric;
    size_t from = at ? w->attrs->end[at - 1] : 0;
    size_t attrs = w->attrs->end[at] - from;
    uint64_t bits = metric->counter;
    bool whole = metric->kind == SONDE_METRIC_COUNTER;
    if (!whole)
        memcpy(&bits, &metric->gauge, sizeof bits);
    bool start = w->start_ns && metric->kind != SONDE_METRIC_GAUGE;
    size_t len = attrs + (start ? 27 : 18);
    if (!sonde__buf_reserve(w->out, len + SONDE__PB_HEAD_MAX))
        return;
    uint8_t *to = (uint8_t *)w->out->data + w->out->len;
    uint8_t *begin = to;
    *to++ = 1 << 3 | SONDE__PB_BYTES;
    to = sonde__varint_put(to, len);
    if (start)
        to = put_bits(to, 2, w->start_ns);
    to = put_bits(to, 3, w->view->wall_ns);
    to = put_bits(to, whole ? 6 : 4, bits);
    if (attrs > 0)
        memcpy(to, w->attrs->bytes.data + from, attrs);
    w->out->len += (size_t)(to - begin) + attrs;
}

/* Bucket counts without gaps. */
typedef struct dense {
    sonde__buf *out;
    int next;
} dense;

static void put_count(void *user, int index, uint64_t count)
{
    dense *d = user;
    for (; d->next < index; d->next++)
        sonde__buf_char(d->out, 0);
    sonde__pb_raw_varint(d->out, count);
    d->next = index + 1;
}

static void put_buckets(sonde__buf *out, const sonde_distribution *d)
{
    dense counts = {.out = out};
    if (!sonde__native_first(d, &counts.next))
        return;
    size_t buckets = sonde__pb_begin(out, 8);
    sonde__pb_sint(out, 1, counts.next);
    size_t list = sonde__pb_begin(out, 2);
    sonde__native_positive(d, put_count, &counts);
    sonde__pb_end(out, list);
    sonde__pb_end(out, buckets);
}

static void put_histogram(const writer *w, size_t at)
{
    const sonde__view_series *series = &w->view->series[at];
    const sonde_distribution *d = series->metric->histogram;
    sonde__buf *out = w->out;
    size_t point = sonde__pb_begin(out, 1);
    sonde__rendered_put(w->attrs, at, out);
    if (w->start_ns)
        sonde__pb_fixed64(out, 2, w->start_ns);
    sonde__pb_fixed64(out, 3, w->view->wall_ns);
    sonde__pb_fixed64(out, 4, d->count);
    if (d->negative == 0)
        sonde__pb_double(out, 5, d->sum);
    sonde__pb_sint(out, 6, SONDE__NATIVE_SCALE);
    sonde__pb_fixed64(out, 7, d->zero + d->under);
    put_buckets(out, d);
    int index = 0;
    uint64_t negative = sonde__native_negative(d, &index);
    if (negative > 0) {
        size_t buckets = sonde__pb_begin_short(out, 9);
        sonde__pb_sint(out, 1, index);
        sonde__pb_uint(out, 2, negative);
        sonde__pb_end_short(out, buckets);
    }
    if (d->count > 0) {
        sonde__pb_double(out, 12, d->min);
        sonde__pb_double(out, 13, d->max);
    }
    sonde__pb_double(out, 14, SONDE__NATIVE_ZERO);
    sonde__pb_end(out, point);
}

static void put_family(const writer *w, sonde__view_family *family, uint32_t source)
{
    size_t end = (size_t)family->first + family->count;
    size_t at = family->cursor;
    if (at == end || w->view->series[at].source != source)
        return;
    bool histogram = family->kind == SONDE_METRIC_HISTOGRAM;
    bool gauge = family->kind == SONDE_METRIC_GAUGE;
    size_t metric = sonde__pb_begin(w->out, 2);
    const char *unit = sonde__otlp_unit(family->name);
    sonde__pb_text(w->out, 1, family->name, strlen(family->name));
    sonde__pb_text(w->out, 2, family->help, strlen(family->help));
    sonde__pb_text(w->out, 3, unit, strlen(unit));
    size_t data = sonde__pb_begin(w->out, histogram ? 10 : gauge ? 5 : 7);
    for (; at < end && w->view->series[at].source == source; at++)
        if (histogram)
            put_histogram(w, at);
        else
            put_number(w, at);
    if (!gauge)
        sonde__pb_uint(w->out, 2, CUMULATIVE);
    if (!gauge && !histogram)
        sonde__pb_uint(w->out, 3, 1); /* monotonic */
    sonde__pb_end(w->out, data);
    sonde__pb_end(w->out, metric);
    family->cursor = (uint32_t)at;
}

void sonde__encode_otlp_metrics(sonde_view *view, const sonde_encode_options *options,
                                sonde__buf *out)
{
    (void)options;
    writer w = {view, sonde__view_render(view, SONDE__RENDER_OTLP, render), out, 0};
    if (!w.attrs) {
        out->status = SONDE_ENOMEM;
        return;
    }
    sonde__view_rewind(view);
    for (size_t s = 0; s < view->source_count; s++) {
        const sonde_view_source *source = &view->sources[s].source;
        w.start_ns = source->start_wall_ns;
        size_t all = sonde__pb_begin(out, 1);
        size_t resource = sonde__pb_begin(out, 1);
        sonde__resource_of_source(source, sonde__otlp_resource_attr, out);
        sonde__pb_end(out, resource);
        size_t scope = sonde__pb_begin(out, 2);
        sonde__otlp_scope(out);
        for (size_t f = 0; f < view->family_count; f++)
            put_family(&w, &view->families[f], (uint32_t)s);
        sonde__pb_end(out, scope);
        sonde__pb_end(out, all);
    }
}
