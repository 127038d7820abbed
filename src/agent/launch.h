/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the command: same process group, same terminal, same descriptors, with the signal mask
   and dispositions that this program itself was started with. */
#ifndef SONDE_AGENT_LAUNCH_H
#define SONDE_AGENT_LAUNCH_H

#include "agent/own_group.h"

#include <signal.h>
#include <sys/types.h>

typedef struct sonde__launch {
    char *const *argv;
    char *const *environment; /* "NAME=value" to set, ended by NULL */
    const sonde__own_group *group;
    sigset_t mask; /* the child's */
} sonde__launch;

/* Returns when the program has been loaded: its pid, or -1 with *error set (ENOENT: there is none;
   EACCES, ENOEXEC: it cannot be executed; others: no process could be made). */
pid_t sonde__launch_start(const sonde__launch *launch, int *error);

#endif
