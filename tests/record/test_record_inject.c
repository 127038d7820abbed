/* SPDX-License-Identifier: Apache-2.0 */
/* Every system call by which the journal and the segment are made, written, synced and removed
   fails once, in turn: the program ends as ever, and what it sent is stored or counted, exactly.
   strace puts the errors in; calls on the journal are told from those of the rest of the program by
   the journal's path. */
#include "record_load.h"

#include <fcntl.h>
#include <sys/wait.h>

enum { SKIPPED = 77, NO_SESSION = 4, THREADS = 2 };

static char shm[32];

typedef struct attempt {
    const char *call;
    const char *error;
    const char *mode;
    bool journal; /* only calls on the journal's files */
    uint64_t tasks;
} attempt;

static char *put_path(char *out, size_t size, const char *dir, const char *name)
{
    snprintf(out, size, "%s/%s", dir, name);
    return out;
}

static bool is_kill(const attempt *what)
{
    return strcmp(what->error, "SIGKILL") == 0;
}

static pid_t start(const attempt *what, int when, const char *dir)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char inject[120];
    char worker[600];
    char log[100];
    char board[100];
    char tasks[24];
    char parts[40][100];
    const char *argv[140] = {"strace", "-f", "-qqq", "-e", "signal=none"};
    int argc = 5;
    snprintf(inject, sizeof inject, "inject=%s:%s=%s:when=%d", what->call,
             is_kill(what) ? "signal" : "error", what->error, when);
    argv[argc++] = "-e";
    argv[argc++] = inject;
    argv[argc++] = "-o";
    argv[argc++] = put_path(log, sizeof log, dir, "log");
    for (int i = 1; what->journal && i <= 40; i++) {
        char name[32];
        snprintf(name, sizeof name, i == 1 ? "traced.sonde" : "traced.p%d.sonde", i);
        argv[argc++] = "-P";
        argv[argc++] = put_path(parts[i - 1], sizeof parts[i - 1], dir, name);
    }
    snprintf(tasks, sizeof tasks, "%llu", (unsigned long long)what->tasks);
    snprintf(worker, sizeof worker, "%s/record_worker", SONDE_BIN_DIR);
    argv[argc++] = worker;
    argv[argc++] = dir;
    argv[argc++] = "traced";
    argv[argc++] = put_path(board, sizeof board, dir, "board");
    argv[argc++] = tasks;
    argv[argc++] = what->mode;
    execvp("strace", (char **)(void *)argv);
    _exit(SKIPPED);
}

static bool was_injected(const char *dir)
{
    char path[100];
    static char text[4 << 20];
    FILE *file = fopen(put_path(path, sizeof path, dir, "log"), "r");
    if (!file)
        return false;
    size_t len = fread(text, 1, sizeof text - 1, file);
    text[len] = '\0';
    fclose(file);
    return strstr(text, "INJECTED") != NULL;
}

/* The process died: all that had ended is stored or counted, and at most what was under way more.
 */
static void check_killed(const char *dir)
{
    char path[100];
    load_board board;
    int fd = open(put_path(path, sizeof path, dir, "board"), O_RDONLY);
    assert_int_equal(read(fd, &board, sizeof board), sizeof board);
    close(fd);
    if (access(put_path(path, sizeof path, dir, "traced.sonde"), F_OK) != 0)
        return; /* it died before it had made anything */
    load_result result = {0};
    for (int tries = 0; tries == 0 || (segments_left() > 0 && tries < 200); tries++) {
        if (tries > 0) /* the kernel may still be taking the process apart, and its lock with it */
            usleep(10000);
        result = load_check(dir, "traced", NULL, true);
    }
    assert_int_equal(segments_left(), 0);
    uint64_t ended = 0;
    for (unsigned i = 0; i < THREADS; i++)
        ended += atomic_load(&board.ended[i]);
    assert_in_range(result.stored + result.lost + result.outer, ended, ended + 2 * THREADS);
}

/* One run with the call failing when it is made for the when-th time. False: it was not. */
static bool one(const attempt *what, int when, uint64_t *lost)
{
    char dir[64];
    char path[100];
    strcpy(dir, make_folder());
    int fd = open(put_path(path, sizeof path, dir, "board"), O_RDWR | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, sizeof(load_board)), 0);
    close(fd);
    int status;
    waitpid(start(what, when, dir), &status, 0);
    if (is_kill(what) && WIFSIGNALED(status)) {
        check_killed(dir);
        remove_folder(dir);
        return true;
    }
    assert_true(WIFEXITED(status));
    int code = WEXITSTATUS(status);
    if (code == SKIPPED || code == 1) {
        remove_folder(dir);
        print_message("skipped: strace cannot trace here\n");
        skip();
    }
    bool injected = was_injected(dir);
    if (code == NO_SESSION) { /* the program was told, and goes on without */
        assert_true(injected);
    } else {
        assert_int_equal(code, 0);
        load_result result = load_check(dir, "traced", NULL, true);
        assert_int_equal(result.stored + result.outer + result.lost, THREADS * (what->tasks + 1));
        *lost += result.lost;
    }
    assert_int_equal(segments_left(), 0);
    remove_folder(dir);
    return injected;
}

static void sweep(attempt what)
{
    unsigned points = 0;
    uint64_t lost = 0;
    unsigned most = soak(10, 400);
    for (int i = 1; points < most && one(&what, i, &lost); i += i < 6 ? 1 : (int)soak(5, 1))
        points++;
    print_message("%s %s%s%s: %u points, %llu counted as lost\n", what.call, what.error,
                  what.mode ? ", " : "", what.mode ? what.mode : "", points,
                  (unsigned long long)lost);
    assert_true(points > 0);
}

static void of_one_file(void **state)
{
    (void)state;
    sweep((attempt){"pwritev", "EIO", NULL, true, 3000});
    sweep((attempt){"pwritev", "ENOSPC", NULL, true, 3000});
    sweep((attempt){"openat", "EIO", NULL, true, 3000});
    sweep((attempt){"newfstatat,fstat", "EIO", NULL, true, 3000});
    sweep((attempt){"fdatasync", "EIO", "durable", true, 3000});
    sweep((attempt){"fdatasync", "ENOSPC", "durable", true, 3000});
}

static void of_parts(void **state)
{
    (void)state;
    sweep((attempt){"openat", "ENOSPC", "last", true, 40000});
    sweep((attempt){"pwritev", "ENOSPC", "last", true, 40000});
    sweep((attempt){"unlink", "EIO", "last", true, 40000});
    sweep((attempt){"pwritev", "EIO", "stop", true, 40000});
    sweep((attempt){"openat", "SIGKILL", "last", true, 40000});
    sweep((attempt){"pwritev", "SIGKILL", "last", true, 40000});
    sweep((attempt){"unlink", "SIGKILL", "last", true, 40000});
    sweep((attempt){"pwritev", "SIGKILL", "stop", true, 40000});
}

/* The segment: without it, or with fewer lanes, recording goes on. */
static void of_the_segment(void **state)
{
    (void)state;
    sweep((attempt){"fallocate", "ENOSPC", NULL, false, 3000});
    sweep((attempt){"fallocate", "EIO", NULL, false, 3000});
    sweep((attempt){"ftruncate", "ENOSPC", NULL, false, 3000});
    sweep((attempt){"flock", "EIO", NULL, false, 3000});
}

int main(void)
{
    private_shm(shm);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_one_file),
        cmocka_unit_test(of_parts),
        cmocka_unit_test(of_the_segment),
    };
    int failed = cmocka_run_group_tests_name("record_inject", tests, NULL, NULL);
    rmdir(shm);
    return failed;
}
