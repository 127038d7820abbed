/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics against the bare operations they are made of. Two threads hit the same metric at once;
   what one of them alone takes is measured in the same rounds. */
#include "bench.h"
#include "sonde/sonde.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 20000, ROUNDS = 301, VALUES = 4096, LANES = 8, HISTOGRAMS = 10 };

static double values[VALUES];
static sonde_counter *counter;
static sonde_histogram *histogram;
static sonde_family *family;

static __thread struct {
    uint64_t counts[129 * 64];
    double sum;
} bare;
static uint64_t bare_count;
static __thread uint64_t *bare_cell;

/* A counter with one writer as one would write it: the thread's pointer, load, add, store. */
static void floor_counter(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++) {
        uint64_t *cell = bare_cell;
        __atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
        __asm__ volatile("" : : : "memory");
    }
}

static void run_counter(void *arg, unsigned calls)
{
    (void)arg;
    sonde_counter *mine = counter; /* a variable 4096 bytes from the cell would be measured, too */
    for (unsigned i = 0; i < calls; i++)
        sonde_counter_add(mine, 1);
}

/* 64 linear buckets per octave: an index from the bits, a count and a sum, thread-local. */
static void floor_histogram(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++) {
        double value = values[i % VALUES];
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        bare.counts[((bits >> 46) - ((1023u - 64u) << 6)) % (129 * 64)]++;
        bare.sum += value;
        __asm__ volatile("" : : : "memory");
    }
}

static void run_histogram(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++)
        sonde_histogram_observe(histogram, values[i % VALUES]);
}

/* A look-up by two strings as one would write it: hash, compare, add. */
static struct {
    const char *a, *b;
    uint64_t count;
} bare_table[256];

static uint64_t hash_text(uint64_t hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (uint8_t)text[i]) * 1099511628211u;
    return hash;
}

static const char *const methods[] = {"GET", "POST", "PUT", "DELETE"};
static const char *const codes[] = {"200", "404", "500", "302"};

static uint64_t *bare_find(const char *a, const char *b)
{
    uint64_t hash = hash_text(1469598103934665603u, a, strlen(a));
    hash = hash_text(hash, b, strlen(b));
    for (uint64_t i = hash;; i++) {
        size_t at = i % 256;
        if (!bare_table[at].a) {
            bare_table[at].a = a;
            bare_table[at].b = b;
        }
        if (strcmp(bare_table[at].a, a) == 0 && strcmp(bare_table[at].b, b) == 0)
            return &bare_table[at].count;
    }
}

static void floor_labels(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++) {
        ++*bare_find(methods[i & 3], codes[i >> 2 & 3]);
        __asm__ volatile("" : : : "memory");
    }
}

static void run_labels(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++)
        sonde_counter_add(
            sonde_counter_with(family, SONDE_VALUES(methods[i & 3], codes[i >> 2 & 3])), 1);
}

/* A second thread doing the same for as long as a round lasts. */
typedef struct rival {
    void (*run)(void *arg, unsigned calls);
    pthread_t thread;
    _Atomic int turn; /* 0: idle, 1: at it, 2: end */
} rival;

static void *rival_main(void *arg)
{
    rival *mine = arg;
    mine->run(NULL, 1);
    for (;;) {
        int turn = mine->turn;
        if (turn == 2)
            return NULL;
        if (turn == 1)
            mine->run(NULL, 1000);
        else
            usleep(50);
    }
}

static rival rivals[2] = {{.run = run_counter}, {.run = run_histogram}};

static void beside(void *arg, unsigned calls)
{
    rival *other = arg;
    other->turn = 1;
    other->run(NULL, calls);
    other->turn = 0;
}

static void bench_hot(void)
{
    bench_title("adding: against the bare operation, and with a second thread on the same metric");
    static bench_case counter_floor = {
        .name = "counter floor", .run = floor_counter, .calls = CALLS};
    static bench_case counter_one = {.name = "counter", .run = run_counter, .calls = CALLS};
    static bench_case counter_two = {
        .name = "two", .run = beside, .arg = &rivals[0], .calls = CALLS};
    static bench_case histogram_floor = {
        .name = "histogram floor", .run = floor_histogram, .calls = CALLS};
    static bench_case histogram_one = {.name = "histogram", .run = run_histogram, .calls = CALLS};
    static bench_case histogram_two = {
        .name = "two", .run = beside, .arg = &rivals[1], .calls = CALLS};
    static bench_case labels_floor = {
        .name = "labels floor", .run = floor_labels, .calls = CALLS / 10};
    static bench_case labels = {.name = "labels", .run = run_labels, .calls = CALLS / 10};
    bench_case *cases[] = {&counter_floor, &counter_one,   &counter_two,  &histogram_floor,
                           &histogram_one, &histogram_two, &labels_floor, &labels};
    for (int i = 0; i < 2; i++)
        pthread_create(&rivals[i].thread, NULL, rival_main, &rivals[i]);
    bench_run(cases, sizeof cases / sizeof *cases, ROUNDS);
    for (int i = 0; i < 2; i++) {
        rivals[i].turn = 2;
        pthread_join(rivals[i].thread, NULL);
    }
    bench_note("counter floor", bench_median_ns(&counter_floor), "ns");
    bench_note("counter add", bench_median_ns(&counter_one), "ns");
    bench_note("histogram observe", bench_median_ns(&histogram_one), "ns");
    bench_note("counter by two labels", bench_median_ns(&labels), "ns");
    bench_check("metric.counter.by_floor", bench_ratio(&counter_one, &counter_floor));
    bench_check("metric.histogram.by_floor", bench_ratio(&histogram_one, &histogram_floor));
    bench_check("metric.counter.two_threads", bench_ratio(&counter_two, &counter_one));
    bench_check("metric.histogram.two_threads", bench_ratio(&histogram_two, &histogram_one));
    bench_check("metric.labels.by_hash_lookup", bench_ratio(&labels, &labels_floor));
}

/* --- reading --- */

static sonde_histogram *many[50];

static void fill_lane(unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned h = 0; h < HISTOGRAMS; h++)
            for (unsigned i = 0; i < VALUES; i++)
                sonde_histogram_observe(many[h], values[i]);
}

static sonde_metric_set *set;
static const sonde_distribution *merged;
static volatile double sink;

static void run_collect(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++)
        sonde_metric_set_collect(set);
}

static void run_percentile(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++)
        sink = sonde_distribution_percentile(merged, 99);
}

/* Threads that all live at once, so that each has a lane. */
typedef struct crew {
    pthread_barrier_t done;
    unsigned rounds;
} crew;

static void *crew_main(void *arg)
{
    crew *mine = arg;
    fill_lane(mine->rounds);
    pthread_barrier_wait(&mine->done);
    return NULL;
}

static void fill_lanes(unsigned rounds)
{
    crew all = {.rounds = rounds};
    pthread_t threads[LANES];
    pthread_barrier_init(&all.done, NULL, LANES);
    for (int i = 0; i < LANES; i++)
        pthread_create(&threads[i], NULL, crew_main, &all);
    for (int i = 0; i < LANES; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all.done);
}

static void bench_reading(void)
{
    bench_title("reading 10 histograms of 8 threads after 100 million observations");
    static bench_case few = {.name = "collect", .run = run_collect, .calls = 20};
    static bench_case lots = {.name = "collect", .run = run_collect, .calls = 20};
    static bench_case percentile = {.name = "p99", .run = run_percentile, .calls = 2000};
    fill_lanes(1);
    set = sonde_metric_set_create();
    bench_case *first[] = {&few};
    bench_run(first, 1, 51);
    fill_lanes(100000000u / (LANES * HISTOGRAMS * VALUES));
    sonde_metric_set_collect(set);
    merged = sonde_metric_set_find(set, "bench_many_seconds", SONDE_LABELS("n", "0"))->histogram;
    bench_case *second[] = {&lots, &percentile};
    bench_run(second, 2, 51);
    bench_note("observations", (double)merged->count * HISTOGRAMS, "");
    bench_check("metric.snapshot.microseconds", bench_median_ns(&lots) / 1000);
    bench_check("metric.snapshot.by_number", bench_median_ns(&lots) / bench_median_ns(&few));
    bench_check("metric.percentile.microseconds", bench_median_ns(&percentile) / 1000);
    sonde_metric_set_destroy(set);
}

int main(void)
{
    bare_cell = &bare_count;
    srand(1);
    for (unsigned i = 0; i < VALUES; i++)
        values[i] = exp(-7.0 + 2.0 * (double)rand() / RAND_MAX + (double)(rand() % 3));
    counter = sonde_counter_get("bench_total", NULL, NULL);
    histogram = sonde_histogram_get("bench_seconds", NULL, NULL);
    family = sonde_counter_family("bench_requests_total", NULL, SONDE_KEYS("method", "code"));
    for (int i = 0; i < HISTOGRAMS; i++) {
        char text[8] = {(char)('0' + i), '\0'};
        many[i] = sonde_histogram_get("bench_many_seconds", NULL, SONDE_LABELS("n", text));
    }
    bench_hot();
    bench_reading();
    return bench_finish();
}
