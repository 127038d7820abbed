/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV log and the JSON summary beside a journal, kept up to date while it is written: one
   writer per session, which reads all journals of the session as any reader does. */
#ifndef SONDE_VIEW_SESSION_FILES_H
#define SONDE_VIEW_SESSION_FILES_H

#include "base/json_write.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sonde__session_files sonde__session_files;

/* Totals for whoever tells a user. */
typedef struct sonde__session_files_stats {
    uint64_t packets;
    uint64_t failed;
    uint64_t lost;
    uint64_t missing;
    uint64_t open;
    uint64_t journal_bytes;
    uint64_t csv_bytes;
    uint64_t journals;       /* files of the session's processes */
    uint64_t rows_missing;   /* of the log, at close: the disk did not take them */
    sonde_status last_error; /* of writing; OK when all is written */
} sonde__session_files_stats;

/* journal: X.sonde. Creates X.csv, which must not exist (EBUSY), with its header, and a first
   X.json. EDENIED, ELIMIT (no space, or a path too long), EIO, ENOMEM. */
sonde_status sonde__session_files_open(const char *journal, sonde__session_files **out);

/* Appends rows for what was recorded since, at most so many; refreshes the summary when it is a
   second old. True when there is more to do. A row that cannot be written now is kept and tried
   again at the next pass. */
bool sonde__session_files_pass(sonde__session_files *files, size_t records_max);

/* Further members of the summary's object, written each time; user must outlive the files. */
void sonde__session_files_more(sonde__session_files *files,
                               void (*more)(sonde__json *json, void *user), void *user);

void sonde__session_files_stats_get(const sonde__session_files *files,
                                    sonde__session_files_stats *out);

/* Paths, borrowed until close. */
const char *sonde__session_files_csv(const sonde__session_files *files);
const char *sonde__session_files_json(const sonde__session_files *files);

/* Writes all that is left and the final summary: state "finished", or "died" when a process of the
   session ended without saying so. Rows that the disk does not take are counted in it; it
   is "incomplete" when there was no memory to read the journal. *out, when
   given, gets the last totals. Frees. NULL is allowed.
 */
void sonde__session_files_close(sonde__session_files *files, sonde__session_files_stats *out);

/* Frees and leaves the files as they are: they are another process's. NULL is allowed. */
void sonde__session_files_abandon(sonde__session_files *files);

#endif
