/* SPDX-License-Identifier: Apache-2.0 */
/* PyVeda's snapshot from the metrics of processes, which the library counts for every task
   (record/task_metrics.c). Histograms of several activities and processes are added bucket by
   bucket: percentiles of the whole are as exact as those of a part. */
#include "base/clock.h"
#include "serve/processes.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct totals {
    uint64_t failed, submitted, started, unsampled;
    sonde_distribution latency;
    size_t used; /* octaves below this may hold something */
    sonde_octave octave[SONDE_OCTAVES];
} totals;

/* Only the octaves that the last snapshot used: the whole is as large as a cache. */
static void clear(totals *sum)
{
    memset(sum->octave, 0, sum->used * sizeof sum->octave[0]);
    memset(sum, 0, offsetof(totals, octave));
}

static void add_latency(totals *to, const sonde_distribution *one)
{
    sonde_distribution *all = &to->latency;
    if (one->count == 0)
        return;
    all->min = all->count == 0 || one->min < all->min ? one->min : all->min;
    all->max = all->count == 0 || one->max > all->max ? one->max : all->max;
    all->count += one->count;
    all->sum += one->sum;
    all->zero += one->zero;
    all->negative += one->negative;
    all->under += one->under;
    all->over += one->over;
    all->unplaced += one->unplaced;
    for (size_t i = 0; i < one->octave_count; i++) {
        const sonde_octave *from = &one->octaves[i];
        unsigned at = (unsigned)(from->exponent - SONDE_OCTAVE_FIRST);
        if (at >= SONDE_OCTAVES)
            continue;
        to->used = at >= to->used ? at + 1 : to->used;
        to->octave[at].count += from->count;
        for (unsigned b = 0; b < SONDE_OCTAVE_BUCKETS; b++)
            to->octave[at].bucket[b] += from->bucket[b];
    }
}

/* Moves the octaves that hold anything together, as a distribution wants them. */
static void close_latency(totals *to)
{
    size_t count = 0;
    for (unsigned i = 0; i < to->used; i++) {
        if (to->octave[i].count == 0)
            continue;
        if (count != i)
            to->octave[count] = to->octave[i];
        to->octave[count++].exponent = (int)i + SONDE_OCTAVE_FIRST;
    }
    to->latency.octaves = to->octave;
    to->latency.octave_count = count;
}

static void add_set(totals *to, const sonde_metric_set *set)
{
    for (size_t i = 0; i < sonde_metric_set_count(set); i++) {
        const sonde_metric *one = sonde_metric_set_at(set, i);
        if (strncmp(one->name, "sonde_task", 10) != 0)
            continue;
        const char *rest = one->name + 10;
        if (strcmp(rest, "_latency_seconds") == 0 && one->histogram)
            add_latency(to, one->histogram);
        else if (strcmp(rest, "s_failed_total") == 0)
            to->failed += one->counter;
        else if (strcmp(rest, "s_submitted_total") == 0)
            to->submitted += one->counter;
        else if (strcmp(rest, "s_started_total") == 0)
            to->started += one->counter;
        else if (strcmp(rest, "s_unsampled_total") == 0)
            to->unsampled += one->counter;
    }
}

static uint64_t executed_of(const sonde__process *process)
{
    uint64_t executed = 0;
    const sonde_metric_set *set = process->set;
    for (size_t i = 0; process->readable == SONDE_OK && i < sonde_metric_set_count(set); i++) {
        const sonde_metric *one = sonde_metric_set_at(set, i);
        if (one->histogram && strcmp(one->name, "sonde_task_latency_seconds") == 0)
            executed += one->histogram->count;
        else if (strcmp(one->name, "sonde_tasks_unsampled_total") == 0)
            executed += one->counter;
    }
    return executed;
}

static double rate_of(const sonde__process *process, uint64_t executed, uint64_t mono_ns)
{
    const sonde__rate_mark *from = &process->mark[process->mark[0].mono_ns ? 0 : 1];
    if (from->mono_ns == 0 || mono_ns <= from->mono_ns || executed < from->executed)
        return 0;
    return (double)(executed - from->executed) / ((double)(mono_ns - from->mono_ns) / 1e9);
}

void sonde__processes_tick(sonde__processes *all, uint64_t mono_ns)
{
    for (size_t i = 0; i < all->count; i++) {
        sonde__process *one = all->list[i];
        one->mark[0] = one->mark[1];
        one->mark[1] = (sonde__rate_mark){mono_ns, executed_of(one)};
    }
}

void sonde__processes_snapshot(const sonde__processes *all, const sonde__process *one,
                               uint64_t mono_ns, sonde_snapshot *out)
{
    static totals sum; /* 66 KB; the server takes snapshots in one thread */
    clear(&sum);
    double rate = 0;
    for (size_t i = 0; i < all->count; i++) {
        const sonde__process *process = all->list[i];
        if ((one && process != one) || process->readable != SONDE_OK)
            continue;
        add_set(&sum, process->set);
        rate += rate_of(process, executed_of(process), mono_ns);
    }
    close_latency(&sum);
    *out = (sonde_snapshot){
        .wall_ns = sonde__clock_wall_ns(),
        .tasks_executed = sum.latency.count + sum.unsampled,
        .tasks_failed = sum.failed,
        .tasks_pending = sum.submitted > sum.started ? sum.submitted - sum.started : 0,
        .avg_latency_ms = sonde_distribution_mean(&sum.latency) * 1000,
        .p50_latency_ms = sonde_distribution_percentile(&sum.latency, 50) * 1000,
        .p95_latency_ms = sonde_distribution_percentile(&sum.latency, 95) * 1000,
        .p99_latency_ms = sonde_distribution_percentile(&sum.latency, 99) * 1000,
        .throughput_tasks_per_sec = rate,
        .cpu_utilization_percent = NAN,
        .memory_used_mb = NAN,
        .gpu_utilization_percent = NAN,
        .gpu_memory_used_mb = NAN,
    };
}
