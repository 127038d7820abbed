/* SPDX-License-Identifier: Apache-2.0 */
/* Records from signal handlers, at any moment of a thread's life: while it claims its lane,
   resolves a name, holds the shared lane, is inside malloc, or ends. Nothing hangs, and what was
   sent is stored or counted. */
#include "record_load.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static char shm[32];
static _Atomic uint64_t from_handlers;
static _Atomic int hold_names; /* every handler makes a name of its own */

static void on_signal(int number)
{
    (void)number;
    int saved = errno;
    static _Atomic unsigned serial;
    char text[] = "handler00000";
    unsigned n = atomic_fetch_add(&serial, 1) % 4000;
    for (int i = 0; i < 5; i++, n /= 10)
        text[11 - i] = (char)('0' + n % 10);
    sonde_name fresh = SONDE_NAME_INIT(text);
    sonde_task task = sonde_task_begin(hold_names ? &fresh : SONDE_NAME("handler"));
    sonde_task_int(task, SONDE_USED, SONDE_NAME("handler"), 1);
    sonde_task_end(task);
    atomic_fetch_add(&from_handlers, 1);
    errno = saved;
}

static void install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
}

enum { TASKS = 200 };

/* Begins and ends with malloc, so that handlers find it there, without a lane. */
static void *short_thread(void *argument)
{
    (void)argument;
    for (int i = 0; i < 200; i++) {
        void *volatile memory = malloc((size_t)(i % 7 + 1) * 100);
        free(memory);
    }
    for (int i = 0; i < TASKS; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("work"));
        sonde_task_end(task);
    }
    return NULL;
}

/* Every task of a thread is there; those of handlers are there whole, or counted: one whose
   attribute found no place counts as one loss, too. A name that a handler uses for the first time,
   while the thread it interrupts resolves one, stays unknown in that record. */
static void check_all(const char *dir, const char *name, uint64_t work)
{
    sonde_reader *reader = read_in(dir, name);
    sonde_record r;
    uint64_t stored = 0;
    uint64_t handlers = 0;
    uint64_t other = 0;
    while (sonde_reader_next(reader, &r) == SONDE_OK) {
        bool handler = r.kind == SONDE_RECORD_TASK && (int_attr(&r, "handler", 0) == 1 ||
                                                       int_attr(&r, "(too many names)", 0) == 1);
        handlers += handler;
        stored += r.kind == SONDE_RECORD_TASK && name_is(&r, "work");
        other += r.kind == SONDE_RECORD_OPEN;
    }
    sonde_reader_stats stats;
    sonde_reader_stats_get(reader, &stats);
    sonde_reader_close(reader);
    print_message("%s: %llu from handlers = %llu stored + %llu lost; %llu of threads, all stored\n",
                  name, (unsigned long long)atomic_load(&from_handlers),
                  (unsigned long long)handlers, (unsigned long long)stats.lost,
                  (unsigned long long)stored);
    assert_int_equal(stored, work);
    assert_int_equal(other, 0);
    assert_int_equal(stats.missing, 0);
    assert_int_equal(handlers + stats.lost, atomic_load(&from_handlers));
    assert_true(handlers > 0);
}

/* Threads that come and go, signalled all the time. */
static void storm(const char *name, uint64_t segment_bytes_max, bool names)
{
    char *dir = make_folder();
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.full_wait_ns = 30000000000u;
    options.segment_bytes_max = segment_bytes_max;
    sonde_session *session = NULL;
    atomic_store(&from_handlers, 0);
    hold_names = names;
    assert_int_equal(sonde_open(name, &options, &session), SONDE_OK);
    install();
    struct itimerval timer = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &timer, NULL);
    unsigned rounds = soak(60, 2000);
    for (unsigned i = 0; i < rounds; i++) {
        pthread_t ids[4];
        for (int n = 0; n < 4; n++)
            assert_int_equal(pthread_create(&ids[n], NULL, short_thread, NULL), 0);
        for (int k = 0; k < 20; k++)
            for (int n = 0; n < 4; n++)
                pthread_kill(ids[n], k % 2 ? SIGUSR1 : SIGUSR2);
        for (int n = 0; n < 4; n++)
            pthread_join(ids[n], NULL);
    }
    timer = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    sonde_close(session);
    check_all(dir, name, (uint64_t)rounds * 4 * TASKS);
    remove_folder(dir);
}

static void in_threads_with_lanes(void **state)
{
    (void)state;
    storm("lanes", 32 << 20, false);
}

/* There is one lane beside the shared one: most threads have none of their own. */
static void in_threads_without_lanes(void **state)
{
    (void)state;
    storm("shared", 1 << 20, false);
}

static void with_new_names(void **state)
{
    (void)state;
    storm("names", 32 << 20, true);
}

int main(void)
{
    private_shm(shm);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_threads_with_lanes),
        cmocka_unit_test(in_threads_without_lanes),
        cmocka_unit_test(with_new_names),
    };
    int failed = cmocka_run_group_tests_name("record_signal", tests, NULL, NULL);
    rmdir(shm);
    return failed;
}
