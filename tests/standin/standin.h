/* SPDX-License-Identifier: Apache-2.0 */
/* How a test steers a stand-in for a vendor's library: the library exports one function, by which
   numbers are set. A call that fails returns the vendor's code. */
#ifndef SONDE_TESTS_STANDIN_H
#define SONDE_TESTS_STANDIN_H

#include <stdint.h>
#include <time.h>

typedef enum standin_knob {
    STANDIN_DEVICES,       /* how many there are */
    STANDIN_FAIL_INIT,     /* code that init returns */
    STANDIN_FAIL_CALL,     /* which call of a device fails, from 1 on in the library's list */
    STANDIN_FAIL_CODE,     /* with this code */
    STANDIN_LOST,          /* device that has fallen off the bus; -1: none */
    STANDIN_PID,           /* of the process that uses device 0 */
    STANDIN_SPIN_NS,       /* what each call takes */
    STANDIN_VERSION,       /* that the library says it has */
    STANDIN_NOT_AVAILABLE, /* not 0: sensors that are not there answer all ones */
    STANDIN_USED_MORE,     /* bytes in use beyond the usual; NVML */
    STANDIN_ENERGY_MORE,   /* millijoules beyond the usual; NVML */
    STANDIN_KNOBS
} standin_knob;

/* Exported by each stand-in; returns the number of calls since the last time. */
typedef uint64_t standin_steer_function(standin_knob knob, long value);

/* Busy for so long: a vendor's call is a system call into a driver. */
static inline void standin_spin(long ns)
{
    struct timespec start, now;
    if (ns <= 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000L + (now.tv_nsec - start.tv_nsec) < ns);
}

#endif
