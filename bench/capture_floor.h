/* SPDX-License-Identifier: Apache-2.0 */
/* The floors of capture: the same kernel interfaces, read the same way and not parsed. */
#ifndef SONDE_BENCH_CAPTURE_FLOOR_H
#define SONDE_BENCH_CAPTURE_FLOOR_H

typedef struct capture_floor {
    int stat, meminfo, diskstats, block_stat; /* kept open */
    int pid_stat, statm, status, io, fd_folder;
    int netlink;
} capture_floor;

void capture_floor_open(capture_floor *floor);

/* What each level reads; for bench_case.run. */
void capture_floor_full(void *floor, unsigned calls);
void capture_floor_regular(void *floor, unsigned calls);
void capture_floor_light(void *floor, unsigned calls);

/* getdents and fstat of every descriptor. */
void capture_floor_descriptors(void *floor, unsigned calls);

#endif
