/* SPDX-License-Identifier: Apache-2.0 */
/* What the two sources of disk counters share: adding up whole disks. */
#ifndef SONDE_CAPTURE_DISK_ROWS_H
#define SONDE_CAPTURE_DISK_ROWS_H

#include "capture/parsers.h"
#include "capture/telemetry.h"

typedef struct sonde__disk_sum {
    const char *disk; /* the whole disk seen last, within the text */
    size_t disk_len;
    size_t disks; /* whole disks seen */
    bool garbled; /* one of them could not be read, so there is no sum */
    uint64_t counter[SONDE__DISK_COUNTERS];
} sonde__disk_sum;

/* Adds a line of diskstats when it is a whole disk; returns whether it is. */
bool sonde__disk_sum_add(sonde__disk_sum *sum, const sonde__disk_line *line);

/* Sets io_sum. A machine without disks has no sum: the fields stay absent. */
void sonde__disk_sum_store(const sonde__disk_sum *sum, sonde_telemetry *out);

/* True for loop, zram and ram devices that have never been used. */
bool sonde__is_idle_virtual(const sonde__disk_line *line);

#endif
