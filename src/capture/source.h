/* SPDX-License-Identifier: Apache-2.0 */
/* What a source of telemetry is, and what the driver gives it. A source is one file: pure parsers
   over bytes, a reader, and a const descriptor last. */
#ifndef SONDE_CAPTURE_SOURCE_H
#define SONDE_CAPTURE_SOURCE_H

#include "base/buf.h"
#include "capture/capture_limits.h"
#include "capture/kernel_file.h"
#include "capture/telemetry.h"

#include <stdbool.h>
#include <sys/types.h>

/* The machine a handle looks at; shared by its sources. */
typedef struct sonde__host {
    char root[SONDE__ROOT_BYTES]; /* "" for this machine, else the folder of a recorded one */
    bool live;                    /* this machine: system calls may stand in for files */
    bool self;                    /* the process is the one we run in */
    pid_t pid;      /* of the process looked at; 0: the one a recorded machine calls self */
    unsigned types; /* SONDE_CAPTURE_* bits asked for */
    sonde_level level;
    bool idle_disks;      /* list idle virtual disks too */
    uint64_t gpu_metrics; /* bit n: metric n of each GPU; 0: all */
    size_t path_count;
    char paths[SONDE_PATHS_MAX][SONDE_PATH_BYTES];
    double ticks_per_second; /* of the clock in the kernel's text files */
    uint64_t page_bytes;
    uint64_t memory_total_bytes; /* 0: not known, for the reason below */
    sonde_status memory_status;
    uint64_t now_ns;    /* monotonic time of this reading */
    uint64_t window_ns; /* since the previous reading; 0 at the first */
    bool recheck;       /* time to look again at what hardly ever changes */
    bool cpu_known;     /* CPU time of the process at the previous reading, for its percentage */
    double cpu_previous_s;
    sonde__buf text; /* the kernel file just read */
} sonde__host;

typedef struct sonde__range {
    sonde_field first;
    sonde_field last;
} sonde__range;

enum { SONDE__SOURCE_RANGES = 4 };

typedef struct sonde__source sonde__source;
struct sonde__source {
    const char *name;
    const char *summary;
    const char *remedy; /* what a user can do when it is denied or absent; NULL: nothing */
    unsigned types;     /* read when any of these is on */
    unsigned levels;    /* bit n: read at level n */
    bool live_only;     /* makes no sense for a recorded machine */
    sonde__range fields[SONDE__SOURCE_RANGES]; /* ended by a range whose last is 0 */
    /* Optional: whether a field of the ranges is reported with these options; NULL: all are. */
    bool (*reports)(const sonde__host *host, sonde_field field);
    const sonde__source *fallback; /* used when open fails; NULL: none */
    const char
        *file; /* kept open and read into host->text before each read; "/proc/stat", or a file of
                  the process: "statm". NULL: the source opens what it needs itself */
    sonde__kernel_file_kind file_kind;
    size_t state_bytes; /* zeroed before open */
    /* Optional. Fails with the reason and then leaves nothing open; SONDE_EOFF: not needed here. */
    sonde_status (*open)(sonde__host *host, void *state);
    /* Sets fields of out. On failure the driver gives the reason to those not set. */
    sonde_status (*read)(sonde__host *host, void *state, sonde_telemetry *out);
    void (*close)(void *state); /* optional */
};

#define SONDE__AT_LIGHT   (1u << SONDE_LEVEL_LIGHT)
#define SONDE__AT_REGULAR (1u << SONDE_LEVEL_REGULAR)
#define SONDE__AT_FULL    (1u << SONDE_LEVEL_FULL)
#define SONDE__AT_ALL     (SONDE__AT_LIGHT | SONDE__AT_REGULAR | SONDE__AT_FULL)

/* All sources, in the order they are read: swap traffic after swap, and the process first, so that
   what the reading itself does counts as little as possible. */
enum { SONDE__SOURCE_COUNT = 22 };
extern const sonde__source *const sonde__sources[SONDE__SOURCE_COUNT];

/* CPU time of the process: sets user, system and, against the previous reading, percent. */
void sonde__set_process_cpu(sonde__host *host, sonde_telemetry *out, double user_s,
                            double system_s);

/* Opens a file below the root ("/proc/stat"), or of the process looked at ("statm"). */
sonde_status sonde__host_open_file(const sonde__host *host, const char *path,
                                   sonde__kernel_file_kind kind, sonde__kernel_file *file);

/* Whether the process looked at is still there (or a recorded one, which always is). */
bool sonde__host_process_exists(const sonde__host *host);

/* Writes root + printf-style path into out. False when it does not fit. */
bool sonde__host_path(const sonde__host *host, char *out, size_t cap, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
