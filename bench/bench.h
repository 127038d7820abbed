/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring by ratios: cases that belong together run in turn within each of many short rounds, and
   a ratio is the median over the rounds, so that whatever else the machine does hits both sides
   alike. Budgets stand in budgets.txt; a ratio that exceeds its budget fails the bench. */
#ifndef SONDE_BENCH_H
#define SONDE_BENCH_H

#include <stddef.h>
#include <stdint.h>

enum { BENCH_ROUNDS_MAX = 1001 };

typedef struct bench_case {
    const char *name;
    void (*run)(void *arg, unsigned calls); /* does the work calls times */
    void *arg;
    unsigned calls;              /* per round */
    double ns[BENCH_ROUNDS_MAX]; /* per call, by round */
    unsigned rounds;
    void (*before)(void); /* before each round, not measured; may be NULL */
} bench_case;

/* Runs all cases in turn, rounds times (and once before, not counted). */
void bench_run(bench_case **cases, size_t count, unsigned rounds);

/* What a judge says of the round before it. */
typedef enum bench_verdict { BENCH_DROP, BENCH_KEEP, BENCH_START_AGAIN } bench_verdict;

/* Other machines' work on the same processor core halves its speed for milliseconds, and does so to
   some code more than to other. Runs all cases in turn, for 5 to 30 seconds, until the judge has
   kept that many rounds, of which the last count; says how many there were. When these are less
   than fifty, runs them again without a judge. */
void bench_run_judged(bench_case **cases, size_t count, unsigned rounds,
                      bench_verdict (*judge)(void));

/* Nanoseconds of a loop that does nothing: how fast this core is now. */
double bench_idle_loop_ns(void);

/* The verdict on a round, from that loop on the faster and on the slower core after it: both must
   be as fast as they can be, before the round and after it. */
bench_verdict bench_judge(double faster_ns, double slower_ns);

/* The same for one core, this thread's. */
bench_verdict bench_judge_core(void);

double bench_median_ns(const bench_case *what);

/* Median over the rounds of a's time by b's. */
double bench_ratio(const bench_case *a, const bench_case *b);

/* Prints "key ratio budget ok|OVER". Unknown key: failure. */
void bench_check(const char *key, double ratio);

/* Prints a figure that has no budget: absolute times, for orientation only. */
void bench_note(const char *what, double value, const char *unit);

/* Says that a figure could not be measured here, and why. */
void bench_skip(const char *key, const char *reason);

void bench_title(const char *text);

/* The exit code: 1 when a budget was exceeded. */
int bench_finish(void);

uint64_t bench_now_ns(void);

/* Keeps the compiler from removing the computation of value. */
static inline void bench_keep(const void *value)
{
    __asm__ volatile("" : : "r"(value) : "memory");
}

#endif
