/* SPDX-License-Identifier: Apache-2.0 */
/* What the library's thread does now and then beside draining: samples of the process, metrics into
   the journal, its own CPU time. */
#ifndef SONDE_RECORD_DRAIN_TICK_H
#define SONDE_RECORD_DRAIN_TICK_H

#include "record/metric_frame.h"
#include "sonde/session.h"

struct sonde__pump;

typedef struct sonde__tick {
    uint64_t sample_interval_ns; /* 0: never */
    uint64_t metrics_interval_ns;
    uint64_t sample_due_ns;
    uint64_t metrics_due_ns;
    uint64_t noted_bytes; /* of the journal, that are counted */
    sonde__metric_writer metrics;
    unsigned part; /* of the journal, when metrics were last written */
} sonde__tick;

/* Before the thread starts: the first sample is due at once. */
void sonde__tick_init(sonde__tick *tick, const sonde_options *options);
void sonde__tick_free(sonde__tick *tick);

/* Does what is due. last: all metrics, before the run ends. */
void sonde__tick_run(sonde__tick *tick, struct sonde__pump *pump, bool last);

/* How long the thread may sleep, at most most_ns. */
uint64_t sonde__tick_wait_ns(const sonde__tick *tick, uint64_t most_ns);

#endif
