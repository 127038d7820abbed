/* SPDX-License-Identifier: Apache-2.0 */
/* Every limit of capture, with what it costs. */
#ifndef SONDE_CAPTURE_CAPTURE_LIMITS_H
#define SONDE_CAPTURE_CAPTURE_LIMITS_H

enum {
    SONDE__KERNEL_FILE_MAX = 4 << 20, /* bytes of one kernel file; one buffer per handle */
    SONDE__ROWS_MAX = 8192,           /* CPUs, disks or interfaces; 120 bytes each */
    SONDE__ROOT_BYTES = 512,          /* longest folder of a recorded machine */
    SONDE__JSON_BYTES_MAX = 16 << 20, /* one reading as JSON */
};

/* What hardly ever changes (program and arguments of the process, names, the list of disks while
   they are idle, a fixed CPU frequency, swap counters without swap) is read again when it is this
   old. */
#define SONDE__RECHECK_NS 1000000000u

#endif
