/* SPDX-License-Identifier: Apache-2.0 */
/* PyVeda's snapshot of a view: the task metrics of all its sources added up. */
#include "view/view_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Latencies of all activities in one distribution. */
typedef struct totals {
    sonde_distribution all;
    sonde_octave octave[SONDE_OCTAVES];
    uint64_t unsampled, failed, submitted, started;
    uint64_t first_wall_ns;
    double cpu_ratio, memory_bytes, gpu_ratio, gpu_bytes;
} totals;

static void add_latency(totals *to, const sonde_distribution *from)
{
    if (from->count == 0)
        return;
    bool first = to->all.count == 0;
    to->all.min = first || from->min < to->all.min ? from->min : to->all.min;
    to->all.max = first || from->max > to->all.max ? from->max : to->all.max;
    to->all.count += from->count;
    to->all.sum += from->sum;
    to->all.zero += from->zero;
    to->all.negative += from->negative;
    to->all.under += from->under;
    to->all.over += from->over;
    to->all.unplaced += from->unplaced;
    for (size_t i = 0; i < from->octave_count; i++) {
        int at = from->octaves[i].exponent - SONDE_OCTAVE_FIRST;
        if (at < 0 || at >= SONDE_OCTAVES)
            continue;
        to->octave[at].count += from->octaves[i].count;
        for (unsigned k = 0; k < SONDE_OCTAVE_BUCKETS; k++)
            to->octave[at].bucket[k] += from->octaves[i].bucket[k];
    }
}

static void finish_latency(totals *to)
{
    size_t used = 0;
    for (int i = 0; i < SONDE_OCTAVES; i++) {
        if (to->octave[i].count == 0)
            continue;
        to->octave[used] = to->octave[i];
        to->octave[used++].exponent = i + SONDE_OCTAVE_FIRST;
    }
    to->all.octaves = to->octave;
    to->all.octave_count = used;
}

static bool is(const sonde_metric *metric, const char *name)
{
    return strcmp(metric->name, name) == 0;
}

static void add_task_metric(totals *to, const sonde_metric *metric)
{
    if (is(metric, "sonde_task_latency_seconds") && metric->kind == SONDE_METRIC_HISTOGRAM)
        add_latency(to, metric->histogram);
    else if (is(metric, "sonde_tasks_failed_total"))
        to->failed += metric->counter;
    else if (is(metric, "sonde_tasks_unsampled_total"))
        to->unsampled += metric->counter;
    else if (is(metric, "sonde_tasks_submitted_total"))
        to->submitted += metric->counter;
    else if (is(metric, "sonde_tasks_started_total"))
        to->started += metric->counter;
}

static void add_host_metric(totals *to, const sonde_metric *metric)
{
    const char *kind = sonde__metric_label(metric, "kind");
    if (is(metric, "sonde_host_cpu_utilization_ratio"))
        to->cpu_ratio = metric->gauge;
    else if (is(metric, "sonde_host_memory_bytes") && kind && strcmp(kind, "used") == 0)
        to->memory_bytes = metric->gauge;
    else if (is(metric, "sonde_gpu_utilization_ratio") && isnan(to->gpu_ratio))
        to->gpu_ratio = metric->gauge; /* of the first, as in PyVeda */
    else if (is(metric, "sonde_gpu_memory_used_bytes") && isnan(to->gpu_bytes))
        to->gpu_bytes = metric->gauge;
}

static void add_source(totals *to, const sonde_view_source *source)
{
    if (source->start_wall_ns &&
        (to->first_wall_ns == 0 || source->start_wall_ns < to->first_wall_ns))
        to->first_wall_ns = source->start_wall_ns;
    for (size_t i = 0; i < sonde_metric_set_count(source->metrics); i++) {
        const sonde_metric *metric = sonde_metric_set_at(source->metrics, i);
        if (strncmp(metric->name, "sonde_task", 10) == 0)
            add_task_metric(to, metric);
        else if (strncmp(metric->name, "sonde_", 6) == 0)
            add_host_metric(to, metric);
    }
}

sonde_status sonde_view_snapshot_get(sonde_view *view, sonde_snapshot *out)
{
    if (view->has_snapshot) {
        *out = view->snapshot;
        return SONDE_OK;
    }
    totals *t = calloc(1, sizeof *t);
    if (!t)
        return SONDE_ENOMEM;
    t->cpu_ratio = t->memory_bytes = t->gpu_ratio = t->gpu_bytes = NAN;
    for (size_t i = 0; i < view->source_count; i++)
        add_source(t, &view->sources[i].source);
    finish_latency(t);
    uint64_t executed = t->all.count + t->unsampled;
    double seconds = view->wall_ns > t->first_wall_ns && t->first_wall_ns
                         ? (double)(view->wall_ns - t->first_wall_ns) / 1e9
                         : NAN;
    *out = (sonde_snapshot){
        .wall_ns = view->wall_ns,
        .tasks_executed = executed,
        .tasks_failed = t->failed,
        .tasks_pending = t->submitted > t->started ? t->submitted - t->started : 0,
        .avg_latency_ms = sonde_distribution_mean(&t->all) * 1000,
        .p50_latency_ms = sonde_distribution_percentile(&t->all, 50) * 1000,
        .p95_latency_ms = sonde_distribution_percentile(&t->all, 95) * 1000,
        .p99_latency_ms = sonde_distribution_percentile(&t->all, 99) * 1000,
        .throughput_tasks_per_sec = (double)executed / seconds,
        .cpu_utilization_percent = t->cpu_ratio * 100,
        .memory_used_mb = t->memory_bytes / 1048576,
        .gpu_utilization_percent = t->gpu_ratio * 100,
        .gpu_memory_used_mb = t->gpu_bytes / 1048576,
    };
    free(t);
    return SONDE_OK;
}
