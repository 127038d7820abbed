/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes in one session: joined by environment, or forked. */
#include "patient_fork.h"
#include "record_load.h"

#include <sys/wait.h>

static char shm[32];

enum { THREADS = 8, TASKS = 2000, ID_PROCESSES = 8, ID_TASKS = 100000 };

static int joiner(void)
{
    sonde_session *session;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.full_wait_ns = 30000000000u;
    if (sonde_open("ignored", &options, &session) != SONDE_OK)
        return 1;
    load_board *board = load_board_new();
    load_run(board, THREADS, TASKS);
    sonde_close(session);
    return 0;
}

/* A process that opens no session itself: its first record joins. */
static int silent_joiner(void)
{
    sonde_task_end(sonde_task_begin(SONDE_NAME("silent")));
    return 0;
}

static void run_self(const char *mode)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "test_record_join", mode, (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void two_processes_by_environment(void **state)
{
    (void)state;
    char *dir = make_folder();
    sonde_session *session = open_in(dir, "joined");
    sonde_task parent = sonde_task_begin(SONDE_NAME("parent"));
    uint64_t parent_id = sonde_task_context(parent).span;
    assert_int_equal(sonde_session_export(session), SONDE_OK);
    run_self("joiner");
    run_self("silent");
    unsetenv("SONDE_SESSION");
    unsetenv("TRACEPARENT");
    load_board *board = load_board_new();
    load_run(board, THREADS, TASKS);
    sonde_task_end(parent);
    sonde_close(session);

    sonde_reader *reader = read_in(dir, "joined");
    assert_int_equal(sonde_reader_run_count(reader), 3);
    uint64_t opener = sonde_reader_run(reader, 0)->run;
    assert_true(sonde_reader_run(reader, 0)->opener);
    sonde_record r;
    uint64_t last = 0;
    uint64_t work[2] = {0};
    uint64_t outer_ids[2][THREADS];
    uint64_t outers[2] = {0};
    uint64_t wrong = 0;
    while (sonde_reader_next(reader, &r) == SONDE_OK) {
        if (r.kind != SONDE_RECORD_TASK)
            continue;
        assert_true(r.end_wall_ns >= last); /* one order of time over all processes */
        last = r.end_wall_ns;
        unsigned side = r.run != opener;
        assert_true(r.trace_hi == sonde_reader_run(reader, 0)->trace_hi);
        if (name_is(&r, "work")) {
            work[side]++;
        } else if (name_is(&r, "outer")) {
            outer_ids[side][outers[side]++] = r.id;
            wrong += side == 1 ? r.parent != parent_id : r.parent != 0;
        } else if (name_is(&r, "silent")) {
            assert_int_equal(r.parent, parent_id);
        }
    }
    sonde_reader_close(reader);
    assert_int_equal(wrong, 0);
    assert_int_equal(work[0], THREADS * TASKS);
    assert_int_equal(work[1], THREADS * TASKS);
    assert_int_equal(outers[0], THREADS);
    assert_int_equal(outers[1], THREADS);
    reader = read_in(dir, "joined");
    while (sonde_reader_next(reader, &r) == SONDE_OK)
        if (r.kind == SONDE_RECORD_TASK && name_is(&r, "work")) {
            unsigned found = 0;
            for (unsigned i = 0; i < THREADS; i++)
                found += outer_ids[r.run != opener][i] == r.parent;
            assert_int_equal(found, 1);
        }
    sonde_reader_close(reader);
    assert_int_equal(segments_left(), 0);
    remove_folder(dir);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void ids_are_unique_across_processes(void **state)
{
    (void)state;
    skip_under_tsan();
    char *dir = make_folder();
    sonde_session *session = open_in(dir, "ids");
    pid_t pids[ID_PROCESSES];
    for (int p = 0; p < ID_PROCESSES; p++) {
        pids[p] = fork();
        if (pids[p] == 0) { /* the child goes on in the same session, in a run of its own */
            for (int i = 0; i < ID_TASKS; i++)
                sonde_task_end(sonde_task_begin(SONDE_NAME("work")));
            sonde_close(session);
            _exit(0);
        }
    }
    for (int p = 0; p < ID_PROCESSES; p++) {
        int status;
        waitpid(pids[p], &status, 0);
        assert_int_equal(status, 0);
    }
    sonde_close(session);
    uint64_t *ids = malloc((size_t)ID_PROCESSES * ID_TASKS * sizeof *ids);
    size_t count = 0;
    uint64_t lost = 0;
    sonde_reader *reader = read_in(dir, "ids");
    assert_int_equal(sonde_reader_run_count(reader), ID_PROCESSES + 1);
    sonde_record r;
    while (sonde_reader_next(reader, &r) == SONDE_OK) {
        if (r.kind == SONDE_RECORD_TASK)
            ids[count++] = r.id;
        if (r.kind == SONDE_RECORD_LOSS)
            lost += r.count;
    }
    sonde_reader_close(reader);
    assert_int_equal(count + lost, ID_PROCESSES * ID_TASKS);
    qsort(ids, count, sizeof *ids, by_value);
    for (size_t i = 1; i < count; i++)
        assert_true(ids[i] != ids[i - 1]);
    print_message("%zu ids of %d processes, all different\n", count, ID_PROCESSES);
    free(ids);
    assert_int_equal(segments_left(), 0);
    remove_folder(dir);
}

static void a_forked_child_hangs_on_its_parents_task(void **state)
{
    (void)state;
    skip_under_tsan();
    char *dir = make_folder();
    sonde_session *session = open_in(dir, "fork");
    sonde_task outer = sonde_task_begin(SONDE_NAME("outer"));
    uint64_t outer_id = sonde_task_context(outer).span;
    pid_t pid = fork();
    if (pid == 0) {
        sonde_task_end(outer); /* not ours any more: nothing happens */
        sonde_task_end(sonde_task_begin(SONDE_NAME("child")));
        exit(0); /* the handler at exit closes */
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    sonde_task_end(outer);
    sonde_close(session);
    sonde_reader *reader = read_in(dir, "fork");
    sonde_record r;
    unsigned outers = 0;
    unsigned children = 0;
    while (sonde_reader_next(reader, &r) == SONDE_OK) {
        outers += r.kind == SONDE_RECORD_TASK && name_is(&r, "outer");
        if (r.kind == SONDE_RECORD_TASK && name_is(&r, "child")) {
            children++;
            assert_int_equal(r.parent, outer_id);
        }
    }
    assert_int_equal(outers, 1);
    assert_int_equal(children, 1);
    sonde_reader_close(reader);
    assert_int_equal(segments_left(), 0);
    remove_folder(dir);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return strcmp(argv[1], "joiner") == 0 ? joiner() : silent_joiner();
    private_shm(shm);
    patient_fork();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_processes_by_environment),
        cmocka_unit_test(ids_are_unique_across_processes),
        cmocka_unit_test(a_forked_child_hangs_on_its_parents_task),
    };
    int failed = cmocka_run_group_tests_name("record_join", tests, NULL, NULL);
    rmdir(shm);
    return failed;
}
