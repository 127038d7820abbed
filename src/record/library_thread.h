/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the library: they block every signal, so that a host's handlers never run on them. */
#ifndef SONDE_RECORD_LIBRARY_THREAD_H
#define SONDE_RECORD_LIBRARY_THREAD_H

#include "sonde/status.h"

#include <pthread.h>

/* Starts one with a small stack. name: at most 15 characters. ENOMEM. */
sonde_status sonde__library_thread(pthread_t *thread, const char *name, void *(*run)(void *),
                                   void *argument);

#endif
