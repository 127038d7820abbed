/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors a handle keeps: few of them to be had, or closed by the program around it and
   used for something else, which must not be touched. */
#include "capture_test.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

#define F(name) SONDE_FIELD_##name

enum { FDS_MAX = 256, OFFSET = 7, KINDS = 4 };

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static void mark_open(bool *open)
{
    for (int fd = 0; fd < FDS_MAX; fd++)
        open[fd] = is_open(fd);
}

/* A descriptor of ours under a number the handle had: by turns a file, a folder, a file of
   /proc and a pipe. */
static void take_number(int fd, unsigned turn)
{
    static const char *const paths[] = {SONDE_SOURCE_DIR "/LICENSE", SONDE_SOURCE_DIR "/src",
                                        "/proc/self/limits"};
    int ends[2];
    int got;
    if (turn % KINDS < 3) {
        got = open(paths[turn % KINDS], O_RDONLY);
        CHECK(turn % KINDS != 0 || lseek(got, OFFSET, SEEK_SET) == OFFSET);
    } else {
        CHECK(pipe(ends) == 0);
        CHECK(write(ends[1], "x", 1) == 1);
        got = ends[0];
    }
    CHECK(got >= 0);
    if (got != fd)
        CHECK(dup2(got, fd) == fd);
}

/* Still ours, and where it was. */
static void check_untouched(int fd, unsigned turn)
{
    char byte;
    CHECK(is_open(fd));
    if (turn % KINDS == 0)
        CHECK(lseek(fd, 0, SEEK_CUR) == OFFSET);
    else if (turn % KINDS < 3)
        CHECK(lseek(fd, 0, SEEK_CUR) == 0);
    else
        CHECK(read(fd, &byte, 1) == 1 && byte == 'x');
}

/* Only what needs no descriptor has a value. */
static void check_reasons(const sonde_telemetry *now)
{
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        bool kept = i == F(PROCESS_PID) || i == F(PROCESS_USER) || i == F(PROCESS_SYSTEM) ||
                    i == F(PROCESS_CPU_PERCENT) || i == F(CPU_FREQUENCY) ||
                    i == F(PROCESS_EXECUTABLE) || i == F(PROCESS_CMD_LINE) || i == F(SWAP_IN) ||
                    i == F(SWAP_OUT) || (i >= F(DISK_TOTAL) && i <= F(DISK_PERCENT));
        sonde_status status = sonde_telemetry_status(now, (sonde_field)i);
        if (!kept && status == SONDE_OK)
            fprintf(stderr, "%s has a value\n", path_of((sonde_field)i));
        CHECK(kept || status != SONDE_OK);
    }
    uint64_t total = 0;
    CHECK(sonde_telemetry_uint(now, F(DISK_TOTAL), &total) == SONDE_OK && total > 0);
}

static void lose_descriptors(const void *argument)
{
    const sonde_capture_options *options = argument;
    bool before[FDS_MAX], after[FDS_MAX];
    sonde_capture *capture = NULL;
    const sonde_telemetry *now = NULL;
    mark_open(before);
    CHECK(sonde_capture_open(options, &capture) == SONDE_OK);
    mark_open(after);
    unsigned turn = 0;
    for (int fd = 0; fd < FDS_MAX; fd++)
        if (after[fd] && !before[fd])
            CHECK(close(fd) == 0);
    CHECK(sonde_capture_read(capture, &now) == SONDE_OK); /* closed and not yet used again */
    for (int fd = 0; fd < FDS_MAX; fd++)
        if (after[fd] && !before[fd])
            take_number(fd, turn++);
    CHECK(turn >= (options->level == SONDE_LEVEL_FULL ? 5 : 1));
    for (unsigned i = 0; i < 3; i++) {
        CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
        if (options->level == SONDE_LEVEL_FULL && options->pid == 0)
            check_reasons(now);
    }
    sonde_capture_close(capture);
    turn = 0;
    for (int fd = 0; fd < FDS_MAX; fd++)
        if (after[fd] && !before[fd])
            check_untouched(fd, turn++);
}

/* Cause: the list of descriptors was read from whatever had the folder's number, which moved it,
   and what had the number of a pidfd was closed. */
static void descriptors_used_again_are_left_alone(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    for (unsigned level = 0; level < SONDE_LEVEL_COUNT; level++) {
        sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
        options.level = (sonde_level)level;
        run_in_child(lose_descriptors, &options);
        options.pid = getpid(); /* another one for the child */
        run_in_child(lose_descriptors, &options);
    }
}

static void open_with_limit(const void *argument)
{
    const rlim_t *most = argument;
    struct rlimit limit = {.rlim_cur = *most, .rlim_max = *most};
    for (int fd = 3; fd < FDS_MAX; fd++)
        close(fd);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    sonde_capture *capture = NULL;
    const sonde_telemetry *now = NULL;
    const char *json = NULL;
    size_t len = 0;
    CHECK(sonde_capture_open(NULL, &capture) == SONDE_OK);
    for (unsigned i = 0; i < 3; i++)
        CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
    CHECK(sonde_telemetry_status(now, F(PROCESS_USER)) == SONDE_OK);
    CHECK(sonde_capture_json(capture, &json, &len) == SONDE_OK);
    unsigned limited = 0;
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        sonde_status status = sonde_telemetry_status(now, (sonde_field)i);
        limited += status == SONDE_ELIMIT;
        CHECK(status != SONDE_EINVAL && status != SONDE_EGONE);
    }
    CHECK(*most > 4 || limited > 20);
    sonde_capture_close(capture);
    CHECK(!is_open(3)); /* whatever was opened is closed */
}

static void too_few_descriptors_give_reasons(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    for (rlim_t most = 3; most <= 20; most++)
        run_in_child(open_with_limit, &most);
}

static void descriptors_are_closed_on_exec(void **state)
{
    (void)state;
    bool before[FDS_MAX], after[FDS_MAX];
    mark_open(before);
    sonde_capture *capture = open_options(NULL);
    read_now(capture);
    mark_open(after);
    for (int fd = 0; fd < FDS_MAX; fd++)
        if (after[fd] && !before[fd])
            assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    sonde_capture_close(capture);
    mark_open(after);
    assert_memory_equal(before, after, sizeof before);
}

/* The reason is that path's alone. */
static void missing_path_is_told_for_itself(void **state)
{
    (void)state;
    static const char *const last[] = {"/", "/nonexistent/sonde", NULL};
    static const char *const first[] = {"/nonexistent/sonde", "/", NULL};
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    uint64_t total = 0;
    options.paths = last;
    sonde_capture *capture = open_options(&options);
    const sonde_telemetry *now = read_now(capture);
    assert_true(uint_of(now, F(DISK_TOTAL)) > 0);
    assert_row_names(now, SONDE_TABLE_PATHS, last, 2);
    assert_row_uint(now, SONDE_TABLE_PATHS, 0, F(DISK_TOTAL), uint_of(now, F(DISK_TOTAL)));
    assert_int_equal(sonde_telemetry_row_uint(now, SONDE_TABLE_PATHS, 1, F(DISK_TOTAL), &total),
                     SONDE_EABSENT);
    const char *json;
    size_t len;
    assert_int_equal(sonde_capture_json(capture, &json, &len), SONDE_OK);
    assert_non_null(strstr(json, "\"disk.disk_usage./nonexistent/sonde\":\"absent\""));
    sonde_capture_close(capture);
    options.paths = first;
    capture = open_options(&options);
    now = read_now(capture);
    assert_reason(now, F(DISK_TOTAL), SONDE_EABSENT);
    assert_reason(now, F(DISK_PERCENT), SONDE_EABSENT);
    assert_int_equal(sonde_telemetry_row_uint(now, SONDE_TABLE_PATHS, 1, F(DISK_TOTAL), &total),
                     SONDE_OK);
    sonde_capture_close(capture);
}

static void *capture_often(void *argument)
{
    sonde_capture *capture = argument;
    for (unsigned i = 0; i < 100; i++) {
        const sonde_telemetry *now;
        if (sonde_capture_read(capture, &now) != SONDE_OK)
            return NULL;
    }
    return capture;
}

/* A handle for each thread needs no lock. Not at level full, which looks at every descriptor of the
   process: to the thread sanitizer that is a race with whoever opens one. */
static void threads_have_handles_of_their_own(void **state)
{
    (void)state;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.level = SONDE_LEVEL_REGULAR;
    pthread_t thread[4];
    sonde_capture *capture[4];
    for (unsigned i = 0; i < 4; i++) {
        capture[i] = open_options(&options);
        assert_int_equal(pthread_create(&thread[i], NULL, capture_often, capture[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(thread[i], &result), 0);
        assert_ptr_equal(result, capture[i]);
        sonde_capture_close(capture[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_used_again_are_left_alone),
        cmocka_unit_test(too_few_descriptors_give_reasons),
        cmocka_unit_test(descriptors_are_closed_on_exec),
        cmocka_unit_test(missing_path_is_told_for_itself),
        cmocka_unit_test(threads_have_handles_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
