/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Fewer rounds on undisturbed cores say nothing; a core may be slow for seconds. */
enum { KEPT_MIN = 50 };
#define JUDGED_MIN_NS 5000000000u
#define JUDGED_MAX_NS 30000000000u

static int failures;

uint64_t bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double time_case(const bench_case *what)
{
    if (what->before)
        what->before();
    uint64_t start = bench_now_ns();
    what->run(what->arg, what->calls);
    return (double)(bench_now_ns() - start) / what->calls;
}

void bench_run(bench_case **cases, size_t count, unsigned rounds)
{
    if (rounds > BENCH_ROUNDS_MAX)
        rounds = BENCH_ROUNDS_MAX;
    for (size_t i = 0; i < count; i++) {
        cases[i]->rounds = rounds;
        time_case(cases[i]);
    }
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++)
            cases[i]->ns[round] = time_case(cases[i]);
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

double bench_idle_loop_ns(void)
{
    enum { TURNS = 10000 };
    uint64_t start = bench_now_ns();
    for (unsigned i = 0; i < TURNS; i++)
        bench_keep((const void *)(uintptr_t)i);
    return (double)(bench_now_ns() - start) / TURNS;
}

bench_verdict bench_judge(double faster_ns, double slower_ns)
{
    static double fastest = 1e9;
    static bool was_good;
    bool all_were_slow = faster_ns < fastest * 0.95;
    fastest = faster_ns < fastest ? faster_ns : fastest;
    bool before = was_good;
    was_good = slower_ns <= fastest * 1.03;
    return all_were_slow ? BENCH_START_AGAIN : before && was_good ? BENCH_KEEP : BENCH_DROP;
}

bench_verdict bench_judge_core(void)
{
    double ns = bench_idle_loop_ns();
    return bench_judge(ns, ns);
}

void bench_run_judged(bench_case **cases, size_t count, unsigned rounds,
                      bench_verdict (*judge)(void))
{
    uint64_t start = bench_now_ns(), took = 0;
    unsigned kept = 0, tried = 0;
    bench_run(cases, count, 1);
    while (took < JUDGED_MIN_NS || (kept < rounds && took < JUDGED_MAX_NS)) {
        for (size_t i = 0; i < count; i++)
            cases[i]->ns[kept % rounds] = time_case(cases[i]);
        bench_verdict verdict = judge();
        kept = verdict == BENCH_KEEP ? kept + 1 : verdict == BENCH_DROP ? kept : 0;
        tried++;
        took = bench_now_ns() - start;
    }
    printf("  %u of %u rounds on undisturbed cores\n", kept, tried);
    for (size_t i = 0; i < count; i++)
        cases[i]->rounds = kept < rounds ? kept : rounds;
    if (kept < KEPT_MIN) {
        printf("  too few: what follows is of disturbed ones\n");
        bench_run(cases, count, rounds);
    }
}

double bench_median_ns(const bench_case *what)
{
    static double sorted[BENCH_ROUNDS_MAX];
    memcpy(sorted, what->ns, what->rounds * sizeof *sorted);
    return median(sorted, what->rounds);
}

double bench_ratio(const bench_case *a, const bench_case *b)
{
    static double ratios[BENCH_ROUNDS_MAX];
    for (unsigned i = 0; i < a->rounds; i++)
        ratios[i] = a->ns[i] / b->ns[i];
    return median(ratios, a->rounds);
}

/* Reads "key <= 1.25" or "key >= 12" from budgets.txt. */
static int find_budget(const char *key, char relation[3], double *limit)
{
    FILE *file = fopen(SONDE_BUDGETS, "r");
    if (!file)
        return 0;
    char line[256], name[128];
    int found = 0;
    while (!found && fgets(line, sizeof line, file))
        found = sscanf(line, "%127s %2s %lf", name, relation, limit) == 3 && strcmp(name, key) == 0;
    fclose(file);
    return found;
}

void bench_check(const char *key, double ratio)
{
    char relation[3];
    double limit;
    if (!find_budget(key, relation, &limit)) {
        printf("  %-44s no budget in budgets.txt\n", key);
        failures++;
        return;
    }
    int ok = strcmp(relation, "<=") == 0 ? ratio <= limit : ratio >= limit;
    printf("  %-44s %9.2f x   budget %s %-7g %s\n", key, ratio, relation, limit,
           ok ? "ok" : "OVER");
    fflush(stdout);
    failures += !ok;
}

void bench_note(const char *what, double value, const char *unit)
{
    printf("  %-44s %9.4g %s\n", what, value, unit);
}

void bench_skip(const char *key, const char *reason)
{
    printf("  %-44s skipped: %s\n", key, reason);
    fflush(stdout);
}

void bench_title(const char *text)
{
    printf("\n%s\n", text);
}

int bench_finish(void)
{
    printf("\n%s\n", failures ? "over budget" : "within budget");
    return failures ? 1 : 0;
}
