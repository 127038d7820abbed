/* SPDX-License-Identifier: Apache-2.0 */
/* A job of nested tasks that takes its time: epochs of batches of steps. For looking at a session
   while it runs, and at what is left of one that is killed.
     usage: example_long_job [SECONDS]      (default 1) */
#define _POSIX_C_SOURCE 200809L

#include <sonde/sonde.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS_PER_BATCH = 20, BATCHES_PER_EPOCH = 10 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void step(int number)
{
    sonde_task task = sonde_task_begin(SONDE_NAME("step"));
    sonde_task_int(task, SONDE_USED, SONDE_NAME("number"), number);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    sonde_task_end(task);
}

static void batch(double end_s)
{
    sonde_task task = sonde_task_begin(SONDE_NAME("batch"));
    for (int i = 0; i < STEPS_PER_BATCH && now_s() < end_s; i++)
        step(i);
    sonde_task_end(task);
}

int main(int argc, char **argv)
{
    double end_s = now_s() + (argc > 1 ? atof(argv[1]) : 1);
    sonde_session *session;
    sonde_status status = sonde_session_default(&session); /* joins that of `sonde run` */
    if (status != SONDE_OK)
        fprintf(stderr, "long_job: nothing is recorded: %s\n", sonde_status_text(status));
    for (int i = 0; now_s() < end_s; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("epoch"));
        sonde_task_int(task, SONDE_USED, SONDE_NAME("number"), i);
        for (int n = 0; n < BATCHES_PER_EPOCH && now_s() < end_s; n++)
            batch(end_s);
        sonde_task_end(task);
    }
    return 0;
}
