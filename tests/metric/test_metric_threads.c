/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads, signal handlers and forked children on the same metrics: nothing is lost. Counts
   are reduced; SONDE_SOAK=1 runs the full ones. */
#include "metric_test.h"
#include "sonde/sonde.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sonde_counter *counter;
static sonde_histogram *histogram;
static sonde_gauge *gauge;

/* --- threads --- */

enum { THREADS = 8, EACH = 100000 };

static void *add_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < EACH; i++) {
        sonde_counter_add(counter, 2);
        sonde_histogram_observe(histogram, 1 + i % 10);
        if (i % 100 == 0)
            sonde_gauge_inc(gauge);
    }
    return NULL;
}

static _Atomic int reading;

static void *read_all_the_time(void *arg)
{
    sonde_metric_set *set = arg;
    uint64_t last = 0;
    while (reading) {
        sonde_metric_set_collect(set);
        const sonde_metric *metric = sonde_metric_set_find(set, "threads_total", NULL);
        assert_true(metric->counter >= last);
        last = metric->counter;
    }
    return NULL;
}

static void test_threads_at_once(void **state)
{
    (void)state;
    counter = sonde_counter_get("threads_total", NULL, NULL);
    histogram = sonde_histogram_get("threads_seconds", NULL, NULL);
    gauge = sonde_gauge_get("threads", NULL, NULL);
    pthread_t threads[THREADS];
    pthread_t reader;
    sonde_metric_set *set = sonde_metric_set_create();
    reading = 1;
    pthread_create(&reader, NULL, read_all_the_time, set);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add_many, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    reading = 0;
    pthread_join(reader, NULL);
    assert_int_equal(sonde_counter_value(counter), 2 * THREADS * EACH);
    assert_same(sonde_gauge_value(gauge), THREADS * EACH / 100);
    sonde_metric_set_collect(set);
    const sonde_distribution *all = sonde_metric_set_find(set, "threads_seconds", NULL)->histogram;
    assert_int_equal(all->count, THREADS * EACH);
    assert_same(all->sum, 5.5 * THREADS * EACH);
    sonde_metric_set_destroy(set);
}

static void *add_once(void *arg)
{
    (void)arg;
    sonde_counter_add(counter, 1);
    sonde_histogram_observe(histogram, 3);
    return NULL;
}

static void test_short_threads_reuse_cells(void **state)
{
    (void)state;
    const int count = soak() ? 100000 : 4000;
    counter = sonde_counter_get("short_total", NULL, NULL);
    histogram = sonde_histogram_get("short_seconds", NULL, NULL);
    add_once(NULL);
    sonde_metric_stats before;
    sonde_metric_stats_get(&before);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, add_once, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(sonde_counter_value(counter), count + 1);
    assert_int_equal(sonde_histogram_count(histogram), count + 1);
    sonde_metric_stats after;
    sonde_metric_stats_get(&after);
    assert_true(after.lanes <= before.lanes + 2);
    assert_true(after.blocks <= before.blocks + 2);
}

static pthread_barrier_t together;

static void *add_together(void *arg)
{
    add_once(arg);
    pthread_barrier_wait(&together);
    add_once(arg);
    return NULL;
}

/* More threads than there are lanes: those beyond share. */
static void test_thousand_threads_at_once(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    static pthread_t threads[MANY];
    counter = sonde_counter_get("many_total", NULL, NULL);
    histogram = sonde_histogram_get("many_seconds", NULL, NULL);
    pthread_barrier_init(&together, NULL, MANY);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(pthread_create(&threads[i], &attr, add_together, NULL), 0);
    for (int i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attr);
    assert_int_equal(sonde_counter_value(counter), 2 * MANY);
    assert_int_equal(sonde_histogram_count(histogram), 2 * MANY);
}

/* --- signal handlers --- */

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    sonde_counter_add(counter, 1);
    sonde_histogram_observe(histogram, 2);
    handled++;
}

static void test_handlers_lose_nothing(void **state)
{
    (void)state;
    const int wanted = soak() ? 1000000 : 20000;
    counter = sonde_counter_get("handler_total", NULL, NULL);
    histogram = sonde_histogram_get("handler_seconds", NULL, NULL);
    sonde_counter_add(counter, 0);
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;
    sigaction(SIGUSR1, &action, &before);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    struct itimerspec often = {{0, 10000}, {0, 10000}};
    timer_settime(timer, 0, &often, NULL);
    uint64_t own = 0;
    while (handled < wanted)
        for (int i = 0; i < 1000; i++, own++) {
            sonde_counter_add(counter, 1);
            sonde_histogram_observe(histogram, 1);
        }
    timer_delete(timer);
    sigaction(SIGUSR1, &before, NULL);
    uint64_t all = own + (uint64_t)handled;
    assert_int_equal(sonde_counter_value(counter), all);
    sonde_histogram_reading *now = sonde_histogram_reading_create();
    const sonde_distribution *read = sonde_histogram_read(histogram, now);
    assert_int_equal(read->count, all);
    assert_same(read->sum, (double)own + 2.0 * handled);
    sonde_histogram_reading_destroy(now);
}

/* --- fork --- */

static int child_body(void)
{
    if (sonde_counter_value(counter) != 0)
        return 1;
    sonde_gauge_set(gauge, 5);
    sonde_counter_add(counter, 3);
    sonde_histogram_observe(histogram, 4);
    if (sonde_counter_value(counter) != 3 || sonde_histogram_count(histogram) != 1)
        return 2;
    if (sonde_gauge_value(gauge) != 5)
        return 3;
    sonde_metric_set *set = sonde_metric_set_create();
    if (sonde_metric_set_collect(set) != SONDE_OK ||
        sonde_metric_set_find(set, "fork_total", NULL)->counter != 3)
        return 4;
    sonde_metric_set_destroy(set);
    return sonde_counter_get("fork_total", NULL, NULL) == counter ? 0 : 5;
}

static void test_child_starts_from_zero(void **state)
{
    (void)state;
    counter = sonde_counter_get("fork_total", NULL, NULL);
    histogram = sonde_histogram_get("fork_seconds", NULL, NULL);
    gauge = sonde_gauge_get("fork_level", NULL, NULL);
    sonde_counter_add(counter, 10);
    sonde_gauge_set(gauge, 1);
    const int forks = soak() ? 1000 : 50;
    for (int i = 0; i < forks; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(child_body());
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        sonde_counter_add(counter, 1);
    }
    assert_int_equal(sonde_counter_value(counter), 10 + forks);
    assert_same(sonde_gauge_value(gauge), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_at_once),
        cmocka_unit_test(test_short_threads_reuse_cells),
        cmocka_unit_test(test_thousand_threads_at_once),
        cmocka_unit_test(test_handlers_lose_nothing),
        cmocka_unit_test(test_child_starts_from_zero),
    };
    return cmocka_run_group_tests_name("metric_threads", tests, NULL, NULL);
}
