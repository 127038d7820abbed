/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/host_collector.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { LOCK_STEP_NS = 200000 };

struct sonde__host {
    sonde_capture *capture;
    const sonde_telemetry *last; /* guarded by reading */
    pthread_mutex_t reading;
    pthread_mutex_t sleep; /* guards stop */
    pthread_cond_t wake;
    bool stop;
    uint64_t interval_ns;
    pthread_t thread;
    _Atomic uint64_t finished_ns;
    _Atomic uint64_t readings;
};

static void read_once(sonde__host *host)
{
    const sonde_telemetry *now;
    pthread_mutex_lock(&host->reading);
    sonde_status status = sonde_capture_read(host->capture, &now);
    host->last = status == SONDE_OK ? now : NULL;
    pthread_mutex_unlock(&host->reading);
    if (status != SONDE_OK)
        return;
    atomic_store(&host->finished_ns, sonde__clock_monotonic_ns());
    atomic_fetch_add(&host->readings, 1);
}

static struct timespec after(clockid_t clock, uint64_t ns)
{
    struct timespec at;
    clock_gettime(clock, &at);
    uint64_t nanoseconds = (uint64_t)at.tv_nsec + ns;
    at.tv_sec += (time_t)(nanoseconds / 1000000000u);
    at.tv_nsec = (long)(nanoseconds % 1000000000u);
    return at;
}

static void *collect(void *user)
{
    sonde__host *host = user;
    pthread_mutex_lock(&host->sleep);
    while (!host->stop) {
        struct timespec until = after(CLOCK_MONOTONIC, host->interval_ns);
        while (!host->stop && pthread_cond_timedwait(&host->wake, &host->sleep, &until) == 0) {
        }
        pthread_mutex_unlock(&host->sleep);
        read_once(host);
        pthread_mutex_lock(&host->sleep);
    }
    pthread_mutex_unlock(&host->sleep);
    return NULL;
}

sonde_status sonde__host_start(const sonde_capture_options *options, uint64_t interval_ns,
                               sonde__host **out)
{
    sonde__host *host = calloc(1, sizeof *host);
    if (!host)
        return SONDE_ENOMEM;
    sonde_status status = sonde_capture_open(options, &host->capture);
    if (status != SONDE_OK) {
        free(host);
        return status;
    }
    host->interval_ns = interval_ns;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&host->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&host->reading, NULL);
    pthread_mutex_init(&host->sleep, NULL);
    read_once(host); /* the first scrape has it */
    if (pthread_create(&host->thread, NULL, collect, host) != 0) {
        sonde_capture_close(host->capture);
        free(host);
        return SONDE_ENOMEM;
    }
    *out = host;
    return SONDE_OK;
}

void sonde__host_stop(sonde__host *host)
{
    if (!host)
        return;
    pthread_mutex_lock(&host->sleep);
    host->stop = true;
    pthread_cond_signal(&host->wake);
    pthread_mutex_unlock(&host->sleep);
    pthread_join(host->thread, NULL);
    sonde_capture_close(host->capture);
    pthread_cond_destroy(&host->wake);
    pthread_mutex_destroy(&host->reading);
    pthread_mutex_destroy(&host->sleep);
    free(host);
}

const sonde_telemetry *sonde__host_lock(sonde__host *host, uint64_t wait_ns)
{
    /* by small sleeps: a wait with a deadline goes by the wall clock, which may be set */
    uint64_t until_ns = sonde__clock_monotonic_ns() + wait_ns;
    while (pthread_mutex_trylock(&host->reading) != 0) {
        if (sonde__clock_monotonic_ns() >= until_ns)
            return NULL;
        nanosleep(&(struct timespec){0, LOCK_STEP_NS}, NULL);
    }
    if (host->last)
        return host->last;
    pthread_mutex_unlock(&host->reading);
    return NULL;
}

void sonde__host_unlock(sonde__host *host)
{
    pthread_mutex_unlock(&host->reading);
}

uint64_t sonde__host_finished_ns(const sonde__host *host)
{
    return atomic_load(&host->finished_ns);
}

uint64_t sonde__host_readings(const sonde__host *host)
{
    return atomic_load(&host->readings);
}
