/* SPDX-License-Identifier: Apache-2.0 */
/* The largest RSS between two moments is the kernel's high-water mark when that rose in between,
   which samples a second apart would miss; otherwise the largest that was sampled. GPUs and energy
   may be known at some of the points only (a light reading has none): figures are over the
   stretches between points that know, and how long these are is said. Counters of CPU packages wrap
   after some twenty minutes: beyond ten only the sampler's are trusted. */
#include "record/usage.h"

#include "sonde/gpu.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { SAMPLES = 4096 };      /* 288 KiB: more than an hour at one a second */
#define SHORTEST_NS 10000000u /* CPU time advances in ticks: no percentage of less */
#define WRAP_NS     600000000000u

static struct {
    pthread_mutex_t lock;
    uint64_t put; /* ever */
    sonde__point ring[SAMPLES];
} samples = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- points --- */

/* A metric of all GPUs together; NaN when one of them does not tell. */
static double gpu_sum(const sonde_telemetry *t, sonde_gpu_metric metric)
{
    double sum = 0;
    for (size_t i = 0; i < sonde_telemetry_gpus(t); i++) {
        double value;
        if (sonde_telemetry_gpu_double(t, i, metric, &value) != SONDE_OK)
            return NAN;
        sum += value;
    }
    return sonde_telemetry_gpus(t) ? sum : NAN;
}

/* NVIDIA says milliwatts, AMD watts; a machine may have both. */
static double gpu_watts(const sonde_telemetry *t)
{
    double sum = 0;
    for (size_t i = 0; i < sonde_telemetry_gpus(t); i++) {
        double value;
        if (sonde_telemetry_gpu_double(t, i, SONDE_GPU_POWER, &value) == SONDE_OK)
            sum += value / 1000;
        else if (sonde_telemetry_gpu_double(t, i, SONDE_GPU_SOCKET_POWER, &value) == SONDE_OK)
            sum += value;
        else
            return NAN;
    }
    return sonde_telemetry_gpus(t) ? sum : NAN;
}

void sonde__point_devices(const sonde_telemetry *t, uint64_t meter, sonde__point *out)
{
    out->gpu_bytes = gpu_sum(t, SONDE_GPU_USED);
    out->gpu_watts = gpu_watts(t);
    out->gpu_joules = gpu_sum(t, SONDE_GPU_ENERGY);
    out->cpu_meter = meter;
    double package;
    double dram = 0;
    out->cpu_joules = NAN;
    if (sonde_telemetry_double(t, SONDE_FIELD_ENERGY_PACKAGE, &package) == SONDE_OK) {
        (void)sonde_telemetry_double(t, SONDE_FIELD_ENERGY_DRAM, &dram);
        out->cpu_joules = package + dram;
    }
}

bool sonde__point_of(const sonde_telemetry *t, uint64_t mono_ns, uint64_t meter, sonde__point *out)
{
    double user;
    double system;
    double rss;
    if (sonde_telemetry_double(t, SONDE_FIELD_PROCESS_USER, &user) != SONDE_OK ||
        sonde_telemetry_double(t, SONDE_FIELD_PROCESS_SYSTEM, &system) != SONDE_OK ||
        sonde_telemetry_double(t, SONDE_FIELD_PROCESS_RSS, &rss) != SONDE_OK)
        return false;
    *out = (sonde__point){.mono_ns = mono_ns,
                          .cpu_seconds = user + system,
                          .rss_bytes = rss,
                          .peak_rss_bytes = (double)t->peak_rss_bytes};
    sonde__point_devices(t, meter, out);
    return true;
}

static bool knows_devices(const sonde__point *point)
{
    return !isnan(point->gpu_bytes) || !isnan(point->gpu_watts) || !isnan(point->gpu_joules) ||
           !isnan(point->cpu_joules);
}

size_t sonde__point_bytes(const sonde__point *point)
{
    return knows_devices(point) ? sizeof *point : SONDE__POINT_SHORT;
}

bool sonde__point_load(const void *bytes, size_t len, sonde__point *out)
{
    if (len != sizeof *out && len != SONDE__POINT_SHORT)
        return false;
    out->gpu_bytes = out->gpu_watts = out->gpu_joules = out->cpu_joules = NAN;
    memcpy(out, bytes, len);
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

/* --- between two points --- */

/* What is added up while points are passed; of GPUs and meters the last point that knew. */
typedef struct course {
    sonde_task_usage usage;
    sonde__point last;
    sonde__point gpu; /* mono_ns 0: none yet */
    double power_joules;
    double counter_joules;
    sonde__point meter_first, meter_last; /* the sampler's */
} course;

static double seconds_between(const sonde__point *a, const sonde__point *b)
{
    return (double)(b->mono_ns - a->mono_ns) / 1e9;
}

/* NaN is less than anything. */
static void raise_to(double *most, double value)
{
    if (value > *most || isnan(*most))
        *most = value;
}

static void pass_process(course *so_far, const sonde__point *now)
{
    sonde_task_usage *usage = &so_far->usage;
    const sonde__point *last = &so_far->last;
    double seconds = seconds_between(last, now);
    usage->rss_byte_seconds += (last->rss_bytes + now->rss_bytes) / 2 * seconds;
    raise_to(&usage->rss_bytes_max, now->rss_bytes);
    if (now->mono_ns - last->mono_ns >= SHORTEST_NS)
        raise_to(&usage->cpu_percent_max, (now->cpu_seconds - last->cpu_seconds) / seconds * 100);
    so_far->last = *now;
}

static void pass_gpu(course *so_far, const sonde__point *now)
{
    sonde_task_usage *usage = &so_far->usage;
    const sonde__point *last = &so_far->gpu;
    if (isnan(now->gpu_bytes) && isnan(now->gpu_watts) && isnan(now->gpu_joules))
        return;
    raise_to(&usage->gpu_bytes_max, now->gpu_bytes);
    raise_to(&usage->gpu_watts_max, now->gpu_watts);
    if (last->mono_ns != 0) {
        double seconds = seconds_between(last, now);
        usage->gpu_seconds += seconds;
        usage->gpu_byte_seconds += (last->gpu_bytes + now->gpu_bytes) / 2 * seconds;
        so_far->power_joules += (last->gpu_watts + now->gpu_watts) / 2 * seconds;
        so_far->counter_joules += now->gpu_joules - last->gpu_joules;
    }
    so_far->gpu = *now;
}

static void pass_meter(course *so_far, const sonde__point *now)
{
    if (isnan(now->cpu_joules))
        return;
    if (so_far->meter_first.mono_ns == 0)
        so_far->meter_first = *now;
    so_far->meter_last = *now;
}

static void pass(course *so_far, const sonde__point *now)
{
    pass_process(so_far, now);
    pass_gpu(so_far, now);
}

static void finish_gpu(const course *so_far, sonde_task_usage *usage)
{
    usage->gpu_bytes_mean = usage->gpu_seconds > 0 ? usage->gpu_byte_seconds / usage->gpu_seconds
                                                   : usage->gpu_bytes_max;
    if (usage->gpu_seconds <= 0) {
        usage->gpu_byte_seconds = NAN;
        return;
    }
    if (!isnan(so_far->counter_joules) && so_far->counter_joules >= 0) {
        usage->gpu_joules = so_far->counter_joules;
        usage->gpu_joules_basis = SONDE_JOULES_COUNTER;
    } else if (!isnan(so_far->power_joules)) {
        usage->gpu_joules = so_far->power_joules;
        usage->gpu_joules_basis = SONDE_JOULES_POWER;
    }
}

/* The two edges by one handle, as long as no wrap can hide between them; else the sampler's. */
static void finish_meter(const course *so_far, const sonde__point *from, const sonde__point *to,
                         sonde_task_usage *usage)
{
    const sonde__point *a = from;
    const sonde__point *b = to;
    if (isnan(from->cpu_joules) || isnan(to->cpu_joules) || from->cpu_meter != to->cpu_meter ||
        to->mono_ns - from->mono_ns > WRAP_NS) {
        a = &so_far->meter_first;
        b = &so_far->meter_last;
        if (a->mono_ns == b->mono_ns)
            return;
    }
    usage->cpu_joules = b->cpu_joules - a->cpu_joules;
    usage->cpu_joules_seconds = seconds_between(a, b);
    usage->cpu_joules_basis = SONDE_JOULES_COUNTER;
}

/* With the lock: the samples between the points. */
static void pass_samples(course *so_far, const sonde__point *from, const sonde__point *to)
{
    uint64_t oldest = samples.put > SAMPLES ? samples.put - SAMPLES : 0;
    uint64_t first = samples.put;
    while (first > oldest && samples.ring[(first - 1) % SAMPLES].mono_ns > from->mono_ns)
        first--;
    for (uint64_t i = first; i < samples.put; i++) {
        const sonde__point *point = &samples.ring[i % SAMPLES];
        if (point->mono_ns >= to->mono_ns)
            break;
        pass(so_far, point);
        pass_meter(so_far, point);
        so_far->usage.samples++;
    }
}

sonde_task_usage sonde__usage_between(const sonde__point *from, const sonde__point *to)
{
    course so_far = {.usage = {.rss_bytes_max = from->rss_bytes,
                               .gpu_bytes_max = NAN,
                               .gpu_watts_max = NAN,
                               .gpu_joules = NAN,
                               .cpu_joules = NAN},
                     .last = *from};
    pass_gpu(&so_far, from);
    pthread_mutex_lock(&samples.lock);
    pass_samples(&so_far, from, to);
    pthread_mutex_unlock(&samples.lock);
    pass(&so_far, to);
    sonde_task_usage usage = so_far.usage;
    usage.seconds = seconds_between(from, to);
    usage.cpu_seconds = to->cpu_seconds - from->cpu_seconds;
    usage.rss_bytes_mean =
        usage.seconds > 0 ? usage.rss_byte_seconds / usage.seconds : to->rss_bytes;
    if (to->peak_rss_bytes > from->peak_rss_bytes)
        raise_to(&usage.rss_bytes_max, to->peak_rss_bytes);
    finish_gpu(&so_far, &usage);
    finish_meter(&so_far, from, to, &usage);
    return usage;
}

/* --- as bytes --- */

enum { USAGE_SHORT = offsetof(sonde_task_usage, gpu_seconds) };

size_t sonde__usage_bytes(const sonde_task_usage *usage)
{
    bool devices = !isnan(usage->gpu_bytes_max) || !isnan(usage->gpu_watts_max) ||
                   !isnan(usage->gpu_joules) || !isnan(usage->cpu_joules);
    return devices ? sizeof *usage : USAGE_SHORT;
}

bool sonde__usage_load(const void *bytes, size_t len, sonde_task_usage *out)
{
    if (len != sizeof *out && len != USAGE_SHORT)
        return false;
    *out = (sonde_task_usage){.gpu_bytes_max = NAN,
                              .gpu_bytes_mean = NAN,
                              .gpu_byte_seconds = NAN,
                              .gpu_watts_max = NAN,
                              .gpu_joules = NAN,
                              .cpu_joules = NAN};
    memcpy(out, bytes, len);
    return true;
}
