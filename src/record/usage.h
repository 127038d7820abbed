/* SPDX-License-Identifier: Apache-2.0 */
/* What the process used between two moments: the two readings and the sampler's samples. */
#ifndef SONDE_RECORD_USAGE_H
#define SONDE_RECORD_USAGE_H

#include "capture/telemetry.h"
#include "sonde/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* The process at one moment. */
typedef struct sonde__point {
    uint64_t mono_ns;
    double cpu_seconds;
    double rss_bytes;
    double peak_rss_bytes; /* largest the process ever had */
} sonde__point;

/* From a reading; false when it does not tell. */
bool sonde__point_of(const sonde_telemetry *telemetry, uint64_t mono_ns, sonde__point *out);

/* The sampler: one writer. */
void sonde__samples_add(const sonde__point *point);

/* The figures between from and to. Any thread. */
sonde_usage sonde__usage_between(const sonde__point *from, const sonde__point *to);

/* In a forked child. */
void sonde__samples_after_fork(void);

#endif
