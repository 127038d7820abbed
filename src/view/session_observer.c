/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV log and the summary of a session that no `sonde run` supervises: written by the process
   that opened it, in a thread of their own, a bounded piece at a time. What the pieces have not
   reached waits in the journal, not in anybody's memory. */
#include "base/json_write.h"
#include "record/observer.h"
#include "view/session_files.h"
#include "view/summary_json.h"

#include <stdlib.h>

enum { RECORDS_PER_PASS = 512 }; /* about 0.2 ms: what a close or a fork may have to wait for */

/* What the recording costs. */
static void write_cost(sonde__json *json, void *user)
{
    sonde__session_files *files = user;
    sonde__session_files_stats stats;
    sonde__session_files_stats_get(files, &stats);
    sonde__json_key(json, "recorder");
    sonde__json_begin_object(json);
    sonde__json_member_double(json, "cpu_s", (double)sonde__library_cpu_ns() / 1e9);
    sonde__json_member_uint(json, "journal_bytes", stats.journal_bytes);
    sonde__json_member_uint(json, "csv_bytes", stats.csv_bytes);
    sonde__json_end_object(json);
}

static void *observe_open(const char *journal)
{
    sonde__session_files *files;
    if (sonde__session_files_open(journal, &files) != SONDE_OK)
        return NULL;
    sonde__session_files_more(files, write_cost, files);
    return files;
}

static bool observe_pass(void *files)
{
    return sonde__session_files_pass(files, RECORDS_PER_PASS);
}

static void observe_close(void *files)
{
    sonde__session_files_close(files, NULL);
}

static void observe_abandon(void *files)
{
    sonde__session_files_abandon(files);
}

const sonde__observer sonde__session_observer = {
    .open = observe_open,
    .pass = observe_pass,
    .close = observe_close,
    .abandon = observe_abandon,
};
