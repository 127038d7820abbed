/* SPDX-License-Identifier: Apache-2.0 */
/* Examples for the buckets of task latencies: the newest tasks of running sessions, read from their
   journals by a worker, some thousand at a time. A session that is faster than that has older
   examples, not a slower server. */
#ifndef SONDE_SERVE_EXEMPLARS_H
#define SONDE_SERVE_EXEMPLARS_H

#include "serve/processes.h"
#include "sonde/encode.h"

#include <stdint.h>

typedef struct sonde__exemplars sonde__exemplars;

/* wake_fd is written to when something was read. NULL: no memory or no thread. */
sonde__exemplars *sonde__exemplars_create(int wake_fd);
void sonde__exemplars_destroy(sonde__exemplars *all); /* NULL is allowed */

/* Begins to read on in the sessions of these processes, unless it still does. */
void sonde__exemplars_read(sonde__exemplars *all, const sonde__processes *processes);

/* Gives what was read to the view. */
void sonde__exemplars_collect(sonde__exemplars *all, sonde_view *view);

#endif
