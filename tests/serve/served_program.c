/* SPDX-License-Identifier: Apache-2.0 */
/* A program to be watched: a session NAME with SERIES series of three labels, a histogram and TASKS
   tasks of which one fails. Says "ready" and stays until its input ends.
     usage: served_program NAME SERIES TASKS */
#include <sonde/sonde.h>

#include <stdio.h>
#include <stdlib.h>

enum { PER_FAMILY = 1000, NAME_BYTES = 64 };

static void make_series(int number)
{
    char name[NAME_BYTES];
    char shard[NAME_BYTES];
    int family = number / PER_FAMILY;
    snprintf(shard, sizeof shard, "%d", number % PER_FAMILY);
    const char *const labels[] = {"shard", shard, "method", "GET", "zone", "eu-1", NULL};
    snprintf(name, sizeof name, family % 2 ? "test_gauge_%d" : "test_events_%d_total", family);
    if (family % 2)
        sonde_gauge_set(sonde_gauge_get(name, "A gauge", labels), number + 0.5);
    else
        sonde_counter_add(sonde_counter_get(name, "Events", labels), number + 1);
}

static void make_task(int number)
{
    sonde_task task = sonde_task_begin(SONDE_NAME("step"));
    if (number == 0)
        sonde_task_end_with(task, SONDE_ERROR, "the first one fails");
    else
        sonde_task_end(task);
}

int main(int argc, char **argv)
{
    sonde_session *session;
    if (argc != 4 || sonde_open(argv[1], NULL, &session) != SONDE_OK)
        return 1;
    for (int i = 0; i < atoi(argv[2]); i++)
        make_series(i);
    sonde_histogram *sizes = sonde_histogram_get("test_size_bytes", "Sizes", NULL);
    for (int i = 1; i <= 1000; i++)
        sonde_histogram_observe(sizes, i);
    /* what a label must survive */
    sonde_counter_add(sonde_counter_get("test_odd_total", "A \\ help\nof two lines",
                                        SONDE_LABELS("text", "a\"b\\c\nd\xff")),
                      3);
    for (int i = 0; i < atoi(argv[3]); i++)
        make_task(i);
    sonde_flush(session, 0, 2000000000u);
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF) {
    }
    sonde_close(session);
    return 0;
}
