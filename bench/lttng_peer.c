/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the nanoseconds of one LTTng-UST event in its quiet rounds. Started by lttng_peer.sh in a
   tracing session of its own; rounds are short and far apart, so that its buffers are never full.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 401, EVENTS = 600 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(void)
{
    static double ns[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (unsigned long i = 0; i < EVENTS; i++)
            lttng_ust_tracepoint(sonde_bench, event, i, i * 3);
        ns[round] = (now_ns() - start) / EVENTS;
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
    qsort(ns, ROUNDS, sizeof *ns, compare);
    printf("%.1f\n", ns[ROUNDS / 20]);
    return 0;
}
