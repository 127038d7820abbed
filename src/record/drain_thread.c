/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that drains: sleeps on a futex, at most one interval; a lane that passes half full, a
   flush or a close wakes it. All file I/O of the library happens here and in the follower's thread,
   so that nothing of it can signal (SIGXFSZ) or delay a thread of the host. */
#include "base/clock.h"
#include "record/drain.h"
#include "record/library_thread.h"
#include "record/recorder.h"
#include "record/task_metrics.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void sonde__drain_wake(sonde__drain *drain)
{
    int saved = errno;
    if (atomic_exchange(&drain->wake, 1) == 0)
        syscall(SYS_futex, &drain->wake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}

static void sleep_until_woken(sonde__drain *drain, uint64_t ns)
{
    struct timespec limit = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    sonde__library_rest();
    syscall(SYS_futex, &drain->wake, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0);
    sonde__library_work();
}

/* A thread that waits for room looks at the tail again. */
static void wake_lane(uint32_t index)
{
    sonde__lane_local *lane = atomic_load(&sonde__the_recorder.by_index[index]);
    if (!lane)
        return;
    _Atomic uint32_t *waiting = &lane->waiting;
    if (atomic_load(waiting) && atomic_exchange(waiting, 0))
        syscall(SYS_futex, waiting, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void publish_counts(sonde__drain *drain)
{
    atomic_store_explicit(&drain->written, drain->pump.records, memory_order_relaxed);
    atomic_store_explicit(&drain->lost, drain->pump.lost, memory_order_relaxed);
    atomic_store_explicit(&drain->bytes, drain->journal.before + drain->journal.end,
                          memory_order_relaxed);
    atomic_store_explicit(&drain->part, drain->journal.part, memory_order_relaxed);
    atomic_store_explicit(&drain->stopped_writing, drain->pump.stopped, memory_order_relaxed);
    atomic_store_explicit(&drain->errors, drain->journal.errors, memory_order_relaxed);
    atomic_store_explicit(&drain->last_error, (int)drain->journal.last, memory_order_relaxed);
}

/* In the first file of the session, which is kept whatever its limits are. */
static void describe_machine(sonde__drain *drain)
{
    const sonde__segment_header *header = sonde__segment_header_of(&sonde__the_recorder.segment);
    if (!drain->machine.wanted)
        return;
    if (drain->journal.end > 0 || sonde__pump_begin_part(&drain->pump) == SONDE_OK)
        sonde__machine_frame_write(&drain->machine, &drain->journal, header->session, header->run);
}

/* One turn: a pass, then answers to those who asked before it began. True: the thread ends. */
static bool turn(sonde__drain *drain, bool *moved)
{
    pthread_mutex_lock(&drain->lock);
    uint64_t wanted = drain->flush_wanted;
    bool durable = drain->flush_durable;
    bool stop = drain->stop;
    uint64_t deadline = drain->stop_deadline_ns;
    pthread_mutex_unlock(&drain->lock);

    describe_machine(drain);
    sonde_status status = sonde__pump_pass(&drain->pump, moved);
    if (status == SONDE_OK && durable)
        status = sonde__pump_sync(&drain->pump);
    if (status == SONDE_OK)
        sonde__tick_run(&drain->tick, &drain->pump, stop);
    if (status == SONDE_OK && stop)
        status = sonde__pump_finish(&drain->pump, &drain->end);
    publish_counts(drain);

    bool give_up = stop && (status == SONDE_OK || sonde__clock_monotonic_ns() >= deadline);
    pthread_mutex_lock(&drain->lock);
    drain->flush_status = status;
    if (status == SONDE_OK || give_up)
        drain->flush_done = wanted;
    if (status == SONDE_OK && drain->flush_wanted == wanted)
        drain->flush_durable = false;
    drain->finish_status = status;
    drain->stopped = give_up;
    pthread_cond_broadcast(&drain->changed);
    pthread_mutex_unlock(&drain->lock);
    if (status != SONDE_OK)
        *moved = false;
    return give_up;
}

/* True when a ring has something, now or in the next microseconds: whoever just wrote a lot will
   write more, and waking up costs longer than looking. */
static bool more_comes(const sonde__drain *drain)
{
    const sonde__segment *segment = &sonde__the_recorder.segment;
    for (int i = 0; i < SONDE__EMPTY_SPINS; i++) {
        uint32_t lanes = atomic_load(&sonde__segment_header_of(segment)->lanes_used);
        for (uint32_t n = 0; n < lanes; n++)
            if (atomic_load_explicit(&sonde__segment_lane(segment, n)->head,
                                     memory_order_relaxed) != drain->pump.cursors[n].tail)
                return true;
        sonde__relax();
    }
    return false;
}

static void *drain_main(void *argument)
{
    sonde__drain *drain = argument;
    sonde__lane_of_library();
    for (;;) {
        bool moved = false;
        atomic_store(&drain->wake, 0);
        if (turn(drain, &moved)) {
            sonde__follower_finish(&drain->follower);
            return NULL;
        }
        if (moved)
            sonde__follower_wake(&drain->follower);
        if (atomic_load_explicit(&drain->last_error, memory_order_relaxed) != SONDE_OK) {
            atomic_store(&drain->wake, 0); /* rings that are full keep asking: no busy loop */
            sleep_until_woken(drain, SONDE__RETRY_NS);
        } else if (!moved || !more_comes(drain)) {
            sleep_until_woken(drain, sonde__tick_wait_ns(&drain->tick, drain->interval_ns));
        } else {
            sonde__library_rest(); /* a fork that waits is let through */
            sonde__library_work();
        }
    }
}

sonde_status sonde__drain_start(sonde__drain *drain, sonde__segment *segment,
                                const sonde_options *options)
{
    sonde_status status =
        sonde__pump_init(&drain->pump, segment->base, segment->size, &drain->journal);
    if (status != SONDE_OK)
        return status;
    drain->pump.moved = wake_lane;
    drain->pump.seen = sonde__task_metrics_seen;
    drain->pump.live = true;
    drain->pump.durable = options->safety == SONDE_SAFETY_DURABLE;
    sonde__parts_init(&drain->pump.parts, options);
    pthread_mutex_init(&drain->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&drain->changed, &attr);
    pthread_condattr_destroy(&attr);
    drain->stop = drain->stopped = false;
    drain->flush_wanted = drain->flush_done = 0;
    drain->flush_durable = false;
    drain->finish_status = SONDE_OK;
    atomic_store(&drain->wake, 0);
    publish_counts(drain);
    status = sonde__library_thread(&drain->thread, "sonde-drain", drain_main, drain);
    if (status != SONDE_OK)
        sonde__pump_free(&drain->pump);
    else
        sonde__follower_start(&drain->follower, drain->journal.path);
    drain->running = status == SONDE_OK;
    return status;
}

sonde_status sonde__drain_stop(sonde__drain *drain, const sonde__run_end *end, uint64_t wait_ns)
{
    if (!drain->running)
        return SONDE_OK;
    pthread_mutex_lock(&drain->lock);
    drain->end = *end;
    drain->stop = true;
    drain->stop_deadline_ns = sonde__clock_monotonic_ns() + wait_ns;
    pthread_mutex_unlock(&drain->lock);
    sonde__drain_wake(drain);
    pthread_join(drain->thread, NULL);
    drain->running = false;
    sonde__pump_free(&drain->pump);
    sonde__tick_free(&drain->tick);
    sonde__machine_note_free(&drain->machine);
    return drain->finish_status;
}

static struct timespec deadline_after(uint64_t ns)
{
    uint64_t at = sonde__clock_monotonic_ns();
    at = ns > UINT64_MAX - at ? UINT64_MAX : at + ns;
    uint64_t seconds = at / 1000000000u;
    return (struct timespec){(time_t)(seconds > INT_MAX ? INT_MAX : seconds),
                             (long)(at % 1000000000u)};
}

sonde_status sonde__drain_flush(sonde__drain *drain, bool durable, uint64_t timeout_ns)
{
    struct timespec deadline = deadline_after(timeout_ns);
    pthread_mutex_lock(&drain->lock);
    uint64_t mine = ++drain->flush_wanted;
    drain->flush_durable = drain->flush_durable || durable;
    drain->flush_status = SONDE_OK;
    sonde__drain_wake(drain);
    int error = 0;
    while (drain->flush_done < mine && error == 0)
        error = pthread_cond_timedwait(&drain->changed, &drain->lock, &deadline);
    sonde_status status = SONDE_OK;
    if (drain->flush_done < mine)
        status = drain->flush_status == SONDE_OK ? SONDE_ELIMIT : SONDE_EIO;
    pthread_mutex_unlock(&drain->lock);
    return status;
}
