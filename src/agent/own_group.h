/* SPDX-License-Identifier: Apache-2.0 */
/* A control group (v2) for the command alone, where this user may make one: it counts what
   processes used that nobody waited for. */
#ifndef SONDE_AGENT_OWN_GROUP_H
#define SONDE_AGENT_OWN_GROUP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sonde__own_group {
    char path[512];   /* empty: there is none */
    char reason[160]; /* then: why */
    int fd;           /* of its folder, for clone3 to start a process in it; -1: none */
} sonde__own_group;

/* Known values have their bit set. */
typedef struct sonde__own_group_use {
    bool has_cpu, has_memory;
    uint64_t cpu_ns;
    uint64_t memory_peak_bytes;
} sonde__own_group_use;

void sonde__own_group_make(sonde__own_group *group);

void sonde__own_group_read(const sonde__own_group *group, sonde__own_group_use *out);

/* Moves whoever is left to where this process is, and removes the group. */
void sonde__own_group_remove(sonde__own_group *group);

#endif
