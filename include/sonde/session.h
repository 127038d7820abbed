/* SPDX-License-Identifier: Apache-2.0 */
/* A session: a name, a workflow, and the files that hold what was recorded. A process has one
   session at a time; tasks go to it without a handle. */
#ifndef SONDE_SESSION_H
#define SONDE_SESSION_H

#include "sonde/attr.h"
#include "sonde/status.h"
#include "sonde/task.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_session sonde_session;

/* What survives what, once sonde_task_end has returned. 0: what the settings file says
   (session.safety), else SONDE_SAFETY_WRITTEN. */
typedef enum sonde_safety {
    SONDE_SAFETY_SETTING = 0,
    SONDE_SAFETY_MEMORY = 1,  /* private memory: a kill loses what was not drained (100 ms) */
    SONDE_SAFETY_WRITTEN = 2, /* shared memory: survives the death of the process */
    SONDE_SAFETY_DURABLE = 3, /* the same, and fdatasync after each pass of the drain: what was
                                 drained survives the loss of power */
} sonde_safety;

/* What happens when bytes_max is reached. 0: what the settings file says (session.when_full), else
   SONDE_FULL_STOP. Either way each record that is not kept is counted. */
typedef enum sonde_when_full {
    SONDE_FULL_SETTING = 0,
    SONDE_FULL_STOP = 1,      /* nothing more is written */
    SONDE_FULL_KEEP_LAST = 2, /* the oldest part is removed */
} sonde_when_full;

typedef struct sonde_options {
    size_t size;                    /* sizeof(sonde_options), set by SONDE_OPTIONS_DEFAULT */
    const char *dir;                /* NULL: $SONDE_DIR, else "telemetry"; made when missing */
    const char *workflow_name;      /* NULL: the session's name */
    const char *campaign_id;        /* NULL: none */
    const char *user;               /* NULL: the login name of the process's user */
    const char *subtype;            /* of the workflow; NULL: none */
    sonde_context parent;           /* parent task or, with a trace only, parent workflow's trace */
    const char *parent_workflow_id; /* NULL: none */
    const sonde_attr *attrs;        /* of the workflow: used, generated, metadata */
    size_t attr_count;
    uint64_t full_wait_ns;      /* how long a full ring may hold a thread, once per stall */
    uint64_t drain_interval_ns; /* how old an unwritten record may get */
    sonde_safety safety;        /* what survives what; by the settings */
    int join;                   /* not 0 (default): join the session named by $SONDE_SESSION */
    uint64_t segment_bytes_max; /* shared memory for all threads together */
    int telemetry_start;        /* sonde_measure at the start of every task; off */
    int telemetry_end;          /* and at its end; off */
    unsigned telemetry_types;   /* SONDE_CAPTURE_* bits of these readings; all */
    unsigned reserved_types;
    uint64_t telemetry_max_age_ns; /* tasks share a reading that is not older; 0 */
    uint64_t sample_interval_ns;   /* CPU and memory of the process in between; 0: never */
    uint64_t metrics_interval_ns;  /* metrics into the journal; 0: at the end only */
    double
        overhead_limit; /* share of one core that readings may cost before less is read; 0: any */
    int journal_only;   /* not 0, or SONDE_JOURNAL_ONLY=1: no CSV log, no JSON summary */
    int zstd_level;     /* from 1: frames are compressed (see stats.compression); -1: not; 0: by the
                           settings */
    sonde_when_full when_full; /* what happens at bytes_max; by the settings */
    uint64_t part_bytes; /* the journal goes on in a new file, NAME.pN.sonde, when one has so many;
                            0: by the settings, else one file */
    uint64_t bytes_max;  /* of this process's journal, in all its parts, from 1 MiB; 0: by the
                            settings, else no limit */
    uint64_t reserved[1];
} sonde_options;

#define SONDE_OPTIONS_DEFAULT                                                                     \
    {                                                                                             \
        sizeof(sonde_options), NULL, NULL, NULL, NULL, NULL, {0, 0, 0}, NULL, NULL, 0, 50000000u, \
            100000000u, SONDE_SAFETY_SETTING, 1, 32u << 20, 0, 0, 63u, 0, 0, 1000000000u,         \
            1000000000u, 0.01, 0, 0, SONDE_FULL_SETTING, 0, 0,                                    \
        {                                                                                         \
            0                                                                                     \
        }                                                                                         \
    }

/* Opens the process's session and starts recording. name: letters, digits, "._-" (EINVAL
   otherwise); NULL: session_YYYY-MM-DD_HH-MM-SS. An existing file is never touched: a suffix _2, _3
   is added. With $SONDE_SESSION set, the process joins that session (name and dir are then its,
   workflow and parent come from $TRACEPARENT). options NULL: defaults. With SONDE_DISABLED=1 in the
   environment, or instrumentation.enabled: false in the settings file that is found (see
   sonde/settings.h), it succeeds and records nothing. EBUSY: a session is open already. EINVAL:
   also for a bytes_max below 1 MiB. Other failures (EDENIED, EIO, ENOMEM, ELIMIT) leave the process
   without recording. */
SONDE_API sonde_status sonde_open(const char *name, const sonde_options *options,
                                  sonde_session **out);

/* Writes what is left, marks the workflow FINISHED, stops the library's thread. NULL is allowed.
   Tasks still open are listed as such. Recording calls afterwards do nothing. */
SONDE_API void sonde_close(sonde_session *session);

/* The same with another outcome of the workflow, and generated values. error may be NULL. */
SONDE_API void sonde_close_with(sonde_session *session, sonde_task_status status, const char *error,
                                const sonde_attr *attrs, size_t attr_count);

/* The process's session, opened with defaults when there is none: for code that has no handle. It
   is closed when the process exits, unless somebody closed it before. */
SONDE_API sonde_status sonde_session_default(sonde_session **out);

/* Recording off and on at run time, for all threads. Tasks begun before still end. */
SONDE_API void sonde_set_enabled(int enabled);

/* Returns when everything recorded before the call is in the journal (and on disk, when durable is
   not 0), or with ELIMIT after timeout_ns, or with EIO when the journal cannot be written now. */
SONDE_API sonde_status sonde_flush(sonde_session *session, int durable, uint64_t timeout_ns);

/* The journal of this process: an absolute path. Borrowed until close. */
SONDE_API const char *sonde_session_path(const sonde_session *session);
SONDE_API const char *sonde_session_name(const sonde_session *session);

/* The workflow's trace and the task the process was started under (span 0: none). */
SONDE_API sonde_context sonde_session_context(const sonde_session *session);

/* What a child process needs to join: "SONDE_SESSION=..." and "TRACEPARENT=...", with the innermost
   task of this thread as the parent. Both are NUL-terminated; ELIMIT when a buffer is too small. */
SONDE_API sonde_status sonde_session_environment(const sonde_session *session, char *session_out,
                                                 size_t session_size, char *traceparent_out,
                                                 size_t traceparent_size);

/* The same by setenv, for programs that fork and exec. Not safe beside other threads' getenv. */
SONDE_API sonde_status sonde_session_export(const sonde_session *session);

typedef struct sonde_session_stats {
    uint64_t written;       /* numbers accounted for in the journal, those told as lost included */
    uint64_t lost;          /* records that were not kept (full ring, no slot), told or not yet */
    uint64_t stale;         /* calls with the handle of a task that had ended */
    uint64_t cut;           /* values shortened */
    uint64_t names_over;    /* names beyond the limit */
    uint64_t write_errors;  /* failed writes to the journal; they are retried */
    uint64_t journal_bytes; /* of the parts that are there */
    unsigned lanes;
    unsigned part;        /* of the journal being written, from 1 */
    int shared_memory;    /* 0: the segment is private memory; kill -9 loses what is not drained */
    int stopped;          /* not 0: bytes_max was reached, nothing more is written */
    sonde_status segment; /* why it is private (EOFF: safety says so); OK otherwise */
    sonde_status last_error;  /* of the journal; OK when it is being written */
    sonde_status compression; /* OK; EABSENT: it was asked for, and there is no libzstd.so.1 */
} sonde_session_stats;

SONDE_API void sonde_session_stats_get(const sonde_session *session, sonde_session_stats *out);

#ifdef __cplusplus
}
#endif

#endif
