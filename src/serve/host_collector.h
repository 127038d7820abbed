/* SPDX-License-Identifier: Apache-2.0 */
/* Telemetry of the machine, read each interval in a thread of its own: a file system that does not
   answer holds up that thread, and /healthz says so, but not the server. */
#ifndef SONDE_SERVE_HOST_COLLECTOR_H
#define SONDE_SERVE_HOST_COLLECTOR_H

#include "sonde/capture.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct sonde__host sonde__host;

/* Reads at once, then each interval. Options are copied as sonde_capture_open does. */
sonde_status sonde__host_start(const sonde_capture_options *options, uint64_t interval_ns,
                               sonde__host **out);
void sonde__host_stop(sonde__host *host); /* NULL is allowed */

/* The last reading, kept still until _unlock. NULL: there is none yet, or one is being taken for
   longer than wait_ns; nothing is locked then. */
const sonde_telemetry *sonde__host_lock(sonde__host *host, uint64_t wait_ns);
void sonde__host_unlock(sonde__host *host);

/* When the last reading was finished, on the monotonic clock; 0: never. Any thread, no lock. */
uint64_t sonde__host_finished_ns(const sonde__host *host);
uint64_t sonde__host_readings(const sonde__host *host);

#endif
