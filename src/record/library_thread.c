/* SPDX-License-Identifier: Apache-2.0 */
#include "record/library_thread.h"

#include <signal.h>

enum { STACK_BYTES = 128 << 10 };

sonde_status sonde__library_thread(pthread_t *thread, const char *name, void *(*run)(void *),
                                   void *argument)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return SONDE_ENOMEM;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, &attr, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (error != 0)
        return SONDE_ENOMEM;
    pthread_setname_np(*thread, name);
    return SONDE_OK;
}
