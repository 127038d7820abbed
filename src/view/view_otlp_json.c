/* SPDX-License-Identifier: Apache-2.0 */
/* ExportMetricsServiceRequest as JSON: what view_otlp_metrics.c writes, in protobuf's JSON mapping.
 */
#include "view/native_buckets.h"
#include "view/otlp_metric.h"
#include "view/otlp_value.h"
#include "view/view_formats.h"

#include <string.h>

const char *sonde__otlp_unit(const char *name)
{
    static const struct {
        const char *end;
        const char *unit;
    } units[] = {{"_seconds", "s"}, {"_bytes", "By"},    {"_joules", "J"}, {"_watts", "W"},
                 {"_ratio", "1"},   {"_celsius", "Cel"}, {"_hertz", "Hz"}, {"_ms", "ms"}};
    size_t len = strlen(name);
    if (len > 6 && strcmp(name + len - 6, "_total") == 0)
        len -= 6;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t end = strlen(units[i].end);
        if (len > end && memcmp(name + len - end, units[i].end, end) == 0)
            return units[i].unit;
    }
    return "";
}

typedef struct writer {
    sonde_view *view;
    sonde__json json;
    uint64_t start_ns;
} writer;

static void uint_key(writer *w, const char *key, uint64_t value)
{
    sonde__json_key(&w->json, key);
    sonde__otlp_json_uint(&w->json, value);
}

static void double_key(writer *w, const char *key, double value)
{
    sonde__json_key(&w->json, key);
    sonde__otlp_json_double(&w->json, value);
}

static void put_times(writer *w, const sonde_metric *metric)
{
    sonde__json_key(&w->json, "attributes");
    sonde__json_begin_array(&w->json);
    for (size_t i = 0; i < metric->label_count; i++) {
        const sonde_label *label = &metric->labels[i];
        sonde_attr attr = {
            .type = SONDE_ATTR_STRING, .key = label->key, .key_len = strlen(label->key)};
        attr.value.s.data = label->value;
        attr.value.s.len = strlen(label->value);
        sonde__otlp_json_attr(&w->json, "", &attr);
    }
    sonde__json_end_array(&w->json);
    if (w->start_ns && metric->kind != SONDE_METRIC_GAUGE)
        uint_key(w, "startTimeUnixNano", w->start_ns);
    uint_key(w, "timeUnixNano", w->view->wall_ns);
}

typedef struct dense {
    writer *w;
    int next;
} dense;

static void put_count(void *user, int index, uint64_t count)
{
    dense *d = user;
    for (; d->next < index; d->next++)
        sonde__otlp_json_uint(&d->w->json, 0);
    sonde__otlp_json_uint(&d->w->json, count);
    d->next = index + 1;
}

static void begin_buckets(writer *w, const char *key, int offset)
{
    sonde__json_key(&w->json, key);
    sonde__json_begin_object(&w->json);
    sonde__json_key(&w->json, "offset");
    sonde__json_int(&w->json, offset);
    sonde__json_key(&w->json, "bucketCounts");
    sonde__json_begin_array(&w->json);
}

static void end_buckets(writer *w)
{
    sonde__json_end_array(&w->json);
    sonde__json_end_object(&w->json);
}

static void put_histogram(writer *w, const sonde_distribution *d)
{
    uint_key(w, "count", d->count);
    if (d->negative == 0)
        double_key(w, "sum", d->sum);
    sonde__json_key(&w->json, "scale");
    sonde__json_int(&w->json, SONDE__NATIVE_SCALE);
    uint_key(w, "zeroCount", d->zero + d->under);
    dense counts = {.w = w};
    if (sonde__native_first(d, &counts.next)) {
        begin_buckets(w, "positive", counts.next);
        sonde__native_positive(d, put_count, &counts);
        end_buckets(w);
    }
    int index = 0;
    uint64_t negative = sonde__native_negative(d, &index);
    if (negative > 0) {
        begin_buckets(w, "negative", index);
        sonde__otlp_json_uint(&w->json, negative);
        end_buckets(w);
    }
    if (d->count > 0) {
        double_key(w, "min", d->min);
        double_key(w, "max", d->max);
    }
    double_key(w, "zeroThreshold", SONDE__NATIVE_ZERO);
}

static void put_point(writer *w, const sonde_metric *metric)
{
    sonde__json_begin_object(&w->json);
    put_times(w, metric);
    if (metric->kind == SONDE_METRIC_HISTOGRAM)
        put_histogram(w, metric->histogram);
    else if (metric->kind == SONDE_METRIC_COUNTER)
        uint_key(w, "asInt", metric->counter);
    else
        double_key(w, "asDouble", metric->gauge);
    sonde__json_end_object(&w->json);
}

static void put_family(writer *w, sonde__view_family *family, uint32_t source)
{
    static const char *const data[] = {[SONDE_METRIC_COUNTER] = "sum",
                                       [SONDE_METRIC_GAUGE] = "gauge",
                                       [SONDE_METRIC_HISTOGRAM] = "exponentialHistogram",
                                       [SONDE_METRIC_SUM] = "sum"};
    size_t end = (size_t)family->first + family->count;
    size_t at = family->cursor;
    if (at == end || w->view->series[at].source != source)
        return;
    sonde__json_begin_object(&w->json);
    sonde__json_key(&w->json, "name");
    sonde__json_string(&w->json, family->name);
    sonde__json_key(&w->json, "description");
    sonde__json_string(&w->json, family->help);
    sonde__json_key(&w->json, "unit");
    sonde__json_string(&w->json, sonde__otlp_unit(family->name));
    sonde__json_key(&w->json, data[family->kind]);
    sonde__json_begin_object(&w->json);
    sonde__json_key(&w->json, "dataPoints");
    sonde__json_begin_array(&w->json);
    for (; at < end && w->view->series[at].source == source; at++)
        put_point(w, w->view->series[at].metric);
    sonde__json_end_array(&w->json);
    if (family->kind != SONDE_METRIC_GAUGE) {
        sonde__json_key(&w->json, "aggregationTemporality");
        sonde__json_int(&w->json, 2);
    }
    if (family->kind == SONDE_METRIC_COUNTER || family->kind == SONDE_METRIC_SUM) {
        sonde__json_key(&w->json, "isMonotonic");
        sonde__json_bool(&w->json, true);
    }
    sonde__json_end_object(&w->json);
    sonde__json_end_object(&w->json);
    family->cursor = (uint32_t)at;
}

static void put_source(writer *w, uint32_t s)
{
    const sonde_view_source *source = &w->view->sources[s].source;
    w->start_ns = source->start_wall_ns;
    sonde__json_begin_object(&w->json);
    sonde__json_key(&w->json, "resource");
    sonde__json_begin_object(&w->json);
    sonde__json_key(&w->json, "attributes");
    sonde__json_begin_array(&w->json);
    sonde__resource_of_source(source, sonde__otlp_json_each, &w->json);
    sonde__json_end_array(&w->json);
    sonde__json_end_object(&w->json);
    sonde__json_key(&w->json, "scopeMetrics");
    sonde__json_begin_array(&w->json);
    sonde__json_begin_object(&w->json);
    sonde__otlp_json_scope(&w->json);
    sonde__json_key(&w->json, "metrics");
    sonde__json_begin_array(&w->json);
    for (size_t f = 0; f < w->view->family_count; f++)
        put_family(w, &w->view->families[f], s);
    sonde__json_end_array(&w->json);
    sonde__json_end_object(&w->json);
    sonde__json_end_array(&w->json);
    sonde__json_end_object(&w->json);
}

void sonde__encode_otlp_metrics_json(sonde_view *view, const sonde_encode_options *options,
                                     sonde__buf *out)
{
    (void)options;
    writer w = {.view = view};
    sonde__json_init(&w.json, out);
    sonde__view_rewind(view);
    sonde__json_begin_object(&w.json);
    sonde__json_key(&w.json, "resourceMetrics");
    sonde__json_begin_array(&w.json);
    for (size_t s = 0; s < view->source_count; s++)
        put_source(&w, (uint32_t)s);
    sonde__json_end_array(&w.json);
    sonde__json_end_object(&w.json);
    sonde__buf_char(out, '\n');
}
