/* SPDX-License-Identifier: Apache-2.0 */
/* What happened in a session: one pass over its tasks, from the journal or from a CSV log of any
   producer, in memory that does not depend on their number. */
#ifndef SONDE_ANALYSIS_ANALYSIS_H
#define SONDE_ANALYSIS_ANALYSIS_H

#include "base/buf.h"
#include "sonde/reader.h"
#include "view/summary_json.h"
#include "view/tally.h"

enum {
    SONDE__ANALYSIS_TOP_MAX = 1000,
    SONDE__ANALYSIS_FAILED_KEPT = 1000, /* the first ones; the rest is counted */
    SONDE__ANALYSIS_OPEN_KEPT = 100,
    SONDE__ANALYSIS_PATH_MAX = 4096,
};

/* A packet that is shown by itself; texts are copies. */
typedef struct sonde__kept {
    char *operation;
    char *device;
    char *packet_id;
    char *error;
    int64_t layer;
    uint64_t duration_ns;
    uint64_t order; /* how many packets came before it */
} sonde__kept;

typedef struct sonde__kept_list {
    sonde__kept *items;
    size_t count;
    size_t max;
} sonde__kept_list;

typedef struct sonde__analysis {
    sonde__tally tally;
    sonde__kept_list slowest; /* of the successes, the slowest first */
    sonde__kept_list failed;  /* in their order */
    sonde__kept_list open;    /* journal: tasks that never ended, in the order they began */
    uint64_t open_count;
    /* the file */
    char path[SONDE__ANALYSIS_PATH_MAX];
    char csv_path[SONDE__ANALYSIS_PATH_MAX];  /* empty: there is none */
    char json_path[SONDE__ANALYSIS_PATH_MAX]; /* where the summary is, or would be */
    bool from_journal;
    bool have_json;
    bool json_unfinished; /* it was written while the session ran, or the log lacks rows */
    uint64_t bytes;
    uint64_t rows_short;      /* CSV: fields missing, or a quote left open */
    uint64_t rows_bad;        /* CSV: numbers that are none */
    uint64_t rows_too_long;   /* CSV */
    uint64_t headers;         /* CSV: headers beyond the first */
    sonde_reader_stats stats; /* journal */
    uint64_t processes;
    uint64_t processes_died;
    /* the session */
    char session_name[256];
    uint64_t start_ns;
    uint64_t end_ns;
    bool running;
    uint64_t prompt_tokens;
    uint64_t tokens_generated;
    char *run_json;  /* what `sonde run` put into the summary; NULL: nothing */
    char error[512]; /* after a failure: a line for the user */
} sonde__analysis;

/* Reads path: a journal (.sonde), a CSV log, or a summary (.json) with one of them beside it. top:
   how many of the slowest to keep. Where it fails (EABSENT, EDENIED, EBADDATA, EIO, ENOMEM),
   analysis->error says why. The analysis must be freed in any case. */
sonde_status sonde__analyze(const char *path, size_t top, sonde__analysis *analysis);

void sonde__analysis_free(sonde__analysis *analysis);

/* The length of a session's name in the name of one of its files; 0: it is no such file, or that of
   a process that joined. */
size_t sonde__session_stem(const char *name);

/* The newest session in dir, into out. EABSENT: there is none; EDENIED, EIO. */
sonde_status sonde__session_newest(const char *dir, char *out, size_t size);

/* The session's summary, completed with what the file did not say. */
sonde__summary sonde__analysis_summary(const sonde__analysis *analysis);

/* Writes the summary where it is missing, or was left by a process that died before it could finish
   it, and in that case the rows that the CSV log lacks. *wrote tells whether it did. */
sonde_status sonde__analysis_rebuild(sonde__analysis *analysis, bool *wrote);

/* How the text is to look. */
typedef struct sonde__analysis_style {
    bool unicode;       /* signs and lines beyond ASCII */
    sonde__tally_by by; /* of the table of percentiles */
    size_t top;
} sonde__analysis_style;

void sonde__analysis_text(const sonde__analysis *analysis, const sonde__analysis_style *style,
                          sonde__buf *out);
void sonde__analysis_json(const sonde__analysis *analysis, sonde__buf *out);

/* Parts of the above, for the files that share the work. */
sonde_status sonde__analyze_csv(sonde__analysis *analysis);
sonde_status sonde__analyze_journal(sonde__analysis *analysis);
void sonde__analysis_add(sonde__analysis *analysis, const sonde__packet *packet);
void sonde__analysis_read_summary(sonde__analysis *analysis);
void sonde__kept_fill(sonde__kept *kept, const sonde__packet *packet, uint64_t order);

#endif
