/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV log and the summary of a session that no `sonde run` supervises: written by the process
   that opened it, in the drain's thread, a bounded piece after each of its passes. What the pieces
   do not reach waits in the journal, not in anybody's memory. */
#include "base/clock.h"
#include "base/json_write.h"
#include "record/observer.h"
#include "view/session_files.h"
#include "view/summary_json.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { RECORDS_PER_PASS = 512 }; /* about 0.2 ms: what a full ring may have to wait for */

#define LOOK_NS                                                                       \
    1000000000u /* how often to look for what other processes of the session recorded \
                 */

typedef struct observation {
    sonde__session_files *files;
    uint64_t looked_ns;
    bool behind;
} observation;

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* What the recording costs: this thread does all of it. */
static void write_cost(sonde__json *json, void *user)
{
    observation *self = user;
    sonde__session_files_stats stats;
    struct rusage usage;
    sonde__session_files_stats_get(self->files, &stats);
    sonde__json_key(json, "recorder");
    sonde__json_begin_object(json);
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        sonde__json_member_double(json, "cpu_s",
                                  seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
    sonde__json_member_uint(json, "journal_bytes", stats.journal_bytes);
    sonde__json_member_uint(json, "csv_bytes", stats.csv_bytes);
    sonde__json_end_object(json);
}

static void *observe_open(const char *journal)
{
    observation *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    if (sonde__session_files_open(journal, &self->files) != SONDE_OK) {
        free(self);
        return NULL;
    }
    sonde__session_files_more(self->files, write_cost, self);
    return self;
}

static bool observe_pass(void *user, bool moved)
{
    observation *self = user;
    uint64_t now_ns = sonde__clock_monotonic_ns();
    if (!moved && !self->behind && now_ns - self->looked_ns < LOOK_NS)
        return false;
    self->looked_ns = now_ns;
    self->behind = sonde__session_files_pass(self->files, RECORDS_PER_PASS);
    return self->behind;
}

static void observe_close(void *user)
{
    observation *self = user;
    sonde__session_files_close(self->files, NULL);
    free(self);
}

static void observe_abandon(void *user)
{
    observation *self = user;
    sonde__session_files_abandon(self->files);
    free(self);
}

const sonde__observer sonde__session_observer = {
    .open = observe_open,
    .pass = observe_pass,
    .close = observe_close,
    .abandon = observe_abandon,
};
