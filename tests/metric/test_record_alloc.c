/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a scripted run fails, once and from then on: no crash, no hang, and (the
   sanitizer build sees that) no leak. Each run is a process of its own, because what the library
   keeps until the process ends would otherwise be there already. */
#include "../refuse_alloc.h"
#include "guest_test.h"

#include <stdatomic.h>

/* Allocations that still succeed; below 0: all do. persistent: none does after the first that
   failed. */
static _Atomic long allowance = -1;
static bool persistent;
static _Atomic bool failed;

static bool refuse(void)
{
    if (atomic_load(&allowance) < 0 || (failed && !persistent))
        return false;
    if (failed || atomic_fetch_sub(&allowance, 1) == 0) {
        atomic_store(&allowance, 0);
        failed = true;
        return true;
    }
    return false;
}

static void read_back(const char *path)
{
    sonde_reader *reader;
    sonde_record record;
    if (sonde_reader_open(path, NULL, &reader) != SONDE_OK)
        return;
    while (sonde_reader_next(reader, &record) == SONDE_OK)
        ;
    sonde_reader_close(reader);
}

static void collect(void)
{
    sonde_collector *collector;
    sonde_snapshot last;
    const char *text;
    size_t len;
    if (sonde_collector_start(NULL, &collector) == SONDE_OK) {
        sonde_collector_stop(collector);
        sonde_collector_history(collector, &last, 1);
        (void)sonde_collector_json(collector, &text, &len);
        sonde_collector_destroy(collector);
    }
    sonde_metric_set *set = sonde_metric_set_create();
    if (set)
        (void)sonde_metric_set_collect(set);
    sonde_metric_set_destroy(set);
}

/* Some allocation failed; the run needed fewer. A leak is 1 or 23. */
enum { FAILED = 0, ENOUGH = 5 };

static int scripted_run(const void *arg)
{
    allowance = *(const long *)arg;
    sonde_session *session = guest_open("a");
    use_everything();
    char path[128] = "";
    if (session)
        snprintf(path, sizeof path, "%s", sonde_session_path(session));
    sonde_histogram_observe(
        sonde_histogram_get_exact("exact_seconds", "help", SONDE_LABELS("k", "v"), 100), 1);
    collect();
    sonde_close(session);
    if (path[0])
        read_back(path);
    bool some = failed;
    allowance = -1;
    return some ? FAILED : ENOUGH;
}

/* Many at a time: a run whose drain has no memory waits for some, for two seconds. */
static void sweep(bool for_good)
{
#if defined(__SANITIZE_THREAD__)
    enum { AT_ONCE = 8, STEP = 16 }; /* slow, and about races */
#elif defined(__SANITIZE_ADDRESS__)
    enum { AT_ONCE = 8, STEP = 4 };
#else
    enum { AT_ONCE = 32, STEP = 4 };
#endif
    persistent = for_good;
    bool enough = false;
    const char *soak = getenv("SONDE_SOAK");
    long step = soak && *soak == '1' ? 1 : STEP; /* every allocation only in the long tests */
    for (long first = 0; first < 5000 && !enough; first += AT_ONCE * step) {
        pid_t children[AT_ONCE];
        for (long i = 0; i < AT_ONCE; i++) {
            long n = first + i * step;
            children[i] = start_scenario(scripted_run, &n);
        }
        for (long i = 0; i < AT_ONCE; i++) {
            int code = wait_for_scenario(children[i]);
            if (code != FAILED && code != ENOUGH)
                fail_msg("allocation %ld: exit code %d", first + i * step, code);
            enough = enough || code == ENOUGH;
        }
    }
    assert_true(enough);
}

static void test_each_allocation_fails_once(void **state)
{
    (void)state;
    sweep(false);
}

static void test_all_allocations_fail_from_one_on(void **state)
{
    (void)state;
    sweep(true);
}

static int set_up(void **state)
{
    (void)state;
    make_dir();
    /* the recorder alone: the log and the summary allocate as they read, and have tests of their
     * own */
    return setenv("SONDE_JOURNAL_ONLY", "1", 1);
}

static int tear_down(void **state)
{
    (void)state;
    remove_dir();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails_once),
        cmocka_unit_test(test_all_allocations_fail_from_one_on),
    };
    return cmocka_run_group_tests_name("record_alloc", tests, set_up, tear_down);
}
