/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a session: all its files, and what its running processes have not written yet. */
#ifndef SONDE_READER_H
#define SONDE_READER_H

#include "sonde/attr.h"
#include "sonde/metric_set.h"
#include "sonde/status.h"
#include "sonde/task.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_reader sonde_reader;

typedef enum sonde_record_kind {
    SONDE_RECORD_TASK = 1,      /* an ended task */
    SONDE_RECORD_SUBMIT = 2,    /* queued work; a TASK with the same id follows when it ran */
    SONDE_RECORD_UPDATE = 3,    /* attributes given to a task by another thread after its end */
    SONDE_RECORD_LOSS = 4,      /* records that were not kept: count of them from seq on */
    SONDE_RECORD_OPEN = 5,      /* a task that was open when its process ended (or is, now) */
    SONDE_RECORD_RUN_BEGIN = 6, /* a process joined: the workflow's start when it opened it */
    SONDE_RECORD_RUN_END = 7,
} sonde_record_kind;

/* Why records were lost; bits. */
enum {
    SONDE_LOSS_FULL = 1,   /* the ring was full and the drain did not move */
    SONDE_LOSS_SLOTS = 2,  /* too many open tasks in one thread */
    SONDE_LOSS_SIGNAL = 4, /* inside a signal handler, and no lane was free */
    SONDE_LOSS_LIMIT = 8,  /* beyond the session's byte limit: not written, or removed again */
};

/* How a process's recording ended. */
typedef enum sonde_run_state {
    SONDE_RUN_RUNNING = 0,   /* its segment is held by a living process */
    SONDE_RUN_CLOSED = 1,    /* it said so */
    SONDE_RUN_RECOVERED = 2, /* it died; what it left was written by a reader */
    SONDE_RUN_DIED = 3,      /* it died, and what it left is read from its segment */
    SONDE_RUN_LOST = 4, /* no end, no segment here: another host or boot, or /dev/shm is gone */
} sonde_run_state;

/* One process lifetime. Texts may be NULL; all borrowed until the reader is closed. */
typedef struct sonde_run {
    uint64_t run;
    uint64_t session;
    uint64_t trace_hi, trace_lo;
    uint64_t parent; /* span the process was started under, 0: none */
    int opener;      /* it opened the session; others joined */
    uint32_t pid;
    uint64_t started_wall_ns;
    uint64_t ended_wall_ns; /* 0: not ended */
    sonde_task_status status;
    sonde_run_state state;
    const char *session_name;
    const char *workflow_name;
    const char *workflow_subtype;
    const char *parent_workflow_id;
    const char *campaign_id;
    const char *user;
    const char *host;
    const char *boot_id;
    const char *version;
    const char *error;
    const char *segment; /* "shared", or why it was private */
    const sonde_attr *attrs;
    size_t attr_count;
    uint64_t attrs_left_out;  /* attributes of the workflow that were too large to keep */
    const char *machine_info; /* where it runs, in the form of sonde_machine_json; a process made by
                                 fork has none, it runs where its parent does */
} sonde_run;

/* What joules were made of. */
typedef enum sonde_joules_basis {
    SONDE_JOULES_UNKNOWN = 0,
    SONDE_JOULES_COUNTER = 1, /* the difference of an energy counter */
    SONDE_JOULES_POWER = 2,   /* power readings, with straight lines between them */
} sonde_joules_basis;

/* What was used between a measured task's start and end, from both readings and the samples in
   between: CPU time and memory by the process; memory and energy of GPUs and CPU packages by
   whatever ran on them. Bytes, seconds, joules, watts. Those of GPUs (all that the process may see,
   together) and energy are NaN when they were not asked for or not readable. */
typedef struct sonde_task_usage {
    double seconds;
    double samples; /* in between */
    double cpu_seconds;
    double cpu_percent_max; /* over the time between two samples */
    double rss_bytes_max;
    double rss_bytes_mean; /* weighted by time */
    double rss_byte_seconds;
    double gpu_seconds; /* of the task that readings of its GPUs span */
    double gpu_bytes_max;
    double gpu_bytes_mean;
    double gpu_byte_seconds;
    double gpu_watts_max;
    double gpu_joules;
    double cpu_joules_seconds; /* of the task that readings of the counters span */
    double cpu_joules;         /* packages and memory */
    sonde_joules_basis gpu_joules_basis;
    sonde_joules_basis cpu_joules_basis;
} sonde_task_usage;

/* A reading, for sonde_reading_json. */
typedef struct sonde_reading {
    const void *data;
    size_t len;
} sonde_reading;

typedef struct sonde_event {
    const char *name;
    size_t name_len;
    uint64_t wall_ns;
    const char *json; /* NULL: none */
    size_t json_len;
} sonde_event;

/* One record. Borrowed until the next call on the reader. Unknown times are 0. */
typedef struct sonde_record {
    sonde_record_kind kind;
    sonde_task_status status;
    uint64_t run;
    uint32_t lane;
    uint64_t seq;     /* with run and lane: the identity of the record */
    uint64_t count;   /* LOSS: numbers lost; otherwise 1 (0 for records without a number) */
    unsigned reasons; /* LOSS */
    uint64_t id;
    uint64_t parent; /* 0: a root */
    uint64_t trace_hi, trace_lo;
    const char *name;
    size_t name_len;
    uint64_t submitted_wall_ns;
    uint64_t start_wall_ns;
    uint64_t end_wall_ns;
    uint64_t duration_ns;
    const char *subtype, *device, *worker, *group, *error; /* NULL: not given; with lengths: */
    size_t subtype_len, device_len, worker_len, group_len, error_len;
    int has_layer;
    int64_t layer;
    const void *telemetry_start, *telemetry_end; /* readings, for sonde_reading_json; NULL: none */
    size_t telemetry_start_len, telemetry_end_len;
    const sonde_task_usage *usage; /* NULL: not measured */
    const sonde_reading *readings; /* taken in between, by sonde_task_measure */
    size_t reading_count;
    const sonde_attr *tags; /* STRING values */
    size_t tag_count;
    const sonde_attr *attrs;
    size_t attr_count;
    const sonde_event *events;
    size_t event_count;
    const sonde_context *links;
    size_t link_count;
    const sonde_run *process; /* never NULL */
} sonde_record;

/* A reading as one JSON object in the shape of sonde_capture_json, handed to put. EBADDATA,
   ENOMEM: put is not called. */
SONDE_API sonde_status sonde_reading_json(const void *reading, size_t len,
                                          void (*put)(void *user, const char *text, size_t len),
                                          void *user);

typedef struct sonde_reader_stats {
    uint64_t files;
    uint64_t frames;
    uint64_t bytes;
    uint64_t bad_bytes;  /* not part of any valid frame */
    uint64_t duplicates; /* numbers seen twice (a recovery that was interrupted); shown once */
    uint64_t missing;    /* numbers neither stored nor counted as lost */
    uint64_t lost;       /* numbers counted as lost */
    uint64_t refused;    /* segments or files of this session that were not understood */
    uint64_t compressed; /* frames that cannot be read because there is no libzstd.so.1 here */
} sonde_reader_stats;

typedef struct sonde_reader_options {
    size_t size;
    int recover; /* not 0 (default): finish the sessions of dead processes first, on disk if allowed
                  */
    int live;    /* not 0 (default): also what running processes have not written yet */
    char *error; /* a line saying what was wrong, NUL-terminated; NULL: not wanted */
    size_t error_size;
} sonde_reader_options;

#define SONDE_READER_OPTIONS_DEFAULT                \
    {                                               \
        sizeof(sonde_reader_options), 1, 1, NULL, 0 \
    }

/* path: X.sonde. Opens X.sonde and every X.*.sonde of the same session. EABSENT, EDENIED, EBADDATA
   (there is no valid frame in it, and it is not empty), ENOMEM, EIO. */
SONDE_API sonde_status sonde_reader_open(const char *path, const sonde_reader_options *options,
                                         sonde_reader **out);

/* The next record in order of the time it was made (a task's end). EEND: nothing more now. */
SONDE_API sonde_status sonde_reader_next(sonde_reader *reader, sonde_record *out);

/* After EEND: waits up to timeout_ns for records that arrived since; OK when there may be some,
   EEND when not. Records of one call are in order; later calls may bring earlier times. */
SONDE_API sonde_status sonde_reader_follow(sonde_reader *reader, uint64_t timeout_ns);

/* The processes of the session, the opener first. Borrowed until follow or close. */
SONDE_API size_t sonde_reader_run_count(const sonde_reader *reader);
SONDE_API const sonde_run *sonde_reader_run(const sonde_reader *reader, size_t index);

/* The metrics of one of these processes as the journal has them: the last value of each series at
   wall_ns (0: at the end). Replaces what is in set; it is empty when there are none. *at: when the
   newest of them was written, 0: never; may be NULL. ENOMEM, EIO. */
SONDE_API sonde_status sonde_reader_metrics(sonde_reader *reader, uint64_t run, uint64_t wall_ns,
                                            sonde_metric_set *set, uint64_t *at);

SONDE_API void sonde_reader_stats_get(const sonde_reader *reader, sonde_reader_stats *out);

/* NULL is allowed. */
SONDE_API void sonde_reader_close(sonde_reader *reader);

/* What sonde_recover did with one segment. */
typedef struct sonde_recovery {
    char segment[300];
    char journal[1100];
    uint64_t run;
    uint32_t pid;
    sonde_status status; /* OK: finished; EBUSY: alive; others: refused, with the reason */
    char reason[200];
    uint64_t records; /* written now */
    uint64_t open;    /* tasks that were open */
    uint64_t lost;    /* numbers counted as lost, in what was written now */
} sonde_recovery;

/* Finishes the sessions of dead processes of this user: those that write into dir (NULL: any). What
   is left of a session whose journal was deleted is counted as lost and removed. report (may be
   NULL) is called for each segment. Returns OK also when there was nothing to do; EIO when
   something could not be written (it stays, and can be recovered later). */
SONDE_API sonde_status sonde_recover(const char *dir,
                                     void (*report)(void *user, const sonde_recovery *what),
                                     void *user);

/* The same, also for sessions whose folder is gone (or not there now, so this is not the default):
   what is left of them cannot be written anywhere. */
SONDE_API sonde_status sonde_recover_discard(const char *dir,
                                             void (*report)(void *user, const sonde_recovery *what),
                                             void *user);

#ifdef __cplusplus
}
#endif

#endif
