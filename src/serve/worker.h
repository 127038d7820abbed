/* SPDX-License-Identifier: Apache-2.0 */
/* One thread that does what would hold up the server's loop: reading long sessions, checking
   passwords. Jobs are done in order; a queue that is full refuses. */
#ifndef SONDE_SERVE_WORKER_H
#define SONDE_SERVE_WORKER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sonde__job {
    struct sonde__job *next;
    void (*run)(struct sonde__job *job); /* in the worker's thread */
} sonde__job;

typedef struct sonde__worker sonde__worker;

/* wake_fd: an eventfd that is written to when a job is done. NULL: no memory or no thread. */
sonde__worker *sonde__worker_create(int wake_fd);

/* False: too many wait. */
bool sonde__worker_submit(sonde__worker *worker, sonde__job *job);

/* The next job that is done, or NULL. */
sonde__job *sonde__worker_done(sonde__worker *worker);

/* Finishes the job at hand; those that wait are handed back undone by _done until destroyed. */
void sonde__worker_stop(sonde__worker *worker);
void sonde__worker_destroy(sonde__worker *worker); /* NULL is allowed */

#endif
