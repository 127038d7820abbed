/* SPDX-License-Identifier: Apache-2.0 */
/* What follows a session while it is recorded, in a thread of the process that opened it: the
   writer of its other files. Declared here, defined above, so that includes point one way. */
#ifndef SONDE_RECORD_OBSERVER_H
#define SONDE_RECORD_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sonde__observer {
    void *(*open)(const char *journal); /* NULL: it does not want to, or cannot */
    bool (*pass)(void *self);           /* a short piece of work. True: more to do */
    void (*close)(void *self);          /* after the last frame was written; frees */
    void (*abandon)(void *self);        /* in a forked child: frees, writes nothing */
} sonde__observer;

extern const sonde__observer sonde__session_observer;

struct sonde_run;

/* A workflow that this process opened has ended: counts it as usage, by the settings file that it
   was opened with, into dir. Defined above, too. */
void sonde__workflow_finished(const struct sonde_run *run, const char *settings, const char *dir);

/* For an observer: CPU time that the library's threads have used in this session. */
uint64_t sonde__library_cpu_ns(void);

#endif
