/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of a supervisor that lives in its command's process group. What the terminal sends
   reaches both; what a process sends to us alone is passed on. */
#ifndef SONDE_AGENT_SIGNALS_H
#define SONDE_AGENT_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Blocks every signal that can be passed on, and SIGCHLD. *before gets the mask of before. Returns
   a descriptor to read them from, or -1. To be called before any thread is made. */
int sonde__signals_take(sigset_t *before);

/* Reads what has come. Signals from processes go to pid (0: nowhere yet). True: a child changed. */
bool sonde__signals_handle(int fd, pid_t pid);

/* Stops this process as the command was stopped, until somebody continues it. */
void sonde__signals_stop_self(void);

#endif
