/* SPDX-License-Identifier: Apache-2.0 */
/* SCHED_IDLE: the thread runs where nobody else wants the CPU, and gives way at once. With a mere
   nice value it takes turns with the drain where there are fewer CPUs than threads, rings fill, and
   recording threads wait: half as fast again on two CPUs. Nothing can make it wait for ever: what
   it leaves is finished at close by the drain's thread, which has the host's priority. */
#include "record/follower.h"

#include "record/library_thread.h"
#include "record/recorder.h"

#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How often to look for what other processes of the session recorded. */
#define LOOK_NS 1000000000u

static uint64_t clock_ns(clockid_t id)
{
    struct timespec time;
    return clock_gettime(id, &time) == 0
               ? (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec
               : 0;
}

static void sleep_until_woken(sonde__follower *follower)
{
    struct timespec limit = {LOOK_NS / 1000000000u, LOOK_NS % 1000000000u};
    sonde__library_rest();
    syscall(SYS_futex, &follower->wake, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0);
    sonde__library_work();
}

/* One piece of work after the other, and sleep in between when there is no more. */
static void *follower_main(void *argument)
{
    sonde__follower *follower = argument;
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    follower->observed = follower->observer->open(follower->journal);
    while (follower->observed && !atomic_load(&follower->stop)) {
        atomic_store(&follower->wake, 0);
        bool more = follower->observer->pass(follower->observed);
        if (!more && !atomic_load(&follower->stop)) {
            sleep_until_woken(follower);
        } else {
            sonde__library_rest(); /* a fork that waits is let through */
            sonde__library_work();
        }
    }
    follower->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

void sonde__follower_start(sonde__follower *follower, const char *journal)
{
    if (!follower->observer)
        return;
    memcpy(follower->journal, journal, strlen(journal) + 1);
    follower->observed = NULL;
    follower->cpu_ns = 0;
    atomic_store(&follower->stop, false);
    atomic_store(&follower->wake, 0);
    follower->running = true;
    if (sonde__library_thread(&follower->thread, "sonde-files", follower_main, follower) !=
        SONDE_OK)
        follower->running = false;
}

void sonde__follower_wake(sonde__follower *follower)
{
    if (follower->observer && atomic_exchange(&follower->wake, 1) == 0)
        syscall(SYS_futex, &follower->wake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void sonde__follower_finish(sonde__follower *follower)
{
    if (!follower->running)
        return;
    atomic_store(&follower->stop, true);
    sonde__follower_wake(follower);
    pthread_join(follower->thread, NULL);
    follower->running = false;
    if (follower->observed)
        follower->observer->close(follower->observed);
    follower->observed = NULL;
}

void sonde__follower_abandon(sonde__follower *follower)
{
    if (follower->observed)
        follower->observer->abandon(follower->observed);
    follower->observed = NULL;
}

uint64_t sonde__library_cpu_ns(void)
{
    const sonde__drain *drain = &sonde__the_recorder.drain;
    uint64_t own_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    clockid_t id;
    if (!drain->follower.running) /* the drain's thread asks, for the last time */
        return own_ns + drain->follower.cpu_ns;
    return pthread_getcpuclockid(drain->thread, &id) == 0 ? own_ns + clock_ns(id) : own_ns;
}
