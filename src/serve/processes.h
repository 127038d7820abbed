/* SPDX-License-Identifier: Apache-2.0 */
/* The instrumented processes of this user that are running, found by their segments in shared
   memory. Everything is read with pread, and nothing in it is believed: a file that is cut short,
   vanishes or lies is passed over and counted. For one thread. */
#ifndef SONDE_SERVE_PROCESSES_H
#define SONDE_SERVE_PROCESSES_H

#include "serve/serve_limits.h"
#include "sonde/metric_set.h"
#include "sonde/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SONDE__PROCESS_TEXT = 256, SONDE__PROCESS_PATH = 1300 };

/* Tasks that had ended at some moment, for rates. */
typedef struct sonde__rate_mark {
    uint64_t mono_ns; /* 0: none yet */
    uint64_t executed;
} sonde__rate_mark;

typedef struct sonde__process {
    uint64_t run;
    uint32_t pid;
    char pid_text[12];
    char run_text[17];
    uint64_t started_wall_ns; /* 0: not known */
    char session[SONDE__PROCESS_TEXT];
    char workflow[SONDE__PROCESS_TEXT]; /* "" when it has no name */
    char host[SONDE__PROCESS_TEXT];
    char journal[SONDE__PROCESS_PATH]; /* NAME.sonde of its session */
    char program[32];                  /* the kernel's name for it */
    sonde_metric_set *set;             /* as of the last look; NULL: it shares no metrics */
    sonde_status readable;             /* why not */
    sonde__rate_mark mark[2];          /* of the last two ticks, the older first */
    bool seen;
} sonde__process;

typedef struct sonde__processes {
    sonde__process *list[SONDE__SERVE_PROCESSES_MAX];
    size_t count;
    uint64_t refused; /* segments that were not understood, or were too many: looks at them */
    uint64_t changes; /* how often one came or went */
    /* runs whose process is dead, by hash: what it left may lie there for ever, and is not looked
       at again. Emptied when half full. */
    uint64_t dead[SONDE__SERVE_DEAD_MAX];
    size_t dead_count;
} sonde__processes;

/* Looks again: who is there, and the metrics of each. Order: by start, then run. */
void sonde__processes_look(sonde__processes *all);

/* Remembers now as the beginning of the next rate. */
void sonde__processes_tick(sonde__processes *all, uint64_t mono_ns);

/* Tasks of one process, or of all (one NULL), as of the last look, in PyVeda's fields. The
   machine's fields are NaN. Rates are over one to two ticks. */
void sonde__processes_snapshot(const sonde__processes *all, const sonde__process *one,
                               uint64_t mono_ns, sonde_snapshot *out);

/* By pid or run, as text; NULL: none. */
const sonde__process *sonde__processes_find(const sonde__processes *all, const char *id);

void sonde__processes_free(sonde__processes *all);

#endif
