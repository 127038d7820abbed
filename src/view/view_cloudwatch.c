/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of CloudWatch's PutMetricData, one JSON object a line with at most 1000 metrics each,
   which is what a request may hold. Values that CloudWatch refuses (NaN, infinities, empty labels)
   are left out. Histograms are its StatisticValues. */
#include "base/json_write.h"
#include "view/view_formats.h"

#include <math.h>
#include <string.h>

enum { REQUEST_METRICS = 1000 };

typedef struct writer {
    sonde_view *view;
    sonde__json json;
    size_t in_request; /* 0: none is open */
    const char *space;
} writer;

static void end_request(writer *w)
{
    if (w->in_request == 0)
        return;
    sonde__json_end_array(&w->json);
    sonde__json_end_object(&w->json);
    sonde__buf_char(w->json.buf, '\n');
    w->in_request = 0;
}

static void begin_metric(writer *w, const char *name)
{
    if (w->in_request == REQUEST_METRICS)
        end_request(w);
    if (w->in_request++ == 0) {
        sonde__json_init(&w->json, w->json.buf);
        sonde__json_begin_object(&w->json);
        sonde__json_key(&w->json, "Namespace");
        sonde__json_string(&w->json, w->space);
        sonde__json_key(&w->json, "MetricData");
        sonde__json_begin_array(&w->json);
    }
    sonde__json_begin_object(&w->json);
    sonde__json_key(&w->json, "MetricName");
    sonde__json_string(&w->json, name);
}

static void double_key(writer *w, const char *key, double value)
{
    sonde__json_key(&w->json, key);
    sonde__json_double(&w->json, value);
}

static void put_dimension(void *user, const sonde__view_label *label)
{
    writer *w = user;
    if (label->value[0] == '\0')
        return;
    sonde__json_begin_object(&w->json);
    sonde__json_key(&w->json, "Name");
    sonde__json_string(&w->json, label->key);
    sonde__json_key(&w->json, "Value");
    sonde__json_string(&w->json, label->value);
    sonde__json_end_object(&w->json);
}

static const char *unit_of(const char *name)
{
    static const char *const units[][2] = {
        {"_seconds", "Seconds"}, {"_bytes", "Bytes"}, {"_ms", "Milliseconds"}};
    size_t len = strlen(name);
    bool total = len > 6 && strcmp(name + len - 6, "_total") == 0;
    len -= total ? 6 : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t end = strlen(units[i][0]);
        if (len > end && memcmp(name + len - end, units[i][0], end) == 0)
            return units[i][1];
    }
    return total ? "Count" : "None";
}

static void put_series(writer *w, const sonde__view_series *series)
{
    const sonde_metric *metric = series->metric;
    bool histogram = metric->kind == SONDE_METRIC_HISTOGRAM;
    double value = metric->kind == SONDE_METRIC_COUNTER ? (double)metric->counter : metric->gauge;
    if (histogram ? metric->histogram->count == 0 || !isfinite(metric->histogram->sum)
                  : !isfinite(value))
        return;
    begin_metric(w, metric->name);
    sonde__json_key(&w->json, "Dimensions");
    sonde__json_begin_array(&w->json);
    sonde__view_labels(w->view, series, put_dimension, w);
    sonde__json_end_array(&w->json);
    uint64_t milliseconds = w->view->wall_ns / 1000000u;
    double_key(w, "Timestamp", (double)milliseconds / 1e3);
    if (histogram) {
        sonde__json_key(&w->json, "StatisticValues");
        sonde__json_begin_object(&w->json);
        double_key(w, "SampleCount", (double)metric->histogram->count);
        double_key(w, "Sum", metric->histogram->sum);
        double_key(w, "Minimum", metric->histogram->min);
        double_key(w, "Maximum", metric->histogram->max);
        sonde__json_end_object(&w->json);
    } else {
        double_key(w, "Value", value);
    }
    sonde__json_key(&w->json, "Unit");
    sonde__json_string(&w->json, unit_of(metric->name));
    sonde__json_end_object(&w->json);
}

static void put_simple(writer *w, const char *name, double value, const char *unit)
{
    if (!isfinite(value))
        return;
    begin_metric(w, name);
    double_key(w, "Value", value);
    sonde__json_key(&w->json, "Unit");
    sonde__json_string(&w->json, unit);
    sonde__json_end_object(&w->json);
}

void sonde__encode_cloudwatch(sonde_view *view, const sonde_encode_options *options,
                              sonde__buf *out)
{
    bool pyveda = options->profile == SONDE_PROFILE_PYVEDA;
    writer w = {.view = view, .space = pyveda ? "PyVeda" : "Sonde"};
    sonde__json_init(&w.json, out);
    if (pyveda) {
        sonde_snapshot s;
        sonde_status status = sonde_view_snapshot_get(view, &s);
        if (status != SONDE_OK) {
            out->status = status;
            return;
        }
        put_simple(&w, "TasksExecuted", (double)s.tasks_executed, "Count");
        put_simple(&w, "Throughput", s.throughput_tasks_per_sec, "Count/Second");
        put_simple(&w, "Latency", s.avg_latency_ms, "Milliseconds");
    }
    for (size_t i = 0; i < view->series_count; i++)
        if (!pyveda || strncmp(view->series[i].metric->name, "sonde_", 6) != 0)
            put_series(&w, &view->series[i]);
    end_request(&w);
}
