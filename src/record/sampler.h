/* SPDX-License-Identifier: Apache-2.0 */
/* Samples between the readings of tasks: the process, and where they were asked for GPUs and
   energy. One every second costs some 30 us. */
#ifndef SONDE_RECORD_SAMPLER_H
#define SONDE_RECORD_SAMPLER_H

#include <stdint.h>

/* SONDE_CAPTURE_* bits of the session; of these GPUs and energy matter. */
void sonde__sampler_types(unsigned types);

/* One sample; by the library's thread, which also closes what it opened. */
void sonde__sampler_run(void);
void sonde__sampler_close(void);

/* A number for a handle that counts joules from its own start. Any thread. */
uint64_t sonde__meter_next(void);

#endif
