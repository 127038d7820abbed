/* SPDX-License-Identifier: Apache-2.0 */
/* A process and its descendants: a recorded tree that changes, and a living one that forks, ends
   and reparents while it is read. */
#include "machine_copy.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#define F(name) SONDE_FIELD_##name

static sonde_capture *open_tree(const char *root, int pid, sonde_level level)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = root;
    options.types = SONDE_CAPTURE_TREE;
    options.pid = pid;
    options.level = level;
    return open_options(&options);
}

static void assert_whole_tree(const sonde_telemetry *now)
{
    assert_uint(now, F(TREE_PROCESSES), 5);
    assert_uint(now, F(TREE_THREADS), 10);
    assert_double(now, F(TREE_USER), ticks(100 + 1000 + 200 + 300 + 400 + 500));
    assert_double(now, F(TREE_SYSTEM), ticks(50 + 500 + 20 + 30 + 40 + 60));
    assert_uint(now, F(TREE_RSS), pages(1500));
    assert_uint(now, F(TREE_READ_BYTES), 16384);
    assert_uint(now, F(TREE_WRITE_BYTES), 32768);
    assert_uint(now, F(TREE_READ_CHARS), 163840);
    assert_uint(now, F(TREE_WRITE_CHARS), 327680);
}

static void recorded_tree(void **state)
{
    (void)state;
    sonde_capture *capture = open_tree(FIXTURES "process_tree", 100, SONDE_LEVEL_FULL);
    const sonde_telemetry *now = read_now(capture);
    assert_whole_tree(now);
    assert_uint(now, F(TREE_PSS), KIB(2000));
    assert_double(now, F(TREE_CPU_PERCENT), 0);
    sonde_capture_close(capture);
    capture = open_tree(FIXTURES "process_tree", 100, SONDE_LEVEL_REGULAR);
    assert_reason(read_now(capture), F(TREE_PSS), SONDE_EOFF);
    sonde_capture_close(capture);
    capture = open_tree(FIXTURES "process_tree", 102, SONDE_LEVEL_FULL);
    assert_uint(read_now(capture), F(TREE_PROCESSES), 2);
    sonde_capture_close(capture);
}

/* Kernels without CONFIG_PROC_CHILDREN: the same tree from the parents that processes name. */
static void without_lists_of_children(void **state)
{
    (void)state;
    static const char *const lists[] = {"proc/100/task/100/children", "proc/101/task/101/children",
                                        "proc/101/task/150/children", "proc/102/task/102/children",
                                        "proc/103/task/103/children", "proc/104/task/104/children"};
    machine_copy("process_tree");
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        char path[MACHINE_PATH_BYTES];
        machine_path(path, lists[i]);
        assert_int_equal(unlink(path), 0);
    }
    sonde_capture *capture = open_tree(machine_root, 100, SONDE_LEVEL_FULL);
    assert_whole_tree(read_now(capture));
    sonde_capture_close(capture);
}

static void remove_process(int pid)
{
    char path[MACHINE_PATH_BYTES], name[32];
    snprintf(name, sizeof name, "proc/%d", pid);
    machine_path(path, name);
    assert_int_equal(nftw(path, remove_entry, 16, FTW_PHYS | FTW_DEPTH), 0);
}

/* 102 ends and 104 goes to init: 104 stays, and what 102 used is in 100 once it was waited for. */
static void an_orphan_stays_and_its_time_is_kept(void **state)
{
    (void)state;
    machine_copy("process_tree");
    sonde_capture *capture = open_tree(machine_root, 100, SONDE_LEVEL_FULL);
    assert_whole_tree(read_now(capture));
    remove_process(102);
    machine_text("proc/100/task/100/children", "101 ");
    machine_replace("proc/100/stat", " 1000 500 ", " 1300 530 "); /* with 102's 300 and 30 */
    machine_replace("proc/104/stat", ") S 102 ", ") S 1 ");
    const sonde_telemetry *now = read_now(capture);
    assert_uint(now, F(TREE_PROCESSES), 4);
    assert_double(now, F(TREE_USER), ticks(2500));
    assert_double(now, F(TREE_SYSTEM), ticks(700));
    remove_process(104); /* init waited for it: nobody here has its time */
    now = read_now(capture);
    assert_uint(now, F(TREE_PROCESSES), 3);
    assert_double(now, F(TREE_USER), ticks(2500));
    assert_double(now, F(TREE_SYSTEM), ticks(700));
    assert_double(read_now(capture), F(TREE_USER), ticks(2500)); /* and once only */
    sonde_capture_close(capture);
}

/* The id of 102 is used again by a process that has nothing to do with the tree. */
static void an_id_used_again_is_another_process(void **state)
{
    (void)state;
    machine_copy("process_tree");
    sonde_capture *capture = open_tree(machine_root, 100, SONDE_LEVEL_FULL);
    assert_whole_tree(read_now(capture));
    machine_replace("proc/102/stat", ") S 100 ", ") S 1 ");
    machine_replace("proc/102/stat", " 5200 ", " 9000 ");
    machine_text("proc/102/task/102/children", "");
    machine_replace("proc/104/stat", ") S 102 ", ") S 1 ");
    const sonde_telemetry *now = read_now(capture);
    assert_uint(now, F(TREE_PROCESSES), 4); /* 104 is an orphan, 102 is no member */
    sonde_capture_close(capture);
}

static void a_process_that_may_not_be_read(void **state)
{
    (void)state;
    machine_copy("process_tree");
    machine_text("proc/103/io", "garbled\n");
    machine_text("proc/103/smaps_rollup", "garbled\n");
    sonde_capture *capture = open_tree(machine_root, 100, SONDE_LEVEL_FULL);
    const sonde_telemetry *now = read_now(capture);
    assert_reason(now, F(TREE_READ_BYTES), SONDE_EBADDATA); /* a sum with a hole is none */
    assert_reason(now, F(TREE_PSS), SONDE_EABSENT);
    assert_uint(now, F(TREE_RSS), pages(1500));
    remove_process(100);
    assert_reason(read_now(capture), F(TREE_PROCESSES), SONDE_EGONE);
    sonde_capture_close(capture);
}

static void burn(long ms)
{
    struct timespec start, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

/* For a while: children that burn and end, children that leave an orphan behind. */
static void live_and_fork(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (i % 2 && fork() == 0) {
                burn(15);
                _exit(0); /* reparented by now */
            }
            burn(10);
            _exit(0);
        }
        burn(5);
        if (i % 3)
            waitpid(child, NULL, 0);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

static double cpu_of_children(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double tree_cpu(const sonde_telemetry *now)
{
    return double_of(now, F(TREE_USER)) + double_of(now, F(TREE_SYSTEM));
}

/* This process inherits every orphan, so that in the end it knows exactly what the tree used: no
   reading may have said more. A tick of each process is what the kernel rounds. */
static void a_living_tree_never_counts_twice(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    enum { ROUNDS = 40 };
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    double before = cpu_of_children(), highest = 0, last = 0;
    pid_t root = fork();
    if (root == 0) {
        live_and_fork(ROUNDS);
        _exit(0);
    }
    sonde_capture *capture = open_tree(NULL, root, SONDE_LEVEL_REGULAR);
    uint64_t most = 0;
    for (;;) {
        const sonde_telemetry *now = NULL;
        if (sonde_capture_read(capture, &now) != SONDE_OK ||
            sonde_telemetry_status(now, F(TREE_PROCESSES)) != SONDE_OK)
            break;
        uint64_t processes = uint_of(now, F(TREE_PROCESSES));
        most = processes > most ? processes : most;
        last = tree_cpu(now);
        assert_true(last >= highest); /* it never falls */
        highest = last;
        siginfo_t info = {0};
        assert_int_equal(waitid(P_PID, (id_t)root, &info, WEXITED | WNOHANG | WNOWAIT), 0);
        if (info.si_pid == root)
            break;
        usleep(1000);
    }
    sonde_capture_close(capture);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    double used = cpu_of_children() - before;
    if (highest > used + ticks(ROUNDS))
        fail_msg("the tree used %f s, a reading said %f s", used, highest);
    assert_true(highest > used / 4);
    assert_true(most >= 2);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_tree),
        cmocka_unit_test_teardown(without_lists_of_children, machine_teardown),
        cmocka_unit_test_teardown(an_orphan_stays_and_its_time_is_kept, machine_teardown),
        cmocka_unit_test_teardown(an_id_used_again_is_another_process, machine_teardown),
        cmocka_unit_test_teardown(a_process_that_may_not_be_read, machine_teardown),
        cmocka_unit_test(a_living_tree_never_counts_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
