/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the library. Durations come from the monotonic clock only. */
#ifndef SONDE_BASE_CLOCK_H
#define SONDE_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds. Async-signal-safe. */
uint64_t sonde__clock_monotonic_ns(void);

/* CLOCK_REALTIME in nanoseconds since 1970. Async-signal-safe. */
uint64_t sonde__clock_wall_ns(void);

#endif
