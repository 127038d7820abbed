/* SPDX-License-Identifier: Apache-2.0 */
/* The processes below this one: what they use now and have used, from /proc. This process is their
   subreaper, so a daemon that has left its parent is still among them. */
#ifndef SONDE_AGENT_FAMILY_H
#define SONDE_AGENT_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SONDE__FAMILY_MAX = 4096, /* processes looked at; more are counted, not read */
    SONDE__COMM_BYTES = 16,
};

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
    size_t beyond; /* more than the limit */
    size_t named;
    sonde__relative first[8]; /* the first ones, by name */
} sonde__family;

/* Everything below root, which itself is not counted. */
void sonde__family_look(pid_t root, sonde__family *out);

/* One process alone: also a zombie that was not waited for yet. False: it cannot be read. */
bool sonde__family_io(pid_t pid, uint64_t *read_bytes, uint64_t *written_bytes);

#endif
