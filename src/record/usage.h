/* SPDX-License-Identifier: Apache-2.0 */
/* What the process used between two moments: the two readings and the sampler's samples. */
#ifndef SONDE_RECORD_USAGE_H
#define SONDE_RECORD_USAGE_H

#include "capture/telemetry.h"
#include "sonde/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The process at one moment, and the devices; of these NaN is what is not known. */
typedef struct sonde__point {
    uint64_t mono_ns;
    double cpu_seconds;
    double rss_bytes;
    double peak_rss_bytes; /* largest the process ever had */
    double gpu_bytes;      /* all GPUs together, from here on */
    double gpu_watts;
    double gpu_joules;  /* counters of the driver */
    double cpu_joules;  /* counted from when the handle was opened */
    uint64_t cpu_meter; /* the handle that counted */
} sonde__point;

/* A point without devices is stored without them. */
enum { SONDE__POINT_SHORT = offsetof(sonde__point, gpu_bytes) };
size_t sonde__point_bytes(const sonde__point *point);
bool sonde__point_load(const void *bytes, size_t len, sonde__point *out);

/* The same for what was used; a reader may meet either. */
size_t sonde__usage_bytes(const sonde_task_usage *usage);
bool sonde__usage_load(const void *bytes, size_t len, sonde_task_usage *out);

/* The process from a reading; false when it does not tell. meter: of the handle that was read. */
bool sonde__point_of(const sonde_telemetry *telemetry, uint64_t mono_ns, uint64_t meter,
                     sonde__point *out);

/* Adds the devices of another reading. */
void sonde__point_devices(const sonde_telemetry *telemetry, uint64_t meter, sonde__point *out);

/* The sampler: one writer. */
void sonde__samples_add(const sonde__point *point);

/* The figures between from and to. Any thread. */
sonde_task_usage sonde__usage_between(const sonde__point *from, const sonde__point *to);

/* In a forked child. */
void sonde__samples_after_fork(void);

#endif
