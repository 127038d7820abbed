/* SPDX-License-Identifier: Apache-2.0 */
/* All metrics of a process at one moment: of this one, or of another that has a session open. */
#ifndef SONDE_METRIC_SET_H
#define SONDE_METRIC_SET_H

#include "sonde/metric.h"
#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sonde_metric_kind {
    SONDE_METRIC_COUNTER = 1,
    SONDE_METRIC_GAUGE = 2,
    SONDE_METRIC_HISTOGRAM = 3,
    SONDE_METRIC_SUM = 4, /* a counter in fractions, its value is in gauge; of the machine only */
} sonde_metric_kind;

typedef struct sonde_label {
    const char *key;
    const char *value;
} sonde_label;

/* One series. Borrowed until the set is filled again or destroyed. */
typedef struct sonde_metric {
    sonde_metric_kind kind;
    const char *name;
    const char *help; /* "" when none was given */
    int overflow;     /* not 0: the series for labels beyond the family's limit */
    const sonde_label *labels;
    size_t label_count;
    uint64_t counter;
    double gauge;
    const sonde_distribution *histogram; /* NULL for the other kinds */
} sonde_metric;

typedef struct sonde_metric_set sonde_metric_set;

/* An empty set. NULL without memory. For one thread at a time. */
SONDE_API sonde_metric_set *sonde_metric_set_create(void);
SONDE_API void sonde_metric_set_destroy(sonde_metric_set *set); /* NULL is allowed */

/* Fills the set with the metrics of this process, in the order they were made. Takes nothing from
   them: any number of readers see the same totals. ENOMEM: what fitted. */
SONDE_API sonde_status sonde_metric_set_collect(sonde_metric_set *set);

/* The same of another process of this user: run is the number in its segment's name. Reads with
   pread; nothing in the file is believed. EABSENT: no such run, or it shares no memory. EDENIED,
   EBADDATA, EUNSUPPORTED (another layout), EIO, ENOMEM. */
SONDE_API sonde_status sonde_metric_set_read_run(sonde_metric_set *set, uint64_t run);

/* By process id: the run that process has open. */
SONDE_API sonde_status sonde_metric_set_read_pid(sonde_metric_set *set, int pid);

SONDE_API size_t sonde_metric_set_count(const sonde_metric_set *set);
SONDE_API const sonde_metric *sonde_metric_set_at(const sonde_metric_set *set, size_t index);

/* The first series of this name with at least these labels (as SONDE_LABELS; NULL: any). */
SONDE_API const sonde_metric *sonde_metric_set_find(const sonde_metric_set *set, const char *name,
                                                    const char *const *labels);

#ifdef __cplusplus
}
#endif

#endif
