/* SPDX-License-Identifier: Apache-2.0 */
/* Telemetry of this machine and of one process, read straight from the kernel.

     sonde_capture *capture;
     if (sonde_capture_open(NULL, &capture) == SONDE_OK) {
         const sonde_telemetry *now;
         if (sonde_capture_read(capture, &now) == SONDE_OK) {
             uint64_t rss_bytes;
             if (sonde_telemetry_uint(now, SONDE_FIELD_PROCESS_RSS, &rss_bytes) == SONDE_OK) ...
         }
         sonde_capture_close(capture);
     }

   A value that cannot be read is never 0: its getter returns the reason. */
#ifndef SONDE_CAPTURE_H
#define SONDE_CAPTURE_H

#include "sonde/fields.h"
#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, bit, settings key, section name): what can be switched on by itself. */
#define SONDE_CAPTURE_TYPE_MAP(X)             \
    X(CPU, 1u, "cpu", "cpu")                  \
    X(PER_CPU, 2u, "per_cpu", "per_cpu")      \
    X(PROCESS, 4u, "process_info", "process") \
    X(MEMORY, 8u, "mem", "memory")            \
    X(DISK, 16u, "disk", "disk")              \
    X(NETWORK, 32u, "network", "network")     \
    X(GPU, 64u, "gpu", "gpu")                 \
    X(CGROUP, 128u, "cgroup", "cgroup")       \
    X(PRESSURE, 256u, "pressure", "pressure") \
    X(ENERGY, 512u, "energy", "energy")       \
    X(LOAD, 1024u, "load", "load")            \
    X(THERMAL, 2048u, "thermal", "thermal")   \
    X(TREE, 4096u, "tree", "tree")

enum {
#define SONDE_CAPTURE_TYPE_ENUM(name, bit, setting, section) SONDE_CAPTURE_##name = (int)(bit),
    SONDE_CAPTURE_TYPE_MAP(SONDE_CAPTURE_TYPE_ENUM)
#undef SONDE_CAPTURE_TYPE_ENUM
        SONDE_CAPTURE_STANDARD = 63, /* what Flowcept captures without a GPU; the default */
    SONDE_CAPTURE_ALL = 8191
};

/* How much is read each time. LIGHT: CPU time and memory of the process. REGULAR: totals, by the
   cheapest kernel interfaces. FULL: every field, per CPU, per disk and per interface. */
#define SONDE_LEVEL_MAP(X) \
    X(LIGHT, "light")      \
    X(REGULAR, "regular")  \
    X(FULL, "full")

typedef enum sonde_level {
#define SONDE_LEVEL_ENUM(name, key) SONDE_LEVEL_##name,
    SONDE_LEVEL_MAP(SONDE_LEVEL_ENUM)
#undef SONDE_LEVEL_ENUM
        SONDE_LEVEL_COUNT
} sonde_level;

enum {
    SONDE_PATHS_MAX = 16,   /* paths whose file system usage one handle reports */
    SONDE_PATH_BYTES = 256, /* longest such path, with its NUL */
};

typedef struct sonde_capture_options {
    size_t size;    /* sizeof(sonde_capture_options), set by the default */
    unsigned types; /* SONDE_CAPTURE_* bits */
    sonde_level level;
    int pid;          /* 0: this process */
    int idle_disks;   /* not 0: list idle loop, ram and zram devices too */
    const char *root; /* NULL: this machine; else a folder holding a recorded proc/ and sys/ */
    const char *const *paths; /* file systems to report, NULL-terminated; NULL: "/" */
    const char *const *gpu;   /* metrics of each GPU, NULL-terminated; NULL: all there are */
} sonde_capture_options;

#define SONDE_CAPTURE_OPTIONS_DEFAULT                                                              \
    {                                                                                              \
        sizeof(sonde_capture_options), SONDE_CAPTURE_STANDARD, SONDE_LEVEL_FULL, 0, 0, NULL, NULL, \
            NULL                                                                                   \
    }

typedef struct sonde_capture sonde_capture;     /* a handle: open kernel files, earlier readings */
typedef struct sonde_telemetry sonde_telemetry; /* one reading */

/* Opens what the options ask for and takes a first reading, against which percentages are computed.
   options NULL: the defaults. Sources that are missing do not fail the call; their fields carry the
   reason. Fails with EINVAL (options), EGONE (no such pid), ENOMEM. The handle is for one thread at
   a time; in a child after fork it opens its files anew at its next reading. */
SONDE_API sonde_status sonde_capture_open(const sonde_capture_options *options,
                                          sonde_capture **out);

/* Frees the handle and closes its files. NULL is allowed. */
SONDE_API void sonde_capture_close(sonde_capture *capture);

/* Takes a reading. *out is borrowed until the next call with this handle. No allocation once the
   machine's lists have settled. EGONE when the process has ended and nothing else was asked for. */
SONDE_API sonde_status sonde_capture_read(sonde_capture *capture, const sonde_telemetry **out);

/* The last reading as one JSON object, NUL-terminated, borrowed until the next call with this
 * handle. */
SONDE_API sonde_status sonde_capture_json(sonde_capture *capture, const char **text, size_t *len);

/* One value of a reading. The status says why there is none; *out is then untouched. EINVAL: the
   field is of another type (integers can be read as double). */
SONDE_API sonde_status sonde_telemetry_status(const sonde_telemetry *telemetry, sonde_field field);
SONDE_API sonde_status sonde_telemetry_uint(const sonde_telemetry *telemetry, sonde_field field,
                                            uint64_t *out);
SONDE_API sonde_status sonde_telemetry_double(const sonde_telemetry *telemetry, sonde_field field,
                                              double *out);

/* Text, or element index of a list; borrowed as the reading is. EINVAL beyond the end of a list. */
SONDE_API sonde_status sonde_telemetry_text(const sonde_telemetry *telemetry, sonde_field field,
                                            size_t index, const char **out);

/* Items of a table: its rows, a row's name ("0", "/", "vda", "eth0") and the row's values by the
   field that holds their total. */
SONDE_API size_t sonde_telemetry_rows(const sonde_telemetry *telemetry, sonde_table table);
SONDE_API const char *sonde_telemetry_row_name(const sonde_telemetry *telemetry, sonde_table table,
                                               size_t row);
SONDE_API sonde_status sonde_telemetry_row_uint(const sonde_telemetry *telemetry, sonde_table table,
                                                size_t row, sonde_field field, uint64_t *out);
SONDE_API sonde_status sonde_telemetry_row_double(const sonde_telemetry *telemetry,
                                                  sonde_table table, size_t row, sonde_field field,
                                                  double *out);

/* When the reading was taken (nanoseconds since 1970), what it took, and the time since the
   handle's previous reading, over which the percentages are. */
SONDE_API uint64_t sonde_telemetry_time_ns(const sonde_telemetry *telemetry);
SONDE_API uint64_t sonde_telemetry_cost_ns(const sonde_telemetry *telemetry);
SONDE_API uint64_t sonde_telemetry_window_ns(const sonde_telemetry *telemetry);

/* A comma-separated list of type names (settings keys or section names) as bits. On EINVAL *bad is
   the first name that is not known, within list, and *bad_len its length. */
SONDE_API sonde_status sonde_capture_types_parse(const char *list, unsigned *types,
                                                 const char **bad, size_t *bad_len);

/* "light", "regular", "full"; NULL out of range. parse: EINVAL when the text is none of them. */
SONDE_API const char *sonde_level_name(sonde_level level);
SONDE_API sonde_status sonde_level_parse(const char *text, sonde_level *level);

#ifdef __cplusplus
}
#endif

#endif
