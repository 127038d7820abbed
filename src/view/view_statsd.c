/* SPDX-License-Identifier: Apache-2.0 */
/* StatsD and DogStatsD lines. Totals are gauges: a StatsD counter is what was added since the last
   line, and sending the same view twice would count it twice. StatsD has no labels; their values
   become parts of the name. Histograms are count, sum, and percentiles. */
#include "view/view_formats.h"
#include "view/view_text.h"
#include "view/view_utf8.h"

#include <math.h>
#include <string.h>

typedef struct writer {
    sonde_view *view;
    sonde__buf *out;
    bool dog;
} writer;

/* What separates the parts of a line, or of a name, is not part of them. */
static void put_part(sonde__buf *out, const char *text)
{
    size_t from = out->len;
    sonde__utf8_append(out, text, strlen(text));
    for (size_t i = from; i < out->len; i++)
        if ((unsigned char)out->data[i] <= ' ' || strchr(":|@#,.", out->data[i]))
            out->data[i] = '_';
}

static void put_path(void *user, const sonde__view_label *label)
{
    sonde__buf_char(user, '.');
    put_part(user, label->value);
}

static void put_dog_tag(void *user, const sonde__view_label *label)
{
    sonde__buf *out = user;
    if (out->len > 0 && out->data[out->len - 1] != '#')
        sonde__buf_char(out, ',');
    sonde__buf_text(out, label->prefix);
    sonde__buf_text(out, label->key);
    sonde__buf_char(out, ':');
    put_part(out, label->value);
}

static void put_start(const writer *w, const sonde__view_series *series, const char *suffix)
{
    sonde__buf_text(w->out, series->metric->name);
    sonde__buf_text(w->out, suffix);
    if (!w->dog)
        sonde__view_labels(w->view, series, put_path, w->out);
    sonde__buf_char(w->out, ':');
}

static void put_end(const writer *w, const sonde__view_series *series)
{
    sonde__buf_text(w->out, "|g");
    bool labels =
        w->view->sources[series->source].source.label_count > 0 || series->metric->label_count > 0;
    if (w->dog && labels) {
        sonde__buf_text(w->out, "|#");
        sonde__view_labels(w->view, series, put_dog_tag, w->out);
    }
    sonde__buf_char(w->out, '\n');
}

static void put_gauge(const writer *w, const sonde__view_series *series, const char *suffix,
                      double value)
{
    if (!isfinite(value))
        return;
    if (value < 0 && !w->dog) { /* a sign means "change by": from 0 it is the value */
        put_start(w, series, suffix);
        sonde__buf_char(w->out, '0');
        put_end(w, series);
    }
    put_start(w, series, suffix);
    sonde__text_number(w->out, value);
    put_end(w, series);
}

static void put_count(const writer *w, const sonde__view_series *series, const char *suffix,
                      uint64_t value)
{
    put_start(w, series, suffix);
    sonde__text_uint(w->out, value);
    put_end(w, series);
}

static void put_series(const writer *w, const sonde__view_series *series)
{
    const sonde_metric *metric = series->metric;
    if (metric->kind == SONDE_METRIC_COUNTER) {
        put_count(w, series, "", metric->counter);
    } else if (metric->kind != SONDE_METRIC_HISTOGRAM) {
        put_gauge(w, series, "", metric->gauge);
    } else {
        const sonde_distribution *d = metric->histogram;
        put_count(w, series, ".count", d->count);
        put_gauge(w, series, ".sum", d->sum);
        put_gauge(w, series, ".p50", sonde_distribution_percentile(d, 50));
        put_gauge(w, series, ".p95", sonde_distribution_percentile(d, 95));
        put_gauge(w, series, ".p99", sonde_distribution_percentile(d, 99));
    }
}

/* The three values of PyVeda's guide. */
static void put_pyveda(const writer *w)
{
    sonde_snapshot s;
    sonde_status status = sonde_view_snapshot_get(w->view, &s);
    if (status != SONDE_OK) {
        w->out->status = status;
        return;
    }
    sonde__buf_text(w->out, "pyveda.tasks.executed:");
    sonde__text_uint(w->out, s.tasks_executed);
    sonde__buf_text(w->out, "|g\n");
    if (isfinite(s.throughput_tasks_per_sec)) {
        sonde__buf_text(w->out, "pyveda.throughput:");
        sonde__text_number(w->out, s.throughput_tasks_per_sec);
        sonde__buf_text(w->out, "|g\n");
    }
    sonde__buf_text(w->out, "pyveda.latency:");
    sonde__text_number(w->out, s.avg_latency_ms);
    sonde__buf_text(w->out, w->dog ? "|h\n" : "|ms\n"); /* StatsD's histogram is its timer */
}

static void encode(const writer *w, const sonde_encode_options *options)
{
    bool pyveda = options->profile == SONDE_PROFILE_PYVEDA;
    if (pyveda)
        put_pyveda(w);
    for (size_t i = 0; i < w->view->series_count; i++)
        if (!pyveda || strncmp(w->view->series[i].metric->name, "sonde_", 6) != 0)
            put_series(w, &w->view->series[i]);
}

void sonde__encode_statsd(sonde_view *view, const sonde_encode_options *options, sonde__buf *out)
{
    encode(&(writer){view, out, false}, options);
}

void sonde__encode_dogstatsd(sonde_view *view, const sonde_encode_options *options, sonde__buf *out)
{
    encode(&(writer){view, out, true}, options);
}
