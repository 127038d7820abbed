/* SPDX-License-Identifier: Apache-2.0 */
/* Death at any moment: what sonde_task_end returned for is there, exactly once, with no manual
   step, and what was open is listed as open. */
#include "patient_fork.h"
#include "record_load.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static char shm[32];

static void sleep_ns(uint64_t ns)
{
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)}, NULL);
}

/* A child that records until it dies by how; forked: it is a child of the process that opened. */
static pid_t start_victim(const char *dir, load_board *board, unsigned threads, bool forked)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    signal(SIGSEGV, SIG_DFL); /* cmocka's handlers would go on with the next test */
    signal(SIGABRT, SIG_DFL);
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.full_wait_ns = 30000000000u; /* a busy machine may keep the drain from running */
    sonde_session *session;
    if (sonde_open("crash", &options, &session) != SONDE_OK)
        _exit(9);
    if (forked) {
        sonde_task_end(sonde_task_begin(SONDE_NAME("before")));
        pid_t child = fork();
        if (child != 0) {
            int status;
            waitpid(child, &status, 0);
            sonde_close(session);
            _exit(WIFSIGNALED(status) ? WTERMSIG(status) : 8);
        }
        atomic_store(&board->go, (uint32_t)getpid());
    }
    load_run(board, threads, 0);
    _exit(7);
}

static void one_round(unsigned round, int how, bool forked, uint64_t *sent, uint64_t *stored,
                      uint64_t *open_tasks)
{
    char *dir = make_folder();
    load_board *board = load_board_new();
    unsigned threads = 1 + round % LOAD_THREADS_MAX;
    pid_t pid = start_victim(dir, board, threads, forked);
    for (int i = 0; atomic_load(&board->outer) < threads; i++) {
        sleep_ns(100000);
        assert_true(i < 100000);
    }
    sleep_ns((uint64_t)(rand() % 150000000));
    uint32_t inner = atomic_load(&board->go);
    kill(forked ? (pid_t)inner : pid, how);
    int status;
    waitpid(pid, &status, 0);
    if (forked)
        assert_int_equal(WEXITSTATUS(status), how);
    else
        assert_int_equal(WTERMSIG(status), how);
    load_result result = load_check(dir, "crash", board, false);
    assert_int_equal(result.lost, 0);
    assert_int_equal(result.open_outer, threads);
    assert_true(result.open_work <= threads);
    assert_int_equal(segments_left(), 0);
    load_result again = load_check(dir, "crash", board, false);
    assert_int_equal(again.stored, result.stored);
    assert_int_equal(again.open_outer, threads);
    for (unsigned i = 0; i < threads; i++)
        *sent += atomic_load(&board->ended[i]);
    *stored += result.stored;
    *open_tasks += result.open_outer + result.open_work;
    munmap(board, sizeof *board);
    remove_folder(dir);
}

static void rounds_of(const char *what, unsigned rounds, int how, bool forked)
{
    uint64_t sent = 0;
    uint64_t stored = 0;
    uint64_t open_tasks = 0;
    for (unsigned i = 0; i < rounds; i++)
        one_round(i, how, forked, &sent, &stored, &open_tasks);
    print_message("%s: %u rounds, %llu tasks ended, %llu recovered, 0 lost, %llu open\n", what,
                  rounds, (unsigned long long)sent, (unsigned long long)stored,
                  (unsigned long long)open_tasks);
    assert_true(stored >= sent);
}

static void killed(void **state)
{
    (void)state;
    rounds_of("SIGKILL", soak(20, 500), SIGKILL, false);
}

static void segmentation_fault(void **state)
{
    (void)state;
    rounds_of("SIGSEGV", soak(4, 50), SIGSEGV, false);
}

static void aborted(void **state)
{
    (void)state;
    rounds_of("SIGABRT", soak(4, 50), SIGABRT, false);
}

static void forked_child_killed(void **state)
{
    (void)state;
    skip_under_tsan();
    rounds_of("SIGKILL of a forked child", soak(4, 50), SIGKILL, true);
}

int main(void)
{
    private_shm(shm);
    patient_fork();
    srand((unsigned)time(NULL));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),
        cmocka_unit_test(segmentation_fault),
        cmocka_unit_test(aborted),
        cmocka_unit_test(forked_child_killed),
    };
    int failed = cmocka_run_group_tests_name("record_crash", tests, NULL, NULL);
    rmdir(shm);
    return failed;
}
