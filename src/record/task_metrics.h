/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks as metrics, by activity and by device: what the snapshot is made of. Ends are counted by
   the drain when their records pass, so that ending a task costs nothing more; queued work is
   counted where it is submitted and where it begins. */
#ifndef SONDE_RECORD_TASK_METRICS_H
#define SONDE_RECORD_TASK_METRICS_H

#include "record/drain.h"
#include "record/metric_read.h"
#include "sonde/snapshot.h"

#include <stdint.h>

/* A record passes the drain, once. */
void sonde__task_metrics_seen(const sonde__pump *pump, const sonde__names_view *names,
                              const sonde__ring_record *record, const uint8_t *attrs);

/* Work of an activity is put into a queue, is taken out, is left unrecorded by sampling. */
void sonde__task_metrics_submitted(sonde_name *activity);
void sonde__task_metrics_started(sonde_name *activity);

/* Sampling: whether this task of an activity that is recorded once in every times is to be; the
   others have a handle that only counts, known by its highest bit. */
#define SONDE__UNSAMPLED ((uint64_t)1 << 63)
bool sonde__task_metrics_sampled(sonde_name *activity);
void sonde__task_metrics_unsampled(sonde_task task, sonde_task_status status);

/* Counts and latencies (in seconds) of one activity or device, or of all (both NULL). */
typedef struct sonde__task_totals {
    uint64_t failed;
    uint64_t pending;
    uint64_t unsampled;    /* ended, but not recorded */
    sonde__merged latency; /* its count is that of the other tasks */
} sonde__task_totals;

void sonde__task_totals_read(const char *activity, const char *device, sonde__task_totals *out);

#endif
