/* SPDX-License-Identifier: Apache-2.0 */
/* The journal cannot be written, or the process dies at any of its system calls: what was sent is
   stored or counted as lost, exactly, and recording goes on when it can. pwritev and fdatasync are
   defined here, and so stand between the library and the kernel. */
#include "record_load.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

static char shm[32];

static struct {
    _Atomic int calls;
    int first; /* call that fails, from 1 */
    int last;
    int error; /* 0: a short write */
    bool sync; /* fdatasync instead of pwritev */
} fault;

ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
{
    int call = fault.sync ? 0 : atomic_fetch_add(&fault.calls, 1) + 1;
    if (call >= fault.first && call <= fault.last && fault.first > 0 && !fault.sync) {
        if (fault.error) {
            /* half of the first piece is written, as a disk does that becomes full */
            (void)!pwrite(fd, pieces[0].iov_base, pieces[0].iov_len / 2, offset);
            errno = fault.error;
            return -1;
        }
        size_t some = pieces[0].iov_len > 1 ? pieces[0].iov_len / 2 + 1 : 1;
        return pwrite(fd, pieces[0].iov_base, some, offset);
    }
    return syscall(SYS_pwritev, fd, pieces, (long)count, (long)offset, 0L);
}

int fdatasync(int fd)
{
    int call = fault.sync ? atomic_fetch_add(&fault.calls, 1) + 1 : 0;
    if (fault.sync && fault.first > 0 && call >= fault.first && call <= fault.last) {
        errno = fault.error;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

/* One session of two threads with a fault in it; everything must be accounted for. */
static int run_with_fault(bool durable)
{
    char *dir = make_folder();
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.safety = durable ? SONDE_SAFETY_DURABLE : SONDE_SAFETY_WRITTEN;
    options.full_wait_ns = 1000000;
    options.drain_interval_ns = 1000000;
    sonde_session *session = NULL;
    atomic_store(&fault.calls, 0);
    assert_int_equal(sonde_open("fault", &options, &session), SONDE_OK);
    load_board *board = load_board_new();
    load_run(board, 2, 20000);
    sonde_close(session);
    int calls = atomic_load(&fault.calls);
    int first = fault.first;
    fault.first = 0;
    load_result result = load_check(dir, "fault", NULL, true);
    fault.first = first;
    assert_int_equal(result.stored + result.outer + result.lost, 40002);
    munmap(board, sizeof *board);
    remove_folder(dir);
    return calls;
}

/* Fails call i for i = 1, 2, ... until there is no such call any more. */
static void sweep(const char *what, int error, bool sync, int length)
{
    int points = 0;
    for (int i = 1; i < 200; i += i < 8 ? 1 : 7) {
        fault.first = i;
        fault.last = i + length - 1;
        fault.error = error;
        fault.sync = sync;
        int calls = run_with_fault(sync);
        if (calls < i)
            break;
        points++;
    }
    fault.first = 0;
    print_message("%s: %d points\n", what, points);
    assert_true(points >=
                (sync ? 1 : 4)); /* how often it syncs depends on how busy the machine is */
}

static void write_errors(void **state)
{
    (void)state;
    sweep("EIO once", EIO, false, 1);
    sweep("ENOSPC once", ENOSPC, false, 1);
    sweep("ENOSPC three times", ENOSPC, false, 3);
    sweep("short write", 0, false, 1);
    sweep("short writes", 0, false, 1000);
    sweep("EINTR", EINTR, false, 3);
}

static void sync_errors_start_a_new_part(void **state)
{
    (void)state;
    sweep("fdatasync EIO", EIO, true, 1);
}

/* --- the real thing: small file systems, in a mount namespace of our own --- */

enum { SKIPPED = 77 };

static int mount_small(const char *where, const char *size)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", where, "tmpfs", 0, size) != 0)
        return -1;
    return 0;
}

static void fill(const char *path, size_t bytes)
{
    static char block[4096];
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    for (size_t done = 0; done < bytes; done += sizeof block)
        if (write(fd, block, sizeof block) <= 0)
            break;
    close(fd);
}

static uint64_t record_some(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("work"));
        sonde_task_int(task, SONDE_USED, SONDE_NAME("i"), (int64_t)i);
        sonde_task_end(task);
    }
    return count;
}

static int full_disk_child(const char *dir)
{
    if (mount_small(dir, "size=1m") != 0)
        return SKIPPED;
    char ballast[600];
    snprintf(ballast, sizeof ballast, "%s/ballast", dir);
    fill(ballast, 800 << 10);
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.full_wait_ns = 1000000;
    sonde_session *session = NULL;
    if (sonde_open("full", &options, &session) != SONDE_OK)
        return 10;
    uint64_t sent = record_some(100000); /* more than there is room for */
    nanosleep(&(struct timespec){0, 150000000}, NULL);
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    if (stats.last_error != SONDE_ELIMIT || stats.lost == 0)
        return 11;
    unlink(ballast);
    if (sonde_flush(session, 0, 5000000000u) != SONDE_OK) /* goes on by itself */
        return 12;
    sent += record_some(1000);
    sonde_close(session);
    sonde_reader *reader = read_in(dir, "full");
    sonde_record r;
    uint64_t stored = 0;
    uint64_t lost = 0;
    while (sonde_reader_next(reader, &r) == SONDE_OK) {
        stored += r.kind == SONDE_RECORD_TASK;
        lost += r.kind == SONDE_RECORD_LOSS ? r.count : 0;
    }
    sonde_reader_close(reader);
    printf("1 MB tmpfs: %llu sent = %llu stored + %llu counted as lost\n", (unsigned long long)sent,
           (unsigned long long)stored, (unsigned long long)lost);
    fflush(stdout);
    return stored + lost == sent && stored > 1000 ? 0 : 13;
}

/* Recording goes on in private memory, and says so. */
static int full_shm_child(const char *dir)
{
    if (mount_small(shm, "size=64k") != 0)
        return SKIPPED;
    sonde_session *session = open_in(dir, "noshm");
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    if (stats.shared_memory || stats.segment == SONDE_OK)
        return 10;
    load_board *board = load_board_new();
    load_run(board, 8, 5000);
    sonde_close(session);
    load_result result = load_check(dir, "noshm", NULL, true);
    return result.stored + result.outer + result.lost == 40008 ? 0 : 11;
}

/* Room for a few lanes only: the other threads share one. */
static int small_shm_child(const char *dir)
{
    if (mount_small(shm, "size=3m") != 0)
        return SKIPPED;
    sonde_session *session = open_in(dir, "small");
    load_board *board = load_board_new();
    load_run(board, 8, 5000);
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    sonde_close(session);
    load_result result = load_check(dir, "small", NULL, true);
    if (!stats.shared_memory || stats.lanes >= 9)
        return 10;
    return result.stored + result.outer + result.lost == 40008 ? 0 : 11;
}

static void in_child(int (*what)(const char *dir), void (*check)(const char *dir))
{
    char *dir = make_folder();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(what(dir));
    int status;
    waitpid(pid, &status, 0);
    if (check)
        check(dir);
    remove_folder(dir);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED) {
        print_message("skipped: mounting in a namespace is not permitted here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void full_disk(void **state)
{
    (void)state;
    in_child(full_disk_child, NULL);
}

static void full_shm(void **state)
{
    (void)state;
    in_child(full_shm_child, NULL);
}

static void small_shm(void **state)
{
    (void)state;
    in_child(small_shm_child, NULL);
}

/* A limit of the file size raises SIGXFSZ in whoever writes; the host must not see it. */
static int file_size_child(const char *dir)
{
    sonde_session *session = open_in(dir, "limit");
    struct rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    record_some(50000);
    sonde_close(session);
    return 0;
}

/* What could not be written stayed in the segment; reading the session finishes it. */
static void file_size_check(const char *dir)
{
    assert_int_equal(segments_left(), 1);
    sonde_reader *reader = read_in(dir, "limit");
    sonde_record r;
    uint64_t all = 0;
    while (sonde_reader_next(reader, &r) == SONDE_OK)
        all += r.kind == SONDE_RECORD_TASK || r.kind == SONDE_RECORD_LOSS ? r.count : 0;
    sonde_reader_close(reader);
    assert_int_equal(all, 50000);
    assert_int_equal(segments_left(), 0);
}

static void file_size_limit(void **state)
{
    (void)state;
    in_child(file_size_child, file_size_check);
}

/* --- death at each system call --- */

static int run_traced(const char *inject, const char *dir, const char *board, bool durable)
{
    pid_t pid = fork();
    if (pid == 0) {
        char worker[600];
        snprintf(worker, sizeof worker, "%s/record_worker", SONDE_BIN_DIR);
        execlp("strace", "strace", "-f", "-qqq", "-o", "/dev/null", "-e", "signal=none", "-e",
               inject, worker, dir, "traced", board, "3000", durable ? "durable" : NULL,
               (char *)NULL);
        _exit(SKIPPED);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static unsigned kill_sweep(const char *call, bool durable)
{
    unsigned points = 0;
    for (int i = 1; i <= 60; i++) {
        char *dir = make_folder();
        char board_path[600];
        snprintf(board_path, sizeof board_path, "%s/board", dir);
        int fd = open(board_path, O_RDWR | O_CREAT, 0600);
        assert_int_equal(ftruncate(fd, sizeof(load_board)), 0);
        load_board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        char inject[100];
        snprintf(inject, sizeof inject, "inject=%s:signal=SIGKILL:when=%d", call, i);
        int code = run_traced(inject, dir, board_path, durable);
        char path[600];
        snprintf(path, sizeof path, "%s/traced.sonde", dir);
        if (code == SKIPPED || code == 1) {
            munmap(board, sizeof *board);
            remove_folder(dir);
            skip();
        }
        if (access(path, F_OK) == 0) {
            load_check(dir, "traced", board, false);
            /* the kernel may still be taking the process apart, and its lock with it */
            for (int tries = 0; segments_left() > 0 && tries < 200; tries++) {
                nanosleep(&(struct timespec){0, 10000000}, NULL);
                load_check(dir, "traced", board, false);
                assert_int_equal(sonde_recover(NULL, NULL, NULL), SONDE_OK); /* died opening */
            }
        } else {
            assert_int_equal(sonde_recover(NULL, NULL, NULL), SONDE_OK);
        }
        assert_int_equal(segments_left(), 0);
        munmap(board, sizeof *board);
        remove_folder(dir);
        if (code == 0)
            break;
        assert_int_equal(code, 128 + 9);
        points++;
    }
    print_message("killed at %u calls of %s%s\n", points, call, durable ? " (durable)" : "");
    return points;
}

static void killed_at_each_call(void **state)
{
    (void)state;
    assert_true(kill_sweep("pwritev", false) > 2);
    assert_true(kill_sweep("fdatasync", true) >= 1);
    kill_sweep("unlink", false);
    kill_sweep("fallocate", false);
    kill_sweep("flock", false);
    kill_sweep("ftruncate", false);
    kill_sweep("munmap", false);
}

int main(void)
{
    private_shm(shm);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_errors),        cmocka_unit_test(sync_errors_start_a_new_part),
        cmocka_unit_test(full_disk),           cmocka_unit_test(full_shm),
        cmocka_unit_test(small_shm),           cmocka_unit_test(file_size_limit),
        cmocka_unit_test(killed_at_each_call),
    };
    int failed = cmocka_run_group_tests_name("record_faults", tests, NULL, NULL);
    rmdir(shm);
    return failed;
}
