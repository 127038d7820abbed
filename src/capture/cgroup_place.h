/* SPDX-License-Identifier: Apache-2.0 */
/* Where the cgroup of a process is mounted, for each controller that is read. */
#ifndef SONDE_CAPTURE_CGROUP_PLACE_H
#define SONDE_CAPTURE_CGROUP_PLACE_H

#include "capture/machine_parsers.h"
#include "capture/source.h"

typedef enum sonde__controller {
    SONDE__CONTROLLER_CPU,
    SONDE__CONTROLLER_CPUACCT,
    SONDE__CONTROLLER_MEMORY,
    SONDE__CONTROLLER_PIDS,
    SONDE__CONTROLLER_COUNT
} sonde__controller;

typedef struct sonde__cgroup_place {
    unsigned version;                          /* 1 or 2; 0: not found */
    char folder[2 * SONDE__CGROUP_PATH_BYTES]; /* without the root of a recorded machine */
    size_t mount_len; /* of folder: the mount point, where the way up ends */
} sonde__cgroup_place;

/* Finds the folder of every controller. A controller that a v1 hierarchy has is there, all others
   are in v2. Fails when no cgroup file system is mounted, or the process cannot be looked at. */
sonde_status sonde__cgroup_locate(sonde__host *host,
                                  sonde__cgroup_place place[SONDE__CONTROLLER_COUNT]);

/* Finds the folder in the v2 hierarchy, whatever controllers are there. EABSENT: none is mounted.
 */
sonde_status sonde__cgroup_locate_v2(sonde__host *host, sonde__cgroup_place *place);

/* Cuts the last part off the folder. False at the mount point. */
bool sonde__cgroup_up(sonde__cgroup_place *place);

#endif
