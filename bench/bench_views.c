/* SPDX-License-Identifier: Apache-2.0 */
/* Encoders, without what reads the metrics: ten thousand series with three labels, and a million
   spans. The floor of text is its lines' beginnings copied from where they stand ready and their
   values as shortest doubles. */
#include "base/number_format.h"
#include "bench.h"
#include "record/metric_fill.h"
#include "view/view_formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES = 10000, FAMILIES = 10, SPANS = 1000, ROUNDS = 101 };

static sonde_metric_set *set;
static sonde_view *view;
static size_t text_bytes, otlp_bytes, span_bytes;

static void make_series(void)
{
    sonde__metric_set_begin(set);
    for (int i = 0; i < SERIES; i++) {
        char name[64], shard[32], method[32];
        snprintf(name, sizeof name, "bench_requests_%d_seconds", i / (SERIES / FAMILIES));
        snprintf(shard, sizeof shard, "shard-%05d", i);
        snprintf(method, sizeof method, "method_%d", i % 7);
        sonde_label labels[] = {{"shard", shard}, {"method", method}, {"region", "eu-central-1"}};
        sonde_metric metric = {.kind = SONDE_METRIC_GAUGE,
                               .name = name,
                               .help = "Requests by shard",
                               .labels = labels,
                               .label_count = 3,
                               .gauge = (double)(i * 7919) / 1000.0};
        sonde__metric_set_put(set, &metric);
    }
    if (sonde__metric_set_end(set) != SONDE_OK)
        exit(1);
}

static void encode(sonde_format format, unsigned calls, size_t *bytes)
{
    const char *data = NULL;
    for (unsigned i = 0; i < calls; i++) {
        sonde_view_begin(view, 1);
        sonde_view_source source = {.size = sizeof source, .metrics = set, .start_wall_ns = 1};
        if (sonde_view_add(view, &source) != SONDE_OK ||
            sonde_encode(view, format, NULL, &data, bytes) != SONDE_OK)
            exit(1);
        bench_keep(data);
    }
}

static void run_text(void *arg, unsigned calls)
{
    (void)arg;
    encode(SONDE_FORMAT_PROMETHEUS, calls, &text_bytes);
}

static void run_otlp(void *arg, unsigned calls)
{
    (void)arg;
    encode(SONDE_FORMAT_OTLP, calls, &otlp_bytes);
}

/* Lines' beginnings one behind the other, with their lengths. */
static struct {
    char *bytes;
    size_t end[SERIES];
    char *out;
} floor_of;

static void make_floor(void)
{
    sonde__buf lines;
    sonde__buf_init(&lines, 64 << 20);
    for (size_t i = 0; i < SERIES; i++) {
        const sonde_metric *metric = sonde_metric_set_at(set, i);
        sonde__buf_printf(&lines, "%s{shard=\"%s\",method=\"%s\",region=\"%s\"} ", metric->name,
                          metric->labels[0].value, metric->labels[1].value,
                          metric->labels[2].value);
        floor_of.end[i] = lines.len;
    }
    floor_of.bytes = lines.data;
    floor_of.out = malloc(lines.len + (size_t)SERIES * 32);
    if (!floor_of.out)
        exit(1);
}

static void run_floor(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned call = 0; call < calls; call++) {
        char *to = floor_of.out;
        size_t from = 0;
        for (size_t i = 0; i < SERIES; i++) {
            size_t len = floor_of.end[i] - from;
            memcpy(to, floor_of.bytes + from, len);
            to += len;
            to += sonde__format_double(sonde_metric_set_at(set, i)->gauge, to);
            *to++ = '\n';
            from = floor_of.end[i];
        }
        bench_keep(floor_of.out);
    }
}

static void run_copy(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned call = 0; call < calls; call++) {
        memcpy(floor_of.out, floor_of.bytes, floor_of.end[SERIES - 1]);
        bench_keep(floor_of.out);
    }
}

/* A span as tasks of a training loop are: a parent, two numbers, a device. */
static sonde_record span_of(const sonde_run *run, uint64_t number, const sonde_attr *attrs)
{
    return (sonde_record){.kind = SONDE_RECORD_TASK,
                          .status = SONDE_FINISHED,
                          .run = run->run,
                          .id = number + 1,
                          .parent = 1,
                          .trace_hi = 0x1122334455667788,
                          .trace_lo = 0x99aabbccddeeff00,
                          .name = "forward",
                          .name_len = 7,
                          .start_wall_ns = 1700000000000000000u + number * 1000,
                          .end_wall_ns = 1700000000000000900u + number * 1000,
                          .duration_ns = 900,
                          .device = "gpu0",
                          .device_len = 4,
                          .attrs = attrs,
                          .attr_count = 2,
                          .process = run};
}

static void run_spans(void *arg, unsigned calls)
{
    sonde__buf *out = arg;
    static const sonde_run run = {.run = 7, .pid = 1, .workflow_name = "train", .host = "node"};
    static const sonde_attr attrs[] = {
        {SONDE_USED, SONDE_ATTR_INT, "batch", 5, {.i = 17}},
        {SONDE_GENERATED, SONDE_ATTR_DOUBLE, "loss", 4, {.d = 0.125}},
    };
    for (unsigned call = 0; call < calls; call++) {
        sonde__buf_clear(out);
        sonde__span_writer writer = {.out = out};
        sonde__spans_otlp.begin(&writer);
        for (uint64_t i = 0; i < SPANS; i++) {
            sonde_record record = span_of(&run, i, attrs);
            sonde__spans_otlp.record(&writer, &record);
        }
        sonde__spans_otlp.end(&writer);
        span_bytes = out->len;
    }
}

static double gigabytes(size_t bytes, const bench_case *what)
{
    return (double)bytes / bench_median_ns(what);
}

int main(void)
{
    sonde__buf spans_out;
    sonde__buf_init(&spans_out, SONDE__ENCODED_MAX);
    set = sonde_metric_set_create();
    view = sonde_view_create();
    if (!set || !view)
        return 1;
    make_series();
    make_floor();
    static bench_case text = {.name = "text", .run = run_text, .calls = 1};
    static bench_case line_floor = {.name = "floor", .run = run_floor, .calls = 1};
    static bench_case otlp = {.name = "otlp", .run = run_otlp, .calls = 1};
    static bench_case copy = {.name = "copy", .run = run_copy, .calls = 1};
    static bench_case spans = {.name = "spans", .run = run_spans, .calls = 1};
    spans.arg = &spans_out;
    bench_case *cases[] = {&text, &line_floor, &otlp, &copy, &spans};
    bench_run(cases, sizeof cases / sizeof *cases, ROUNDS);

    bench_title("views: 10 000 series with three labels; spans with two attributes");
    bench_note("Prometheus text", gigabytes(text_bytes, &text), "GB/s");
    bench_note("its floor", gigabytes(text_bytes, &line_floor), "GB/s");
    bench_note("OTLP metrics", gigabytes(otlp_bytes, &otlp), "GB/s");
    bench_note("OTLP spans", gigabytes(span_bytes, &spans), "GB/s");
    bench_note("copying the same lines", gigabytes(floor_of.end[SERIES - 1], &copy), "GB/s");
    bench_check("views.text.by_floor", bench_ratio(&text, &line_floor));
    bench_check("views.otlp.gigabytes_per_s", gigabytes(otlp_bytes, &otlp));
    bench_check("views.spans.million_per_s", SPANS * 1e3 / bench_median_ns(&spans));
    return bench_finish();
}
