/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the library: they block every signal, so that a host's handlers never run on them, and
   they rest while the host forks, so that the child does not inherit a lock (of an allocator, of
   the time zone) held by a thread that it has not got. */
#ifndef SONDE_RECORD_LIBRARY_THREAD_H
#define SONDE_RECORD_LIBRARY_THREAD_H

#include "sonde/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts one with a small stack; it is at work until run returns or it rests. name: at most 15
   characters. ENOMEM. */
sonde_status sonde__library_thread(pthread_t *thread, const char *name, void *(*run)(void *),
                                   void *argument);

/* Around each wait of a library thread. work waits while the host forks. */
void sonde__library_rest(void);
void sonde__library_work(void);

/* How long fork() waits at most for library threads at work; it goes on without them after that. */
extern uint64_t sonde__fork_wait_ns;

/* In a child: no library thread was at work when the process was forked, so that what such a thread
   had allocated is whole and may be freed. */
bool sonde__library_rested(void);

/* The handlers of pthread_atfork. */
void sonde__library_before_fork(void);
void sonde__library_after_fork_in_parent(void);
void sonde__library_after_fork_in_child(void);

#endif
