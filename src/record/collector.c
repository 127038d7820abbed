/* SPDX-License-Identifier: Apache-2.0 */
/* Background collection: one thread, a ring of snapshots. The condition variable is on the
   monotonic clock, so that stop wakes the thread at once and a step of the wall clock does not
   matter. */
#include "base/clock.h"
#include "record/library_thread.h"
#include "record/snapshot_json.h"
#include "sonde/snapshot.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HISTORY_MAX = 100000,
    JSON_BYTES_MAX = 64 << 20,
};
#define INTERVAL_MIN_NS 1000000u

struct sonde_collector {
    pthread_t thread;
    pid_t pid; /* of the process that has the thread */
    bool running;
    bool stop;
    uint64_t interval_ns;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sonde_snapshot_reader *reader;
    size_t cap;
    uint64_t taken; /* ever, less those cleared */
    sonde__buf json;
    sonde_snapshot ring[];
};

static void keep(sonde_collector *collector, const sonde_snapshot *snapshot)
{
    pthread_mutex_lock(&collector->lock);
    collector->ring[collector->taken++ % collector->cap] = *snapshot;
    pthread_mutex_unlock(&collector->lock);
}

static void take_one(sonde_collector *collector)
{
    sonde_snapshot now;
    if (sonde_snapshot_take(collector->reader, &now) == SONDE_OK)
        keep(collector, &now);
}

/* True: it is time to stop. */
static bool wait_until(sonde_collector *collector, uint64_t due_ns)
{
    struct timespec due = {(time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u)};
    sonde__library_rest();
    pthread_mutex_lock(&collector->lock);
    int error = 0;
    while (!collector->stop && error == 0)
        error = pthread_cond_timedwait(&collector->changed, &collector->lock, &due);
    bool stop = collector->stop;
    pthread_mutex_unlock(&collector->lock);
    sonde__library_work();
    return stop;
}

static void *collector_main(void *argument)
{
    sonde_collector *collector = argument;
    uint64_t due = sonde__clock_monotonic_ns() + collector->interval_ns;
    while (!wait_until(collector, due)) {
        take_one(collector);
        uint64_t now = sonde__clock_monotonic_ns();
        due += collector->interval_ns;
        if (due < now) /* the machine slept: no catching up */
            due = now + collector->interval_ns;
    }
    take_one(collector);
    return NULL;
}

static void init_sync(sonde_collector *collector)
{
    pthread_condattr_t attr;
    pthread_mutex_init(&collector->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&collector->changed, &attr);
    pthread_condattr_destroy(&attr);
}

sonde_status sonde_collector_start(const sonde_collector_options *options, sonde_collector **out)
{
    static const sonde_collector_options defaults = SONDE_COLLECTOR_OPTIONS_DEFAULT;
    const sonde_collector_options *wanted = options ? options : &defaults;
    if (wanted->size != sizeof *wanted || wanted->interval_ns < INTERVAL_MIN_NS ||
        wanted->history == 0 || wanted->history > HISTORY_MAX)
        return SONDE_EINVAL;
    sonde_collector *collector =
        calloc(1, sizeof *collector + wanted->history * sizeof *collector->ring);
    if (!collector)
        return SONDE_ENOMEM;
    collector->cap = wanted->history;
    collector->interval_ns = wanted->interval_ns;
    collector->pid = getpid();
    sonde__buf_init(&collector->json, JSON_BYTES_MAX);
    init_sync(collector);
    sonde_status status = sonde_snapshot_reader_open(&collector->reader);
    if (status == SONDE_OK)
        status =
            sonde__library_thread(&collector->thread, "sonde-collect", collector_main, collector);
    collector->running = status == SONDE_OK;
    if (status != SONDE_OK) {
        sonde_collector_destroy(collector);
        return status;
    }
    *out = collector;
    return SONDE_OK;
}

/* In a forked child there is no thread, and the lock may have been held by it. */
static void check_fork(sonde_collector *collector)
{
    if (collector->pid == getpid())
        return;
    collector->pid = getpid();
    collector->running = false;
    init_sync(collector);
}

void sonde_collector_stop(sonde_collector *collector)
{
    check_fork(collector);
    if (!collector->running)
        return;
    pthread_mutex_lock(&collector->lock);
    collector->stop = true;
    pthread_cond_signal(&collector->changed);
    pthread_mutex_unlock(&collector->lock);
    pthread_join(collector->thread, NULL);
    collector->running = false;
}

void sonde_collector_destroy(sonde_collector *collector)
{
    if (!collector)
        return;
    sonde_collector_stop(collector);
    sonde_snapshot_reader_close(collector->reader);
    sonde__buf_free(&collector->json);
    pthread_cond_destroy(&collector->changed);
    pthread_mutex_destroy(&collector->lock);
    free(collector);
}

size_t sonde_collector_history(sonde_collector *collector, sonde_snapshot *out, size_t count)
{
    check_fork(collector);
    pthread_mutex_lock(&collector->lock);
    size_t kept = collector->taken < collector->cap ? (size_t)collector->taken : collector->cap;
    size_t given = count < kept ? count : kept;
    for (size_t i = 0; i < given; i++)
        out[i] = collector->ring[(collector->taken - given + i) % collector->cap];
    pthread_mutex_unlock(&collector->lock);
    return given;
}

void sonde_collector_clear(sonde_collector *collector)
{
    check_fork(collector);
    pthread_mutex_lock(&collector->lock);
    collector->taken = 0;
    pthread_mutex_unlock(&collector->lock);
}

sonde_status sonde_collector_json(sonde_collector *collector, const char **text, size_t *len)
{
    check_fork(collector);
    sonde__json json;
    sonde__buf_clear(&collector->json);
    sonde__json_init(&json, &collector->json);
    sonde__json_begin_array(&json);
    pthread_mutex_lock(&collector->lock);
    size_t kept = collector->taken < collector->cap ? (size_t)collector->taken : collector->cap;
    for (size_t i = 0; i < kept; i++)
        sonde__snapshot_json(&collector->ring[(collector->taken - kept + i) % collector->cap],
                             &json);
    pthread_mutex_unlock(&collector->lock);
    sonde__json_end_array(&json);
    sonde__buf_char(&collector->json, '\0');
    if (collector->json.status != SONDE_OK)
        return collector->json.status;
    *text = collector->json.data;
    *len = collector->json.len - 1;
    return SONDE_OK;
}
