/* SPDX-License-Identifier: Apache-2.0 */
/* Queued work: submitted by one thread, run by others. The ticket travels with the job, so the time
   in the queue and the time of running are separate, and the job's parent is who submitted it. */
#include <sonde/sonde.h>

#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 3, JOBS = 30 };

typedef struct job {
    int number;
    sonde_ticket ticket;
} job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    job jobs[JOBS];
    int put;
    int taken;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};

/* The next job; number -1 when all are done. */
static job take(void)
{
    job next = {.number = -1};
    pthread_mutex_lock(&queue.lock);
    while (queue.taken == queue.put && queue.put < JOBS)
        pthread_cond_wait(&queue.filled, &queue.lock);
    if (queue.taken < queue.put)
        next = queue.jobs[queue.taken++];
    pthread_mutex_unlock(&queue.lock);
    return next;
}

static void *work(void *name)
{
    for (job next = take(); next.number >= 0; next = take()) {
        sonde_task task = sonde_task_begin_ticket(&next.ticket);
        sonde_task_worker(task, name);
        sonde_task_int(task, SONDE_USED, SONDE_NAME("number"), next.number);
        sonde_task_end(task);
    }
    return NULL;
}

static void submit_all(void)
{
    sonde_task batch = sonde_task_begin(SONDE_NAME("batch"));
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&queue.lock);
        queue.jobs[queue.put++] = (job){i, sonde_task_submit(SONDE_NAME("job"))};
        pthread_cond_broadcast(&queue.filled);
        pthread_mutex_unlock(&queue.lock);
    }
    sonde_task_end(batch);
}

int main(int argc, char **argv)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = argc > 1 ? argv[1] : "telemetry";
    sonde_session *session = NULL;
    if (sonde_open("pool", &options, &session) != SONDE_OK)
        return 1;
    static char names[WORKERS][2] = {"a", "b", "c"};
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, names[i]);
    submit_all();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("recorded in %s\n", sonde_session_path(session));
    sonde_close(session);
    return 0;
}
