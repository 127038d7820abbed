/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus text 0.0.4 and OpenMetrics 1.0. Text has no native histograms: buckets are the octaves
   between the smallest and the largest value, whose counts are exact. OpenMetrics differs in a
   counter's family name (without _total), in UNIT, in exemplars, in "# EOF". */
#include "view/view_text.h"

#include "base/ids.h"
#include "base/number_format.h"
#include "view/view_formats.h"
#include "view/view_utf8.h"

#include <math.h>
#include <string.h>

void sonde__text_escape(sonde__buf *out, const char *text, bool quotes)
{
    const char *special = quotes ? "\\\n\"" : "\\\n";
    for (;;) {
        size_t plain = strcspn(text, special);
        sonde__utf8_append(out, text, plain);
        text += plain;
        if (*text == '\0')
            return;
        sonde__buf_char(out, '\\');
        if (*text == '\n')
            sonde__buf_char(out, 'n');
        else
            sonde__buf_char(out, *text);
        text++;
    }
}

void sonde__text_number(sonde__buf *out, double value)
{
    if (isnan(value)) {
        sonde__buf_text(out, "NaN");
    } else if (isinf(value)) {
        sonde__buf_text(out, value > 0 ? "+Inf" : "-Inf");
    } else if (sonde__buf_reserve(out, SONDE__DOUBLE_TEXT_MAX)) {
        out->len += sonde__format_double(value, out->data + out->len);
    }
}

void sonde__text_uint(sonde__buf *out, uint64_t value)
{
    if (sonde__buf_reserve(out, SONDE__UINT_TEXT_MAX))
        out->len += sonde__format_uint(value, out->data + out->len);
}

static void put_label(void *user, const sonde__view_label *label)
{
    sonde__buf *out = user;
    if (out->len > 0 && out->data[out->len - 1] != '{')
        sonde__buf_char(out, ',');
    sonde__buf_text(out, label->prefix);
    sonde__buf_text(out, label->key);
    sonde__buf_text(out, "=\"");
    sonde__text_escape(out, label->value, true);
    sonde__buf_char(out, '"');
}

/* name{labels} and a space; histograms without the name, the brace and the space. */
static void render(const sonde_view *view, const sonde__view_family *family,
                   const sonde__view_series *series, sonde__buf *out)
{
    bool labels = view->sources[series->source].source.label_count + series->metric->label_count;
    bool histogram = family->kind == SONDE_METRIC_HISTOGRAM;
    if (!histogram)
        sonde__buf_text(out, family->name);
    if (labels) {
        sonde__buf_char(out, '{');
        sonde__view_labels(view, series, put_label, out);
    }
    if (!histogram)
        sonde__buf_text(out, labels ? "} " : " ");
}

typedef struct text_writer {
    sonde_view *view;
    const sonde__rendered *rendered;
    sonde__buf *out;
    bool open; /* OpenMetrics */
} text_writer;

static const char *type_name(sonde_metric_kind kind)
{
    switch (kind) {
    case SONDE_METRIC_COUNTER:
    case SONDE_METRIC_SUM:
        return "counter";
    case SONDE_METRIC_GAUGE:
        return "gauge";
    case SONDE_METRIC_HISTOGRAM:
        return "histogram";
    }
    return "untyped";
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);
    return len > n && memcmp(text + len - n, end, n) == 0;
}

static const char *unit_of(const char *name, size_t len)
{
    static const char *const units[] = {"_seconds", "_bytes", "_joules", "_watts",
                                        "_celsius", "_ratio", "_hertz",  "_volts"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ends_with(name, len, units[i]))
            return units[i] + 1;
    return NULL;
}

static void head_line(sonde__buf *out, const char *what, const char *name, size_t len)
{
    sonde__buf_text(out, what);
    sonde__buf_append(out, name, len);
    sonde__buf_char(out, ' ');
}

static void put_head(const text_writer *w, const sonde__view_family *family)
{
    size_t len = strlen(family->name);
    bool counter = family->kind == SONDE_METRIC_COUNTER || family->kind == SONDE_METRIC_SUM;
    if (w->open && counter && ends_with(family->name, len, "_total"))
        len -= 6;
    head_line(w->out, "# HELP ", family->name, len);
    sonde__text_escape(w->out, family->help[0] ? family->help : "(no description)", w->open);
    head_line(w->out, "\n# TYPE ", family->name, len);
    sonde__buf_text(w->out, type_name(family->kind));
    sonde__buf_char(w->out, '\n');
    const char *unit = w->open ? unit_of(family->name, len) : NULL;
    if (unit) {
        head_line(w->out, "# UNIT ", family->name, len);
        sonde__buf_text(w->out, unit);
        sonde__buf_char(w->out, '\n');
    }
}

static void put_exemplar(const text_writer *w, const sonde__exemplar *exemplar)
{
    char hex[16];
    sonde__buf_text(w->out, " # {trace_id=\"");
    sonde__id_to_hex(exemplar->trace_hi, hex);
    sonde__buf_append(w->out, hex, sizeof hex);
    sonde__id_to_hex(exemplar->trace_lo, hex);
    sonde__buf_append(w->out, hex, sizeof hex);
    sonde__buf_text(w->out, "\",span_id=\"");
    sonde__id_to_hex(exemplar->span, hex);
    sonde__buf_append(w->out, hex, sizeof hex);
    sonde__buf_text(w->out, "\"} ");
    sonde__text_number(w->out, exemplar->value);
    sonde__buf_char(w->out, ' ');
    uint64_t milliseconds = exemplar->wall_ns / 1000000u;
    sonde__text_number(w->out, (double)milliseconds / 1e3);
}

/* name_suffix{labels and a space: what a line of a histogram begins with, up to le */
static void line_of(const text_writer *w, const sonde__view_family *family, size_t series,
                    const char *suffix, bool more)
{
    sonde__buf_text(w->out, family->name);
    sonde__buf_text(w->out, suffix);
    size_t before = w->out->len;
    sonde__rendered_put(w->rendered, series, w->out);
    bool labels = w->out->len > before;
    if (more)
        sonde__buf_text(w->out, labels ? ",le=\"" : "{le=\"");
    else
        sonde__buf_text(w->out, labels ? "} " : " ");
}

static void put_bucket(const text_writer *w, const sonde__view_family *family, size_t series,
                       double bound, uint64_t count, const sonde__exemplar *exemplar)
{
    line_of(w, family, series, "_bucket", true);
    sonde__text_number(w->out, bound);
    sonde__buf_text(w->out, "\"} ");
    sonde__text_uint(w->out, count);
    if (w->open && exemplar)
        put_exemplar(w, exemplar);
    sonde__buf_char(w->out, '\n');
}

static void put_histogram(const text_writer *w, const sonde__view_family *family, size_t at)
{
    const sonde__view_series *series = &w->view->series[at];
    const sonde_distribution *d = series->metric->histogram;
    uint64_t below = d->negative + d->zero;
    if (below > 0)
        put_bucket(w, family, at, 0, below, NULL);
    below += d->under;
    size_t next = 0;
    int last = d->octave_count ? d->octaves[d->octave_count - 1].exponent : 0;
    for (int octave = d->octave_count ? d->octaves[0].exponent : 1; octave <= last; octave++) {
        if (next < d->octave_count && d->octaves[next].exponent == octave)
            below += d->octaves[next++].count;
        put_bucket(w, family, at, sonde_bucket_bound(octave, SONDE_OCTAVE_BUCKETS - 1), below,
                   sonde__view_exemplar_of(w->view, series, octave));
    }
    put_bucket(w, family, at, INFINITY, d->count, NULL);
    /* OpenMetrics: with negative values there is no _sum, it could fall */
    if (!w->open || d->negative == 0) {
        line_of(w, family, at, "_sum", false);
        sonde__text_number(w->out, d->sum);
        sonde__buf_char(w->out, '\n');
    }
    line_of(w, family, at, "_count", false);
    sonde__text_uint(w->out, d->count);
    sonde__buf_char(w->out, '\n');
}

/* The lines of a family that is no histogram: the loop that ten thousand series go through. */
static void put_values(const text_writer *w, const sonde__view_family *family)
{
    size_t end = (size_t)family->first + family->count;
    bool counter = family->kind == SONDE_METRIC_COUNTER;
    for (size_t i = family->first; i < end; i++) {
        const sonde_metric *metric = w->view->series[i].metric;
        sonde__rendered_put(w->rendered, i, w->out);
        if (counter)
            sonde__text_uint(w->out, metric->counter);
        else
            sonde__text_number(w->out, metric->gauge);
        sonde__buf_char(w->out, '\n');
    }
}

/* OpenMetrics: a counter's samples end in _total. */
static void put_open_counter(const text_writer *w, const sonde__view_family *family)
{
    for (size_t i = family->first; i < (size_t)family->first + family->count; i++) {
        const sonde_metric *metric = w->view->series[i].metric;
        size_t name = strlen(family->name);
        size_t from = i ? w->rendered->end[i - 1] : 0;
        sonde__buf_text(w->out, family->name);
        sonde__buf_text(w->out, "_total");
        sonde__buf_append(w->out, w->rendered->bytes.data + from + name,
                          w->rendered->end[i] - from - name);
        if (family->kind == SONDE_METRIC_COUNTER)
            sonde__text_uint(w->out, metric->counter);
        else
            sonde__text_number(w->out, metric->gauge);
        sonde__buf_char(w->out, '\n');
    }
}

static void put_family(const text_writer *w, const sonde__view_family *family)
{
    put_head(w, family);
    bool counter = family->kind == SONDE_METRIC_COUNTER || family->kind == SONDE_METRIC_SUM;
    if (family->kind == SONDE_METRIC_HISTOGRAM)
        for (size_t i = 0; i < family->count; i++)
            put_histogram(w, family, family->first + i);
    else if (w->open && counter && !ends_with(family->name, strlen(family->name), "_total"))
        put_open_counter(w, family);
    else
        put_values(w, family);
}

static void encode(sonde_view *view, const sonde_encode_options *options, sonde__buf *out,
                   bool open)
{
    text_writer w = {view, sonde__view_render(view, SONDE__RENDER_TEXT, render), out, open};
    if (!w.rendered) {
        out->status = SONDE_ENOMEM;
        return;
    }
    bool pyveda = options->profile == SONDE_PROFILE_PYVEDA;
    if (pyveda)
        sonde__text_pyveda(view, open, out);
    for (size_t f = 0; f < view->family_count; f++)
        if (!pyveda || strncmp(view->families[f].name, "sonde_", 6) != 0)
            put_family(&w, &view->families[f]);
    if (open)
        sonde__buf_text(out, "# EOF\n");
}

void sonde__encode_prometheus(sonde_view *view, const sonde_encode_options *options,
                              sonde__buf *out)
{
    encode(view, options, out, false);
}

void sonde__encode_openmetrics(sonde_view *view, const sonde_encode_options *options,
                               sonde__buf *out)
{
    encode(view, options, out, true);
}
