/* SPDX-License-Identifier: Apache-2.0 */
/* Whether anything moves: a server that answers and shows old values for ever is not healthy. */
#ifndef SONDE_SERVE_HEALTH_H
#define SONDE_SERVE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

/* On the monotonic clock. */
typedef struct sonde__health {
    uint64_t now_ns;
    uint64_t started_ns;
    uint64_t interval_ns;
    uint64_t tick_ns; /* last snapshot */
    bool host;        /* the machine's telemetry is wanted */
    uint64_t host_ns; /* its last reading; 0: none yet */
} sonde__health;

/* NULL: all is well. Three intervals and two seconds without progress are a problem. */
const char *sonde__health_problem(const sonde__health *facts);

#endif
