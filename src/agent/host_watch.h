/* SPDX-License-Identifier: Apache-2.0 */
/* The machine while a command runs: readings, what was highest, and the energy it took. All of it
   is the whole machine's, whoever used it. */
#ifndef SONDE_AGENT_HOST_WATCH_H
#define SONDE_AGENT_HOST_WATCH_H

#include "base/json_write.h"
#include "sonde/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SONDE__WATCHED_GPUS_MAX = 32 }; /* 160 bytes each; more are not told about */

typedef struct sonde__watched_gpu {
    char name[16]; /* gpu_0 */
    char product[96];
    bool used_known, busy_known, energy_known;
    uint64_t used_bytes_max;
    double busy_percent_max;
    double joules; /* since the first reading */
    double start_joules;
} sonde__watched_gpu;

typedef struct sonde__host_watch {
    sonde_capture *capture; /* NULL: not looked at */
    uint64_t samples;
    double cpu_percent_max; /* negative: not known */
    bool memory_known;
    uint64_t available_min_bytes;
    double joules;             /* of CPU packages and memory; negative: not known */
    const char *joules_basis;  /* whose energy it is */
    const char *joules_reason; /* why it is not known; NULL: it is */
    size_t gpus;
    sonde__watched_gpu gpu[SONDE__WATCHED_GPUS_MAX];
} sonde__host_watch;

/* options NULL: the machine is not looked at, and the reasons say so. */
void sonde__host_watch_open(sonde__host_watch *watch, const sonde_capture_options *options);

/* Takes a reading. *json: the whole of it, borrowed until the next one; NULL: there is none. */
void sonde__host_watch_read(sonde__host_watch *watch, const char **json, size_t *len);

/* A last reading where energy or GPUs were found, and the end of it. What was seen stays. */
void sonde__host_watch_close(sonde__host_watch *watch);

/* Members of an object: joules and their basis or reason; "gpus"; "host". */
void sonde__host_watch_json(const sonde__host_watch *watch, sonde__json *json);

/* Device memory of all GPUs together, each at its highest; false: there are none that tell. */
bool sonde__host_watch_gpu_peak(const sonde__host_watch *watch, uint64_t *bytes);

/* Energy of all GPUs; negative: none tells. */
double sonde__host_watch_gpu_joules(const sonde__host_watch *watch);

#endif
