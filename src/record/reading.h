/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of the process's session: one capture handle for each level, shared by all threads. */
#ifndef SONDE_RECORD_READING_H
#define SONDE_RECORD_READING_H

#include "record/usage.h"
#include "sonde/session.h"
#include "sonde/settings.h"
#include "sonde/task_telemetry.h"

#include <stdatomic.h>

/* What every task is measured with; 0 while the session asks for nothing. */
extern _Atomic uint32_t sonde__measuring;

static inline bool sonde__measuring_now(void)
{
    return __builtin_expect(atomic_load_explicit(&sonde__measuring, memory_order_relaxed) != 0, 0);
}

/* The measures packed into it. */
sonde_measure sonde__measure_start(void);
sonde_measure sonde__measure_end(void);

typedef struct sonde__reading {
    uint64_t id; /* lane << 48 | seq of its record; 0: it was not recorded */
    bool has_point;
    sonde__point point;
} sonde__reading;

/* Takes a reading, or shares one that is young enough. end_ticks is the time its record gets (0:
   now). False: there is none. */
bool sonde__reading_take(sonde_measure measure, uint64_t end_ticks, sonde__reading *out);

/* A session begins: what its settings file says (NULL: there is none), completing the options.
   Takes the settings over. */
void sonde__reading_settings(sonde_settings *settings, sonde_options *options);

/* Recording begins or ends. */
void sonde__reading_start(const sonde_options *options);
void sonde__reading_stop(void);
void sonde__reading_after_fork(void);

/* CPU time of the library's thread, in nanoseconds, for the bound on the whole. */
void sonde__reading_note_cpu(uint64_t thread_cpu_ns);

#endif
