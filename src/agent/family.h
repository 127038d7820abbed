/* SPDX-License-Identifier: Apache-2.0 */
/* The processes below this one: what they use now and have used, from /proc. This process is their
   subreaper, so a daemon that has left its parent is still among them. */
#ifndef SONDE_AGENT_FAMILY_H
#define SONDE_AGENT_FAMILY_H

#include "capture/tree_walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SONDE__COMM_BYTES = 16 };

typedef struct sonde__relative {
    pid_t pid;
    char comm[SONDE__COMM_BYTES];
} sonde__relative;

/* One look at all of them. */
typedef struct sonde__family {
    size_t processes;
    uint64_t threads;
    uint64_t user_ns; /* of the living, with the children they have waited for */
    uint64_t system_ns;
    uint64_t rss_bytes;
    uint64_t read_bytes; /* from and to disks; of those that may be read */
    uint64_t written_bytes;
    size_t denied; /* processes whose I/O may not be read */
    size_t named;
    sonde__relative first[8]; /* the first ones, by name */
} sonde__family;

/* Opens the walk of this process's descendants. What fails here makes every look find nobody. */
void sonde__family_open(sonde__tree_walk *walk);

/* Everything below this process, which itself is not counted. */
void sonde__family_look(sonde__tree_walk *walk, sonde__family *out);

/* One process alone: also a zombie that was not waited for yet. False: it cannot be read. */
bool sonde__family_io(sonde__tree_walk *walk, pid_t pid, uint64_t *read_bytes,
                      uint64_t *written_bytes);

#endif
