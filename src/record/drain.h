/* SPDX-License-Identifier: Apache-2.0 */
/* From rings to the journal. The same passes run in the process's own thread, on its mapped
   segment, and in whoever recovers a dead process, on a copy: one code path. */
#ifndef SONDE_RECORD_DRAIN_H
#define SONDE_RECORD_DRAIN_H

#include "base/ticks.h"
#include "record/drain_parts.h"
#include "record/drain_tick.h"
#include "record/follower.h"
#include "record/frame.h"
#include "record/journal.h"
#include "record/machine_frame.h"
#include "record/segment.h"
#include "sonde/reader.h"
#include "sonde/task.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* How far a lane has been read, in memory only; tail in the segment follows when it is written. */
typedef struct sonde__cursor {
    uint64_t tail;
    uint64_t seq;
    uint64_t counted; /* records before this number have been seen */
    uint64_t told;    /* numbers below this need no telling: the journal has them */
    bool damaged;     /* a record was not valid: nothing more is read from this lane */
} sonde__cursor;

/* One source of records and where they go. */
typedef struct sonde__pump sonde__pump;
struct sonde__pump {
    uint8_t *base; /* the segment, or a copy of it */
    uint64_t size;
    sonde__journal *journal;
    sonde__frame_writer frame;
    sonde__rate rate;
    sonde__parts parts;           /* zero: one file, no limit */
    bool stopped;                 /* the limit was reached: what comes is counted as lost */
    bool live;                    /* threads may write to the segment meanwhile */
    bool durable;                 /* tails follow after fdatasync only */
    void (*moved)(uint32_t lane); /* a lane has room again; may be NULL */
    /* a record passes, the first time only; may be NULL */
    void (*seen)(const sonde__pump *pump, const sonde__names_view *names,
                 const sonde__ring_record *record, const uint8_t *attrs);
    uint64_t frame_lost; /* in the frame being built */
    sonde__cursor cursors[SONDE__LANES_LIMIT + 1];
    uint64_t records; /* numbers written, losses included */
    uint64_t lost;
    uint64_t open;
};

/* pump is zero, or was initialised before: its buffers are kept then. */
sonde_status sonde__pump_init(sonde__pump *pump, uint8_t *base, uint64_t size,
                              sonde__journal *journal);
void sonde__pump_free(sonde__pump *pump);

/* Passes over records of a lane that are in the journal already: those below seq. */
void sonde__pump_skip(sonde__pump *pump, uint32_t lane, uint64_t seq);

/* Writes what is in the rings. *moved: records were written. On failure (EIO, ELIMIT for no space)
   nothing is lost, the next pass tries again. */
sonde_status sonde__pump_pass(sonde__pump *pump, bool *moved);

/* How a run ended, for its last frame. */
typedef struct sonde__run_end {
    sonde_task_status status;
    sonde_run_state state;
    const char *error; /* may be NULL */
    const sonde_attr *attrs;
    size_t attr_count;
} sonde__run_end;

/* Syncs the journal and lets the tails follow. EIO: it goes on in a new part. */
sonde_status sonde__pump_sync(sonde__pump *pump);

/* Tells readers of the segment which part is being written. */
void sonde__pump_note_part(sonde__pump *pump);

/* Numbers that were taken out of the rings and not written, because the journal had reached its
   limit: LOSS records of them. */
sonde_status sonde__pump_tell_dropped(sonde__pump *pump);

/* Open tasks as they are now. */
sonde_status sonde__pump_open_tasks(sonde__pump *pump);

/* After the last pass: losses not told yet, open tasks, RUN_END. */
sonde_status sonde__pump_finish(sonde__pump *pump, const sonde__run_end *end);

/* The drain of the process. */
typedef struct sonde__drain {
    pthread_t thread;
    bool running;
    sonde__pump pump;
    sonde__tick tick;
    sonde__journal journal;
    uint64_t interval_ns;
    sonde__follower follower;
    sonde__machine_note machine;
    _Atomic uint32_t wake; /* futex: 1 when somebody wants a pass */
    /* requests and answers, under lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
    bool stopped;
    uint64_t stop_deadline_ns; /* monotonic */
    uint64_t flush_wanted;
    uint64_t flush_done;
    bool flush_durable;
    sonde_status flush_status;
    sonde__run_end end;
    sonde_status finish_status;
    _Atomic uint64_t written;
    _Atomic uint64_t lost;
    _Atomic uint64_t bytes;
    _Atomic uint64_t errors;
    _Atomic unsigned part;
    _Atomic int stopped_writing; /* the journal's limit was reached */
    _Atomic int last_error;
} sonde__drain;

/* Starts the thread: signals blocked, small stack. journal is open, the segment ready. */
sonde_status sonde__drain_start(sonde__drain *drain, sonde__segment *segment,
                                const sonde_options *options);

/* Asks for a last pass and joins the thread. OK: all of it is written. */
sonde_status sonde__drain_stop(sonde__drain *drain, const sonde__run_end *end, uint64_t wait_ns);

sonde_status sonde__drain_flush(sonde__drain *drain, bool durable, uint64_t timeout_ns);

/* Wakes the thread if it sleeps. No lock; from the hot path's slow side. */
void sonde__drain_wake(sonde__drain *drain);

#endif
