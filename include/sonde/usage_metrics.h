/* SPDX-License-Identifier: Apache-2.0 */
/* Usage metrics: a map from metric name to number, with the time of its last update, in memory and
   in a file that several processes add to. */
#ifndef SONDE_USAGE_METRICS_H
#define SONDE_USAGE_METRICS_H

#include "sonde/attributes.h"
#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SONDE_USAGE_METRICS_MAX =
        1000000, /* default limit of a map: about 60 bytes each, and the name */
    SONDE_USAGE_NAME_BYTES = 64 * 1024, /* longest name of a metric */
    SONDE_DATETIME_BYTES = 40,          /* a date and time as text, with its NUL */
};

/* A date and time as people write it: of this machine's zone when it has no offset. */
typedef struct sonde_datetime {
    int year, month, day; /* from 1; year 0: no time at all */
    int hour, minute, second, microsecond;
    int has_offset;
    int offset_s; /* east of UTC */
} sonde_datetime;

/* The local time now, without offset. */
SONDE_API void sonde_datetime_now(sonde_datetime *out);

/* ISO 8601: 2025-03-15, 2025-03-15T12:34, ...:56.789012, with Z or +01:00 or neither. EBADDATA. */
SONDE_API sonde_status sonde_datetime_parse(const char *text, size_t len, sonde_datetime *out);

/* 2025-03-15T12:34:56.789012, the fraction only where it is not 0; returns the length. */
SONDE_API size_t sonde_datetime_format(const sonde_datetime *time, char out[SONDE_DATETIME_BYTES]);

typedef struct sonde_usage sonde_usage;

/* An empty map; metrics_max 0: SONDE_USAGE_METRICS_MAX. Any number of threads may use it. */
SONDE_API sonde_status sonde_usage_create(size_t metrics_max, sonde_usage **out);

/* NULL is allowed. */
SONDE_API void sonde_usage_destroy(sonde_usage *usage);

/* One metric. EABSENT: there is none; EINVAL: it is text (imported), or for int a fraction. */
SONDE_API sonde_status sonde_usage_get(const sonde_usage *usage, const char *name, double *out);
SONDE_API sonde_status sonde_usage_get_int(const sonde_usage *usage, const char *name,
                                           int64_t *out);

/* Metrics in the map; records counted; updates of metrics that found no place below the limit. */
SONDE_API size_t sonde_usage_count(const sonde_usage *usage);
SONDE_API uint64_t sonde_usage_records(const sonde_usage *usage);
SONDE_API uint64_t sonde_usage_overflow(const sonde_usage *usage);

/* The `now` of the last record counted. EABSENT before the first. */
SONDE_API sonde_status sonde_usage_last_updated(const sonde_usage *usage, sonde_datetime *out);

/* One flat JSON object of name to value in the order they came, last_updated at the end (and
   sonde_overflow_total before it when it is not 0). NUL-terminated; free() it. */
SONDE_API sonde_status sonde_usage_to_json(const sonde_usage *usage, char **text, size_t *len);

/* Prometheus text format 0.0.4. names: SONDE_USAGE_NAMES_*. NUL-terminated; free() it. */
enum {
    SONDE_USAGE_NAMES_BASE = 0, /* sonde_usage_jobs_total{network="..."}: base units, HELP, TYPE */
    SONDE_USAGE_NAMES_COMPAT = 1, /* the original's: tao_job_total{tao_network="..."} */
};
SONDE_API sonde_status sonde_usage_to_prometheus(const sonde_usage *usage, int names, char **text,
                                                 size_t *len);

/* What an import did, or with dry run would have done. */
typedef struct sonde_usage_import {
    size_t added;
    size_t changed;
    size_t same;
    size_t removed; /* with replace: metrics that the document does not have */
} sonde_usage_import;

enum {
    SONDE_IMPORT_REPLACE = 1, /* what the document does not have goes */
    SONDE_IMPORT_DRY_RUN = 2, /* only say what would be done */
};

/* Takes the metrics of a flat JSON object, as sonde_usage_to_json writes it. Without REPLACE a
   metric of the document takes the place of the one in the map, the others stay. All or nothing:
   EBADDATA or ELIMIT with the reason in error (may be NULL). did may be NULL. */
SONDE_API sonde_status sonde_usage_import_json(sonde_usage *usage, const char *json, size_t len,
                                               unsigned flags, sonde_usage_import *did,
                                               sonde_attributes_error *error);

/* Metrics that last, in one file on a local file system. Several processes may have it open and add
   at the same time; each commit is counted wholly or, when the process dies in it, not at all. */
typedef struct sonde_usage_file sonde_usage_file;

/* Opens or creates the file and reads it. The handle is for one thread at a time; records may be
   counted into its pending map by others meanwhile. EDENIED,
   EIO, ENOMEM; EBADDATA: another kind of file; EUNSUPPORTED: on a network file system. */
SONDE_API sonde_status sonde_usage_file_open(const char *path, size_t metrics_max,
                                             sonde_usage_file **out);

/* Frees the handle; what was not committed is gone. NULL is allowed. */
SONDE_API void sonde_usage_file_close(sonde_usage_file *file);

/* Where records go until the next commit: give this to sonde_processor_process. Borrowed. */
SONDE_API sonde_usage *sonde_usage_file_pending(sonde_usage_file *file);

/* Appends what is pending; on success nothing is pending any more. It costs what is pending, not
   what has accumulated. ELIMIT: no space; EBUSY: another process has counted one of the sessions
   that are pending (sonde_processor_process_session) meanwhile; EIO and others. On failure nothing
   was added, and all but EBUSY can be tried again. */
SONDE_API sonde_status sonde_usage_file_commit(sonde_usage_file *file);

/* The metrics of the file, with what other processes have added by now. Borrowed until close; it
   changes only here and in commit. */
SONDE_API sonde_status sonde_usage_file_refresh(sonde_usage_file *file, const sonde_usage **out);

/* As sonde_usage_import_json, into the file; committed at once. */
SONDE_API sonde_status sonde_usage_file_import(sonde_usage_file *file, const char *json, size_t len,
                                               unsigned flags, sonde_usage_import *did,
                                               sonde_attributes_error *error);

#ifdef __cplusplus
}
#endif

#endif
