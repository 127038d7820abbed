/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of capture share. Include once per test program. */
#ifndef SONDE_TESTS_CAPTURE_H
#define SONDE_TESTS_CAPTURE_H

#include "sonde/capture.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define FIXTURES        SONDE_SOURCE_DIR "/tests/fixtures/"
#define KIB(number)     ((uint64_t)(number)*1024)

static inline uint64_t pages(uint64_t count)
{
    return count * (uint64_t)sysconf(_SC_PAGESIZE);
}

static inline double ticks(uint64_t count)
{
    return (double)count / (double)sysconf(_SC_CLK_TCK);
}

static inline sonde_capture *open_options(const sonde_capture_options *options)
{
    sonde_capture *capture = NULL;
    sonde_status status = sonde_capture_open(options, &capture);
    if (status != SONDE_OK)
        fail_msg("open: %s", sonde_status_text(status));
    return capture;
}

static inline sonde_capture *open_root(const char *root)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = root;
    return open_options(&options);
}

static inline const sonde_telemetry *read_now(sonde_capture *capture)
{
    const sonde_telemetry *now = NULL;
    sonde_status status = sonde_capture_read(capture, &now);
    if (status != SONDE_OK)
        fail_msg("read: %s", sonde_status_text(status));
    return now;
}

static inline const char *path_of(sonde_field field)
{
    return sonde_field_describe(field)->path;
}

static inline void assert_reason(const sonde_telemetry *now, sonde_field field, sonde_status reason)
{
    sonde_status status = sonde_telemetry_status(now, field);
    if (status != reason)
        fail_msg("%s is %s, expected %s", path_of(field), sonde_status_name(status),
                 sonde_status_name(reason));
}

static inline uint64_t uint_of(const sonde_telemetry *now, sonde_field field)
{
    uint64_t value = 0;
    assert_reason(now, field, SONDE_OK);
    assert_int_equal(sonde_telemetry_uint(now, field, &value), SONDE_OK);
    return value;
}

static inline double double_of(const sonde_telemetry *now, sonde_field field)
{
    double value = NAN;
    assert_reason(now, field, SONDE_OK);
    assert_int_equal(sonde_telemetry_double(now, field, &value), SONDE_OK);
    return value;
}

static inline void assert_uint(const sonde_telemetry *now, sonde_field field, uint64_t expected)
{
    uint64_t value = uint_of(now, field);
    if (value != expected)
        fail_msg("%s is %llu, expected %llu", path_of(field), (unsigned long long)value,
                 (unsigned long long)expected);
}

static inline void assert_double(const sonde_telemetry *now, sonde_field field, double expected)
{
    double value = double_of(now, field);
    if (!(fabs(value - expected) <= fabs(expected) * 1e-15))
        fail_msg("%s is %.17g, expected %.17g", path_of(field), value, expected);
}

static inline void assert_row_uint(const sonde_telemetry *now, sonde_table table, size_t row,
                                   sonde_field field, uint64_t expected)
{
    uint64_t value = 0;
    assert_int_equal(sonde_telemetry_row_uint(now, table, row, field, &value), SONDE_OK);
    if (value != expected)
        fail_msg("row %zu of %s is %llu, expected %llu", row, path_of(field),
                 (unsigned long long)value, (unsigned long long)expected);
}

static inline void assert_row_double(const sonde_telemetry *now, size_t row, sonde_field field,
                                     double expected)
{
    double value = NAN;
    assert_int_equal(sonde_telemetry_row_double(now, SONDE_TABLE_CPUS, row, field, &value),
                     SONDE_OK);
    if (!(fabs(value - expected) <= fabs(expected) * 1e-15))
        fail_msg("row %zu of %s is %.17g, expected %.17g", row, path_of(field), value, expected);
}

/* The names of a table's rows, in their order. */
static inline void assert_row_names(const sonde_telemetry *now, sonde_table table,
                                    const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = sonde_telemetry_row_name(now, table, i);
        if (!name || strcmp(name, names[i]) != 0)
            fail_msg("row %zu is %s, expected %s", i, name ? name : "missing", names[i]);
    }
    assert_int_equal(sonde_telemetry_rows(now, table), count);
}

/* True, with a message, where there is no procfs to test on (a bare chroot). */
static inline bool no_procfs(void)
{
    if (access("/proc/self/stat", R_OK) == 0)
        return false;
    print_message("skipped: /proc is not mounted\n");
    return true;
}

/* Checks in a forked child, where an assert of cmocka would run the remaining tests twice. */
#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            fprintf(stderr, "%s:%d: child: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                              \
        }                                                                          \
    } while (0)

/* Runs work in a child and fails when it fails. */
static inline void run_in_child(void (*work)(const void *), const void *argument)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        work(argument);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
