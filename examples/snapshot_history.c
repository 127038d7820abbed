/* SPDX-License-Identifier: Apache-2.0 */
/* How tasks are doing: PyVeda's "Getting Metrics Snapshot" and "Continuous Collection" blocks.
   Build: cc snapshot_history.c $(pkg-config --cflags --libs sonde) */
#include <sonde/sonde.h>

#include <inttypes.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

static void my_task(int i)
{
    sonde_task task = sonde_task_begin(SONDE_NAME("my_task"));
    thrd_sleep(&(struct timespec){0, 100000}, NULL);
    sonde_task_end_with(task, i % 100 == 7 ? SONDE_ERROR : SONDE_FINISHED,
                        i % 100 == 7 ? "an unlucky number" : NULL);
}

int main(void)
{
    sonde_session *session;
    sonde_snapshot_reader *reader;
    sonde_collector *collector;
    sonde_collector_options options = SONDE_COLLECTOR_OPTIONS_DEFAULT;
    options.interval_ns = 20000000; /* the default is a second */
    if (sonde_open(NULL, NULL, &session) != SONDE_OK ||
        sonde_snapshot_reader_open(&reader) != SONDE_OK ||
        sonde_collector_start(&options, &collector) != SONDE_OK)
        return 1;

    for (int i = 0; i < 1000; i++)
        my_task(i);
    sonde_ticket waiting[3]; /* work that nobody has taken up yet */
    for (int i = 0; i < 3; i++)
        waiting[i] = sonde_task_submit(SONDE_NAME("my_task"));

    sonde_snapshot now;
    if (sonde_snapshot_take(reader, &now) != SONDE_OK)
        return 1;
    printf("Tasks executed: %" PRIu64 "\n", now.tasks_executed);
    printf("Tasks failed: %" PRIu64 "\n", now.tasks_failed);
    printf("Tasks pending: %" PRIu64 "\n", now.tasks_pending);
    printf("Average latency: %.2fms\n", now.avg_latency_ms);
    printf("p50 %.2fms, p95 %.2fms, p99 %.2fms\n", now.p50_latency_ms, now.p95_latency_ms,
           now.p99_latency_ms);
    printf("Throughput: %.1f tasks/sec\n", now.throughput_tasks_per_sec);
    for (int i = 0; i < 3; i++)
        sonde_task_end(sonde_task_begin_ticket(&waiting[i]));

    sonde_collector_stop(collector); /* at once, not at the end of its interval */
    sonde_snapshot last[10];
    size_t count = sonde_collector_history(collector, last, 10);
    for (size_t i = 0; i < count; i++)
        printf("Time: %.3f, Throughput: %.1f\n", (double)last[i].wall_ns / 1e9,
               last[i].throughput_tasks_per_sec);
    char json[SONDE_SNAPSHOT_JSON_BYTES];
    if (count > 0 && sonde_snapshot_json(&last[count - 1], json, sizeof json) == SONDE_OK)
        printf("%s\n", json);

    sonde_collector_destroy(collector);
    sonde_snapshot_reader_close(reader);
    sonde_close(session);
    return 0;
}
