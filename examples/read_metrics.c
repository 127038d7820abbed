/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of another process, while it runs and without its help. With a process id it reads
   that one; without, it makes one to read. Build: cc read_metrics.c $(pkg-config --cflags --libs
   sonde) */
#define _POSIX_C_SOURCE 200809L

#include <sonde/sonde.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ends when the other end of done is closed. */
static void be_read(int ready, int done)
{
    sonde_session *session;
    if (sonde_open(NULL, NULL, &session) != SONDE_OK)
        _exit(1);
    sonde_counter_add(sonde_counter_get("jobs_total", "Jobs done", SONDE_LABELS("queue", "a")), 7);
    sonde_histogram *wait = sonde_histogram_get("wait_seconds", "Waiting", NULL);
    for (int i = 1; i <= 1000; i++)
        sonde_histogram_observe(wait, i / 1000.0);
    char byte;
    int code = write(ready, "", 1) == 1 && read(done, &byte, 1) == 0 ? 0 : 1;
    sonde_close(session);
    _exit(code);
}

static int print_metrics(int pid)
{
    sonde_metric_set *set = sonde_metric_set_create();
    sonde_status status = set ? sonde_metric_set_read_pid(set, pid) : SONDE_ENOMEM;
    if (status != SONDE_OK) {
        fprintf(stderr, "process %d: %s\n", pid, sonde_status_text(status));
        sonde_metric_set_destroy(set);
        return 1;
    }
    for (size_t i = 0; i < sonde_metric_set_count(set); i++) {
        const sonde_metric *metric = sonde_metric_set_at(set, i);
        if (metric->kind == SONDE_METRIC_COUNTER)
            printf("%s %" PRIu64 "\n", metric->name, metric->counter);
        else if (metric->kind == SONDE_METRIC_GAUGE)
            printf("%s %g\n", metric->name, metric->gauge);
        else
            printf("%s count %" PRIu64 ", p99 %.2f\n", metric->name, metric->histogram->count,
                   sonde_distribution_percentile(metric->histogram, 99));
    }
    sonde_metric_set_destroy(set);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return print_metrics(atoi(argv[1]));
    int ready[2];
    int done[2];
    char byte;
    if (pipe(ready) != 0 || pipe(done) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        close(done[1]);
        be_read(ready[1], done[0]);
    }
    close(ready[1]);
    int code = read(ready[0], &byte, 1) == 1 ? print_metrics(child) : 1;
    close(done[1]);
    waitpid(child, NULL, 0);
    return code;
}
