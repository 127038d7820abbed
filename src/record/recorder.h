/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder of the process: one segment, its lanes, the drain's thread, the session they write
   for. Everything here is behind recorder->lock except what says otherwise. */
#ifndef SONDE_RECORD_RECORDER_H
#define SONDE_RECORD_RECORDER_H

#include "record/drain.h"
#include "record/finished.h"
#include "record/lane.h"
#include "record/segment.h"
#include "sonde/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Private memory that a forked child finds wiped. */
typedef struct sonde__region {
    _Atomic uint32_t alive;    /* 1; 0 in a child, 2 while the child starts anew */
    _Atomic uint32_t counting; /* handlers that count a loss in the segment's header now */
    sonde__lane_local lanes[SONDE__LANES_LIMIT + 1];
} sonde__region;

struct sonde_session {
    bool open;
    bool joined;
    bool disabled; /* SONDE_DISABLED: a session in name only */
    bool by_default;
    uint64_t id;
    uint64_t run;
    uint64_t trace_hi;
    uint64_t trace_lo;
    uint64_t parent;
    char name[256];
    char dir[SONDE__JOURNAL_PATH_MAX];
    char path[SONDE__JOURNAL_PATH_MAX]; /* of the file that opened the session */
    char *workflow_name;                /* copies of the options, for the children */
    char *campaign_id;
    char *user;
    char *subtype;
    char *parent_workflow_id;
    sonde_options options; /* texts and attributes not valid after open */
    sonde__finished finished;
};

typedef struct sonde__recorder {
    pthread_mutex_t control; /* opening, closing and flushing, one at a time; taken before lock */
    pthread_mutex_t lock;
    _Atomic(sonde__region *) region;
    sonde__segment segment;
    sonde__drain drain;
    sonde_session session;
    uint64_t full_wait_ns;
    sonde_status compression; /* OK, or why frames are not compressed although they should */
    uint32_t lanes_used;      /* in the segment */
    uint32_t handles_used;    /* of the region, ever */
    _Atomic(sonde__lane_local *) by_index[SONDE__LANES_LIMIT + 1]; /* who has which lane */
    bool asked_environment;                                        /* SONDE_SESSION was looked at */
    bool fork_pending;    /* a child whose parent had a session; it joins at its first record */
    bool lanes_exhausted; /* read without the lock (atomically) */
    bool prepared;        /* key, fork and exit handlers are in place */
} sonde__recorder;

extern sonde__recorder sonde__the_recorder;

/* What the calling thread holds: a signal handler that interrupts it must not wait for that. */
enum { SONDE__HOLDS_RECORDER = 1, SONDE__HOLDS_NAMES = 2, SONDE__HOLDS_SHARED = 4 };
extern __thread unsigned sonde__holds;

/* The recorder's lock. try: false when somebody has it. */
void sonde__recorder_lock(void);
bool sonde__recorder_trylock(void);
void sonde__recorder_unlock(void);

/* The run of the open session; 0 when there is none. */
extern _Atomic uint64_t sonde__run;

/* The span id of task number of a lane of a run: never 0, unique in the run, random to others. */
static inline uint64_t sonde__span_id(uint64_t run, uint32_t lane, uint64_t number)
{
    uint64_t x = run ^ ((uint64_t)lane << 47 | number);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x ? x : 1;
}

/* With the lock held: starts recording for session. Its segment is made, with the start frame in
   the header; its journal is open. */
sonde_status sonde__recorder_start(const sonde_session *session);

/* With the lock held: stops; the last pass has at most wait_ns when writing fails. */
void sonde__recorder_stop(const sonde__run_end *end, uint64_t wait_ns);

/* Notices that this is a forked child and makes the recorder usable again. Any thread, no lock. */
void sonde__recorder_check_fork(void);

/* The calling thread's handle, taken when it has none, with or without a session; for its metric
   cells. NULL: there are no more, or the recorder is busy. Does not wait. */
sonde__lane_local *sonde__lane_claim_handle(void);

/* The handle's number, from 1. */
uint32_t sonde__lane_handle(const sonde__lane_local *lane);

/* Makes what tells a forked child that it is one, when nothing was recorded yet. False: no memory.
 */
bool sonde__recorder_watch_fork(void);

/* Lets the calling thread, one of the library's, count in cells of its own. */
void sonde__lane_of_library(void);

/* Waits until what was recorded before the call has passed the drain. EOFF: there is no session. */
sonde_status sonde__recorder_drain_now(uint64_t timeout_ns);

/* With the lock held: registers the thread key and the handlers, once. */
void sonde__recorder_prepare(void);

/* With the lock held: joins what the environment or the parent process says. True: recording. */
bool sonde__session_auto(void);

/* The last thing at exit of the process. */
void sonde__session_at_exit(void);

/* The span of the task that was open in the thread that forked; 0: none. */
uint64_t sonde__recorder_fork_parent(void);

#endif
