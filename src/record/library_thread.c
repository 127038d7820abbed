/* SPDX-License-Identifier: Apache-2.0 */
#include "record/library_thread.h"

#include "base/clock.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { STACK_BYTES = 128 << 10 };

typedef struct start {
    void *(*run)(void *);
    void *argument;
} start;

/* lock is held while the host forks. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t all_rest;
    unsigned at_work;
    bool rested; /* in a child: nobody was at work in the parent */
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER, .all_rest = PTHREAD_COND_INITIALIZER};

uint64_t sonde__fork_wait_ns = 50000000;

void sonde__library_work(void)
{
    pthread_mutex_lock(&threads.lock);
    threads.at_work++;
    pthread_mutex_unlock(&threads.lock);
}

void sonde__library_rest(void)
{
    pthread_mutex_lock(&threads.lock);
    if (--threads.at_work == 0)
        pthread_cond_broadcast(&threads.all_rest);
    pthread_mutex_unlock(&threads.lock);
}

void sonde__library_before_fork(void)
{
    uint64_t at = sonde__clock_monotonic_ns() + sonde__fork_wait_ns;
    struct timespec deadline = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
    pthread_mutex_lock(&threads.lock);
    int error = 0;
    while (threads.at_work > 0 && error == 0)
        error =
            pthread_cond_clockwait(&threads.all_rest, &threads.lock, CLOCK_MONOTONIC, &deadline);
}

void sonde__library_after_fork_in_parent(void)
{
    pthread_mutex_unlock(&threads.lock);
}

void sonde__library_after_fork_in_child(void)
{
    threads.rested = threads.at_work == 0;
    threads.at_work = 0;
    pthread_cond_init(&threads.all_rest, NULL); /* who waits for it is not here */
    pthread_mutex_unlock(&threads.lock);
}

bool sonde__library_rested(void)
{
    return threads.rested;
}

static void *thread_main(void *argument)
{
    start mine = *(start *)argument;
    free(argument);
    void *result = mine.run(mine.argument);
    sonde__library_rest();
    return result;
}

static int create(pthread_t *thread, start *first)
{
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error != 0)
        return error;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, &attr, thread_main, first);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return error;
}

sonde_status sonde__library_thread(pthread_t *thread, const char *name, void *(*run)(void *),
                                   void *argument)
{
    start *first = malloc(sizeof *first);
    if (!first)
        return SONDE_ENOMEM;
    *first = (start){run, argument};
    sonde__library_work();
    if (create(thread, first) != 0) {
        sonde__library_rest();
        free(first);
        return SONDE_ENOMEM;
    }
    pthread_setname_np(*thread, name);
    return SONDE_OK;
}
