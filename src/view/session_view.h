/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded session as a view: one source for each of its processes. */
#ifndef SONDE_VIEW_SESSION_VIEW_H
#define SONDE_VIEW_SESSION_VIEW_H

#include "base/buf.h"
#include "sonde/encode.h"

enum { SONDE__RUN_LABELS_MAX = 3, SONDE__RUN_RESOURCE_MAX = 8 };

/* What a view says about one process; borrows from the run. */
typedef struct sonde__run_source {
    sonde_view_source source;
    sonde_label labels[SONDE__RUN_LABELS_MAX]; /* session, host, pid */
    sonde_label resource[SONDE__RUN_RESOURCE_MAX];
    char pid[16];
    char instance[17];
} sonde__run_source;

/* Labels and resource of a run; metrics is the caller's. The struct must not be moved after. */
void sonde__run_source_init(sonde__run_source *out, const sonde_run *run,
                            const sonde_metric_set *metrics);

typedef struct sonde__session_view {
    sonde__run_source *sources;
    sonde_metric_set **sets;
    size_t count;
} sonde__session_view;

/* Begins view and adds what the journal has of each process; of one that runs, what it has now. The
   view is valid until free. EIO, ENOMEM. */
sonde_status sonde__session_view_fill(sonde__session_view *session, sonde_reader *reader,
                                      sonde_view *view);
void sonde__session_view_free(sonde__session_view *session);

/* Snapshots of each process at each interval, as JSON Lines into out; throughput is since the line
   before. */
sonde_status sonde__session_history(sonde_reader *reader, sonde__buf *out);

#endif
