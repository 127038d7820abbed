/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that lets the observer work: behind the drain, from the journal, where no
   other thread wants the CPU. What it has not reached waits in the journal, so it holds nobody up
   and its memory does not grow. */
#ifndef SONDE_RECORD_FOLLOWER_H
#define SONDE_RECORD_FOLLOWER_H

#include "record/limits.h"
#include "record/observer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct sonde__follower {
    const sonde__observer *observer; /* NULL: nobody follows */
    char journal[SONDE__JOURNAL_PATH_MAX];
    void *observed; /* the thread's while it runs, then of whoever joined it */
    pthread_t thread;
    bool running;
    uint64_t cpu_ns;       /* of the thread, once it has ended */
    _Atomic bool stop;     /* after the piece of work it is at */
    _Atomic uint32_t wake; /* futex: 1 when there is something to do */
} sonde__follower;

/* Starts the thread when there is an observer. Without memory for one there is none, and whoever
   reads the session later makes its other files. journal: of who opened the session. */
void sonde__follower_start(sonde__follower *follower, const char *journal);

/* Frames were written. No lock; a system call only when the thread sleeps. */
void sonde__follower_wake(sonde__follower *follower);

/* After the last frame: joins the thread and lets the observer finish in the calling one, which has
   the priority that close() should have. */
void sonde__follower_finish(sonde__follower *follower);

/* In a forked child, where the thread is not and was at rest: frees what it had. */
void sonde__follower_abandon(sonde__follower *follower);

#endif
