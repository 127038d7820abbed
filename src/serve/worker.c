/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/worker.h"

#include "serve/serve_limits.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct job_list {
    sonde__job *first;
    sonde__job **end;
} job_list;

struct sonde__worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    job_list waiting;
    job_list done;
    size_t waiting_count;
    int wake_fd;
    bool stop;
    bool joined;
};

static void put(job_list *list, sonde__job *job)
{
    job->next = NULL;
    *list->end = job;
    list->end = &job->next;
}

static sonde__job *take(job_list *list)
{
    sonde__job *job = list->first;
    if (!job)
        return NULL;
    list->first = job->next;
    if (!list->first)
        list->end = &list->first;
    return job;
}

static void tell(const sonde__worker *worker)
{
    uint64_t one = 1;
    ssize_t written = write(worker->wake_fd, &one, sizeof one);
    (void)written; /* it fails only when the loop has been told 2^64 times and not looked */
}

static void *work(void *user)
{
    sonde__worker *worker = user;
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        while (!worker->waiting.first && !worker->stop)
            pthread_cond_wait(&worker->more, &worker->lock);
        if (worker->stop)
            break;
        sonde__job *job = take(&worker->waiting);
        worker->waiting_count--;
        pthread_mutex_unlock(&worker->lock);
        job->run(job);
        pthread_mutex_lock(&worker->lock);
        put(&worker->done, job);
        tell(worker);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

sonde__worker *sonde__worker_create(int wake_fd)
{
    sonde__worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->more, NULL);
    worker->waiting.end = &worker->waiting.first;
    worker->done.end = &worker->done.first;
    worker->wake_fd = wake_fd;
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
        free(worker);
        return NULL;
    }
    return worker;
}

bool sonde__worker_submit(sonde__worker *worker, sonde__job *job)
{
    pthread_mutex_lock(&worker->lock);
    bool room = worker->waiting_count < SONDE__SERVE_JOBS_MAX && !worker->stop;
    if (room) {
        put(&worker->waiting, job);
        worker->waiting_count++;
        pthread_cond_signal(&worker->more);
    }
    pthread_mutex_unlock(&worker->lock);
    return room;
}

sonde__job *sonde__worker_done(sonde__worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    sonde__job *job = take(&worker->done);
    if (!job && worker->joined)
        job = take(&worker->waiting);
    pthread_mutex_unlock(&worker->lock);
    return job;
}

void sonde__worker_stop(sonde__worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->stop = true;
    pthread_cond_signal(&worker->more);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    worker->joined = true;
}

void sonde__worker_destroy(sonde__worker *worker)
{
    if (!worker)
        return;
    if (!worker->joined)
        sonde__worker_stop(worker);
    pthread_mutex_destroy(&worker->lock);
    pthread_cond_destroy(&worker->more);
    free(worker);
}
