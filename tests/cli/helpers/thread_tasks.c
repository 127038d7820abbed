/* SPDX-License-Identifier: Apache-2.0 */
/* An instrumented program: THREADS threads do TASKS tasks each, every tenth of which fails.
     usage: thread_tasks THREADS TASKS [kill]   kill: ends by SIGKILL with a task open */
#include <sonde/sonde.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int tasks;

static void *work(void *argument)
{
    (void)argument;
    for (int i = 0; i < tasks; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("step"));
        sonde_task_layer(task, i % 4);
        if (i % 10 == 9)
            sonde_task_end_with(task, SONDE_ERROR, "every tenth fails");
        else
            sonde_task_end(task);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[16];
    int count = argc > 1 ? atoi(argv[1]) : 1;
    tasks = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < count && i < 16; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < count && i < 16; i++)
        pthread_join(threads[i], NULL);
    if (argc > 3 && strcmp(argv[3], "kill") == 0) {
        sonde_task_begin(SONDE_NAME("never_ended"));
        raise(SIGKILL);
    }
    return 0;
}
