/* SPDX-License-Identifier: Apache-2.0 */
/* How the tasks of this process are doing, in a few numbers: PyVeda's snapshot. Taking one changes
   nothing for anybody: every reader has its own rate window. Tasks are counted while a session is
   open. */
#ifndef SONDE_SNAPSHOT_H
#define SONDE_SNAPSHOT_H

#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Latency is from submission to end, from the beginning for tasks that were not queued; 0 when
   there were none. What this machine cannot tell is NaN, null in JSON. */
typedef struct sonde_snapshot {
    uint64_t wall_ns;        /* since 1970 */
    uint64_t tasks_executed; /* ended, those that failed included */
    uint64_t tasks_failed;
    uint64_t tasks_pending; /* submitted and not yet begun */
    double avg_latency_ms;
    double p50_latency_ms;
    double p95_latency_ms;
    double p99_latency_ms;
    double throughput_tasks_per_sec; /* since this reader's previous snapshot of the same kind */
    double cpu_utilization_percent;  /* of all CPUs, since this reader's previous snapshot */
    double memory_used_mb;
    double gpu_utilization_percent; /* on average of the GPUs that the process may see */
    double gpu_memory_used_mb;      /* of all of them together, by whatever runs there */
} sonde_snapshot;

typedef struct sonde_snapshot_reader sonde_snapshot_reader;

/* ENOMEM. For one thread at a time. */
SONDE_API sonde_status sonde_snapshot_reader_open(sonde_snapshot_reader **out);
SONDE_API void sonde_snapshot_reader_close(sonde_snapshot_reader *reader); /* NULL is allowed */

/* Everything that ended before the call is in it (as long as the journal can be written). */
SONDE_API sonde_status sonde_snapshot_take(sonde_snapshot_reader *reader, sonde_snapshot *out);

/* The same of one activity, or of the tasks on one device. The machine's values are as above. */
SONDE_API sonde_status sonde_snapshot_take_activity(sonde_snapshot_reader *reader,
                                                    const char *activity, sonde_snapshot *out);
SONDE_API sonde_status sonde_snapshot_take_device(sonde_snapshot_reader *reader, const char *device,
                                                  sonde_snapshot *out);

/* One JSON object in the shape of PyVeda's guide, NUL-terminated. ELIMIT: out is too small;
   SONDE_SNAPSHOT_JSON_BYTES always suffice. */
enum { SONDE_SNAPSHOT_JSON_BYTES = 768 };
SONDE_API sonde_status sonde_snapshot_json(const sonde_snapshot *snapshot, char *out, size_t size);

/* --- continuous collection --- */

typedef struct sonde_collector_options {
    size_t size;          /* sizeof(sonde_collector_options), set by the default */
    uint64_t interval_ns; /* at least 1 ms */
    size_t history;       /* snapshots kept, 1 ... 100000; 112 bytes each */
} sonde_collector_options;

#define SONDE_COLLECTOR_OPTIONS_DEFAULT                   \
    {                                                     \
        sizeof(sonde_collector_options), 1000000000u, 100 \
    }

typedef struct sonde_collector sonde_collector;

/* Takes a snapshot each interval, in a thread of its own that blocks all signals. options NULL: the
   defaults. EINVAL, ENOMEM. A forked child has the history so far and no thread. */
SONDE_API sonde_status sonde_collector_start(const sonde_collector_options *options,
                                             sonde_collector **out);

/* Ends the thread, without waiting for the interval; a last snapshot is taken. The history stays.
 */
SONDE_API void sonde_collector_stop(sonde_collector *collector);

/* Stops it and frees it. NULL is allowed. */
SONDE_API void sonde_collector_destroy(sonde_collector *collector);

/* The last count snapshots (or as many as there are), oldest first. Returns how many. Any thread.
 */
SONDE_API size_t sonde_collector_history(sonde_collector *collector, sonde_snapshot *out,
                                         size_t count);
SONDE_API void sonde_collector_clear(sonde_collector *collector);

/* The history as a JSON array, NUL-terminated. Borrowed until the next call or destroy. */
SONDE_API sonde_status sonde_collector_json(sonde_collector *collector, const char **text,
                                            size_t *len);

#ifdef __cplusplus
}
#endif

#endif
