/* SPDX-License-Identifier: Apache-2.0 */
/* The process looked at: this one, another one with files, sockets and threads, one that ends. */
#include "other_process.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#define F(name) SONDE_FIELD_##name

enum { NOBODY = 65534 };

/* Set up by the fixture of the group; no tests without them. */
static other_process other;
static bool can_test;

static sonde_capture *open_pid(pid_t pid, unsigned types)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.pid = pid;
    options.types = types;
    return open_options(&options);
}

static void need_other_process(void)
{
    if (!can_test)
        skip();
}

static void own_descriptors_are_told_apart(const void *argument)
{
    (void)argument;
    sonde_capture *capture = NULL;
    const sonde_telemetry *now = NULL;
    uint64_t before[3], after[3];
    static const sonde_field fields[] = {F(PROCESS_DESCRIPTORS), F(PROCESS_FILES),
                                         F(PROCESS_CONNECTIONS)};
    CHECK(sonde_capture_open(NULL, &capture) == SONDE_OK);
    CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
    for (unsigned i = 0; i < 3; i++)
        CHECK(sonde_telemetry_uint(now, fields[i], &before[i]) == SONDE_OK);
    opened count = open_everything();
    CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
    for (unsigned i = 0; i < 3; i++)
        CHECK(sonde_telemetry_uint(now, fields[i], &after[i]) == SONDE_OK);
    CHECK(after[0] - before[0] == count.descriptors);
    CHECK(after[1] - before[1] == count.files);
    CHECK(after[2] - before[2] == count.connections);
    sonde_capture_close(capture);
}

static void own_files_and_sockets_are_counted(void **state)
{
    (void)state;
    need_other_process();
    run_in_child(own_descriptors_are_told_apart, NULL);
}

static void files_and_sockets_of_another_are_counted(void **state)
{
    (void)state;
    need_other_process();
    sonde_capture *capture = open_pid(other.pid, SONDE_CAPTURE_ALL);
    const sonde_telemetry *now = read_now(capture);
    assert_uint(now, F(PROCESS_PID), (uint64_t)other.pid);
    assert_uint(now, F(PROCESS_DESCRIPTORS), other.count.descriptors);
    assert_uint(now, F(PROCESS_FILES), other.count.files);
    assert_uint(now, F(PROCESS_CONNECTIONS), other.count.connections);
    assert_true(uint_of(now, F(PROCESS_THREADS)) >= OTHER_THREADS + 1); /* sanitizers have one */
    assert_true(uint_of(now, F(PROCESS_RSS)) > 0);
    const char *text = NULL;
    assert_int_equal(sonde_telemetry_text(now, F(PROCESS_EXECUTABLE), 0, &text), SONDE_OK);
    assert_non_null(strstr(text, "test_capture_process"));
    sonde_capture_close(capture);
}

/* Makes the kernel refuse pidfd_open in this process. */
static bool refuse_pidfd_open(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = COUNT_OF(filter), .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           syscall(SYS_pidfd_open, getpid(), 0) < 0;
}

static void count_by_sock_diag(const void *argument)
{
    (void)argument;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.pid = other.pid;
    sonde_capture *capture = NULL;
    const sonde_telemetry *now = NULL;
    if (!refuse_pidfd_open()) {
        fprintf(stderr, "skipped: no seccomp here\n");
        return;
    }
    CHECK(sonde_capture_open(&options, &capture) == SONDE_OK);
    CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
    uint64_t value = 0;
    sonde_status status = sonde_telemetry_uint(now, F(PROCESS_CONNECTIONS), &value);
    if (status == SONDE_EUNSUPPORTED) {
        fprintf(stderr, "skipped: no sock_diag here\n");
        return;
    }
    CHECK(status == SONDE_OK);
    CHECK(value == other.count.connections);
    CHECK(sonde_telemetry_uint(now, F(PROCESS_FILES), &value) == SONDE_OK);
    CHECK(value == other.count.files);
    sonde_capture_close(capture);
}

/* Cause: since Linux 6.8 sock_diag also tells of sockets that are only bound. */
static void sock_diag_counts_the_same(void **state)
{
    (void)state;
    need_other_process();
    run_in_child(count_by_sock_diag, NULL);
}

static void count_without_a_free_descriptor(const void *argument)
{
    (void)argument;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.pid = other.pid;
    sonde_capture *capture = NULL;
    const sonde_telemetry *now = NULL;
    CHECK(sonde_capture_open(&options, &capture) == SONDE_OK);
    int next = dup(0);
    CHECK(next > 0);
    close(next);
    struct rlimit limit = {.rlim_cur = (rlim_t)next, .rlim_max = (rlim_t)next};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
    CHECK(sonde_telemetry_status(now, F(PROCESS_CONNECTIONS)) == SONDE_ELIMIT);
    uint64_t files = 0;
    CHECK(sonde_telemetry_uint(now, F(PROCESS_FILES), &files) == SONDE_OK);
    CHECK(files == other.count.files);
    sonde_capture_close(capture);
}

/* Cause: sockets that could not be duplicated were left out, and the count came out too low. */
static void connections_are_missing_without_a_free_descriptor(void **state)
{
    (void)state;
    need_other_process();
    run_in_child(count_without_a_free_descriptor, NULL);
}

static void look_as_nobody(const void *argument)
{
    const pid_t *pid = argument;
    static const sonde_field denied[] = {F(PROCESS_READ_COUNT), F(PROCESS_DESCRIPTORS),
                                         F(PROCESS_FILES), F(PROCESS_CONNECTIONS),
                                         F(PROCESS_EXECUTABLE)};
    CHECK(geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0));
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.pid = *pid;
    sonde_capture *capture = NULL;
    const sonde_telemetry *now = NULL;
    sonde_status status = sonde_capture_open(&options, &capture);
    if (status == SONDE_EGONE) {
        fprintf(stderr, "skipped: /proc hides processes of other users\n");
        return;
    }
    CHECK(status == SONDE_OK);
    CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
    for (size_t i = 0; i < COUNT_OF(denied); i++)
        CHECK(sonde_telemetry_status(now, denied[i]) == SONDE_EDENIED);
    CHECK(sonde_telemetry_status(now, F(PROCESS_RSS)) == SONDE_OK);
    CHECK(sonde_telemetry_status(now, F(PROCESS_THREADS)) == SONDE_OK);
    CHECK(sonde_telemetry_status(now, F(MEMORY_TOTAL)) == SONDE_OK);
    sonde_capture_close(capture);
}

static void process_of_another_user_is_partly_denied(void **state)
{
    (void)state;
    need_other_process();
    struct stat init;
    pid_t pid = geteuid() == 0 ? other.pid : 1;
    if (pid == 1 && (stat("/proc/1", &init) != 0 || init.st_uid == geteuid())) {
        print_message("skipped: no process of another user\n");
        skip();
    }
    run_in_child(look_as_nobody, &pid);
}

static pid_t start_sleeper(unsigned microseconds)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (microseconds > 0)
            usleep(microseconds);
        else
            sleep_on(NULL);
        _exit(0);
    }
    return pid;
}

static void assert_process_gone(const sonde_telemetry *now, bool rechecked)
{
    for (unsigned i = F(PROCESS_CPU_NUMBER); i <= F(PROCESS_SWITCHES_INVOLUNTARY); i++) {
        sonde_field field = (sonde_field)i;
        bool kept = field == F(PROCESS_EXECUTABLE) || field == F(PROCESS_CMD_LINE);
        if (!kept || rechecked)
            assert_reason(now, field, SONDE_EGONE);
    }
    assert_reason(now, F(MEMORY_TOTAL), SONDE_OK);
    assert_reason(now, F(CPU_USER), SONDE_OK);
}

static unsigned count_open(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Cause: the folder of descriptors of an ended process stayed open when the handle was closed. */
static void process_that_ends_is_gone(void **state)
{
    (void)state;
    need_other_process();
    unsigned open_before = count_open();
    pid_t pid = start_sleeper(0);
    sonde_capture *capture = open_pid(pid, SONDE_CAPTURE_ALL);
    sonde_capture *alone = open_pid(pid, SONDE_CAPTURE_PROCESS);
    const sonde_telemetry *now = read_now(capture);
    assert_reason(now, F(PROCESS_RSS), SONDE_OK);
    stop_other_process(pid);
    assert_process_gone(read_now(capture), false);
    now = NULL;
    assert_int_equal(sonde_capture_read(alone, &now), SONDE_EGONE);
    assert_null(now);
    const struct timespec while_rechecked = {.tv_sec = 1, .tv_nsec = 50000000};
    nanosleep(&while_rechecked, NULL);
    assert_process_gone(read_now(capture), true);
    assert_int_equal(sonde_capture_read(alone, &now), SONDE_EGONE);
    sonde_capture_close(capture);
    sonde_capture_close(alone);
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.pid = pid;
    capture = NULL;
    assert_int_equal(sonde_capture_open(&options, &capture), SONDE_EGONE);
    assert_null(capture);
    assert_int_equal(count_open(), open_before);
}

/* Ended but not waited for: the kernel still tells some of it. */
static void process_not_waited_for_is_no_trouble(void **state)
{
    (void)state;
    need_other_process();
    pid_t pid = start_sleeper(0);
    sonde_capture *capture = open_pid(pid, SONDE_CAPTURE_ALL);
    kill(pid, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    const sonde_telemetry *now = read_now(capture);
    assert_uint(now, F(PROCESS_PID), (uint64_t)pid);
    assert_reason(now, F(MEMORY_TOTAL), SONDE_OK);
    sonde_capture_close(capture);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void assert_alive_or_gone(const sonde_telemetry *now)
{
    for (unsigned i = F(PROCESS_PID); i <= F(PROCESS_SWITCHES_INVOLUNTARY); i++) {
        sonde_status status = sonde_telemetry_status(now, (sonde_field)i);
        bool exe = i == F(PROCESS_EXECUTABLE) && status == SONDE_EABSENT; /* of one that ended */
        if (status != SONDE_OK && status != SONDE_EGONE && status != SONDE_EEARLY && !exe)
            fail_msg("%s is %s", path_of((sonde_field)i), sonde_status_name(status));
    }
    assert_reason(now, F(MEMORY_TOTAL), SONDE_OK);
}

/* Reads without a pause until the process is gone; it ends at another moment each time. */
static void processes_may_end_during_captures(void **state)
{
    (void)state;
    need_other_process();
    signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
    unsigned seen_gone = 0;
    for (unsigned i = 0; i < 100; i++) {
        pid_t pid = start_sleeper(1 + i * 37 % 2000);
        sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
        options.pid = pid;
        sonde_capture *capture = NULL;
        sonde_status status = sonde_capture_open(&options, &capture);
        assert_true(status == SONDE_OK || status == SONDE_EGONE);
        bool gone = status == SONDE_EGONE;
        for (unsigned reading = 0; !gone && reading < 100000; reading++) {
            const sonde_telemetry *now = read_now(capture);
            assert_alive_or_gone(now);
            gone = sonde_telemetry_status(now, F(PROCESS_RSS)) == SONDE_EGONE;
        }
        seen_gone += gone;
        sonde_capture_close(capture);
    }
    assert_int_equal(seen_gone, 100);
}

static int wait_for_children_again(void **state)
{
    (void)state;
    signal(SIGCHLD, SIG_DFL);
    return 0;
}

static void read_as_child(const void *argument)
{
    sonde_capture *const *capture = argument;
    const sonde_telemetry *now = NULL;
    uint64_t pid = 0, window_ns = 1;
    CHECK(sonde_capture_read(*capture, &now) == SONDE_OK);
    window_ns = sonde_telemetry_window_ns(now);
    CHECK(sonde_telemetry_uint(now, F(PROCESS_PID), &pid) == SONDE_OK);
    CHECK(pid == (uint64_t)getpid());
    CHECK(window_ns == 0);
    CHECK(sonde_telemetry_status(now, F(CPU_PERCENT)) == SONDE_EEARLY);
    CHECK(sonde_telemetry_status(now, F(PROCESS_CPU_PERCENT)) == SONDE_EEARLY);
    for (unsigned i = 0; i < 3; i++)
        CHECK(sonde_capture_read(*capture, &now) == SONDE_OK);
    sonde_capture_close(*capture);
}

static void close_as_child(const void *argument)
{
    sonde_capture *const *capture = argument;
    sonde_capture_close(*capture);
}

static void handle_tells_about_the_child_after_fork(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    sonde_capture *capture = open_options(NULL);
    run_in_child(read_as_child, &capture);
    run_in_child(close_as_child, &capture);
    const sonde_telemetry *now = read_now(capture);
    assert_uint(now, F(PROCESS_PID), (uint64_t)getpid());
    for (unsigned i = F(MEMORY_TOTAL); i <= F(SWAP_PERCENT); i++)
        assert_reason(now, (sonde_field)i, SONDE_OK);
    sonde_capture_close(capture);
}

static int start(void **state)
{
    (void)state;
    if (no_procfs() || no_loopback())
        return 0;
    other = start_other_process();
    can_test = true;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    if (can_test)
        stop_other_process(other.pid);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_files_and_sockets_are_counted),
        cmocka_unit_test(files_and_sockets_of_another_are_counted),
        cmocka_unit_test(sock_diag_counts_the_same),
        cmocka_unit_test(connections_are_missing_without_a_free_descriptor),
        cmocka_unit_test(process_of_another_user_is_partly_denied),
        cmocka_unit_test(process_that_ends_is_gone),
        cmocka_unit_test(process_not_waited_for_is_no_trouble),
        cmocka_unit_test_teardown(processes_may_end_during_captures, wait_for_children_again),
        cmocka_unit_test(handle_tells_about_the_child_after_fork),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
