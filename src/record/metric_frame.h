/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics in the journal: frames of their own type, with the values of series that changed since
   the last ones; at the end of a run, all. docs/journal-format.md specifies them. */
#ifndef SONDE_RECORD_METRIC_FRAME_H
#define SONDE_RECORD_METRIC_FRAME_H

#include "base/buf.h"
#include "record/frame.h"
#include "record/journal.h"
#include "sonde/metric_set.h"

typedef struct sonde__metric_writer {
    sonde_metric_set *set;
    uint64_t *last; /* by position in the set: what was written, as bits */
    size_t last_cap;
    sonde__buf buf;
} sonde__metric_writer;

/* Writes the metrics of this process. all: also those that have not changed. Nothing is remembered
   as written when writing fails. */
sonde_status sonde__metric_frames_write(sonde__metric_writer *writer, sonde__journal *journal,
                                        uint64_t session, uint64_t run, bool all);
/* The same of a dead process's run, from what it left, all of it. EABSENT: it left nothing. */
sonde_status sonde__metric_frames_recover(sonde__journal *journal, uint64_t session, uint64_t run);

void sonde__metric_writer_free(sonde__metric_writer *writer);

/* Reads a frame that sonde__frame_check accepted: calls report for each series in it, whose texts
   and distribution are valid during the call. EBADDATA, ENOMEM, EABSENT (no libzstd.so.1). */
sonde_status sonde__metric_frame_read(const uint8_t *frame,
                                      void (*report)(void *user, uint64_t wall_ns,
                                                     const sonde_metric *metric),
                                      void *user);

#endif
