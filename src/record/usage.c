/* SPDX-License-Identifier: Apache-2.0 */
/* The largest RSS between two moments is the kernel's high-water mark when that rose in between,
   which samples a second apart would miss; otherwise the largest that was sampled. */
#include "record/usage.h"

#include <pthread.h>

enum { SAMPLES = 4096 };      /* 128 KiB: more than an hour at one a second */
#define SHORTEST_NS 10000000u /* CPU time advances in ticks: no percentage of less */

static struct {
    pthread_mutex_t lock;
    uint64_t put; /* ever */
    sonde__point ring[SAMPLES];
} samples = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool sonde__point_of(const sonde_telemetry *t, uint64_t mono_ns, sonde__point *out)
{
    double user;
    double system;
    double rss;
    if (sonde_telemetry_double(t, SONDE_FIELD_PROCESS_USER, &user) != SONDE_OK ||
        sonde_telemetry_double(t, SONDE_FIELD_PROCESS_SYSTEM, &system) != SONDE_OK ||
        sonde_telemetry_double(t, SONDE_FIELD_PROCESS_RSS, &rss) != SONDE_OK)
        return false;
    *out = (sonde__point){mono_ns, user + system, rss, (double)t->peak_rss_bytes};
    return true;
}

void sonde__samples_add(const sonde__point *point)
{
    pthread_mutex_lock(&samples.lock);
    samples.ring[samples.put++ % SAMPLES] = *point;
    pthread_mutex_unlock(&samples.lock);
}

void sonde__samples_after_fork(void)
{
    pthread_mutex_init(&samples.lock, NULL);
    samples.put = 0;
}

/* The stretch from one point to the next. */
static void add_stretch(sonde_usage *usage, const sonde__point *a, const sonde__point *b)
{
    double seconds = (double)(b->mono_ns - a->mono_ns) / 1e9;
    usage->rss_byte_seconds += (a->rss_bytes + b->rss_bytes) / 2 * seconds;
    if (b->rss_bytes > usage->rss_bytes_max)
        usage->rss_bytes_max = b->rss_bytes;
    if (b->mono_ns - a->mono_ns < SHORTEST_NS)
        return;
    double percent = (b->cpu_seconds - a->cpu_seconds) / seconds * 100;
    if (percent > usage->cpu_percent_max)
        usage->cpu_percent_max = percent;
}

sonde_usage sonde__usage_between(const sonde__point *from, const sonde__point *to)
{
    sonde_usage usage = {.rss_bytes_max = from->rss_bytes};
    const sonde__point *last = from;
    pthread_mutex_lock(&samples.lock);
    uint64_t oldest = samples.put > SAMPLES ? samples.put - SAMPLES : 0;
    uint64_t first = samples.put;
    while (first > oldest && samples.ring[(first - 1) % SAMPLES].mono_ns > from->mono_ns)
        first--;
    for (uint64_t i = first; i < samples.put; i++) {
        const sonde__point *point = &samples.ring[i % SAMPLES];
        if (point->mono_ns >= to->mono_ns)
            break;
        add_stretch(&usage, last, point);
        last = point;
        usage.samples++;
    }
    add_stretch(&usage, last, to);
    pthread_mutex_unlock(&samples.lock);
    usage.seconds = (double)(to->mono_ns - from->mono_ns) / 1e9;
    usage.cpu_seconds = to->cpu_seconds - from->cpu_seconds;
    usage.rss_bytes_mean =
        usage.seconds > 0 ? usage.rss_byte_seconds / usage.seconds : to->rss_bytes;
    if (to->peak_rss_bytes > from->peak_rss_bytes && to->peak_rss_bytes > usage.rss_bytes_max)
        usage.rss_bytes_max = to->peak_rss_bytes;
    return usage;
}
