/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's tests: each scenario is a process of its own, with a deadline; it must end by itself,
   with exit code 0. */
#ifndef SONDE_GUEST_TEST_H
#define SONDE_GUEST_TEST_H

#include "metric_test.h"

#include "sonde/sonde.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A folder of the scenario's own; removed with what is in it by remove_dir. */
static char guest_dir[64];
static char guest_shm[64];

static inline void make_dir(void)
{
    strcpy(guest_dir, "/tmp/sonde-guest-XXXXXX");
    assert_non_null(mkdtemp(guest_dir));
    strcpy(guest_shm, "/dev/shm/sonde-guest-XXXXXX");
    assert_non_null(mkdtemp(guest_shm));
    setenv("SONDE_SHM_DIR", guest_shm, 1);
}

static inline void remove_dir(void)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s %s", guest_dir, guest_shm);
    assert_int_equal(system(command), 0);
}

static inline sonde_session *guest_open(const char *name)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = guest_dir;
    sonde_session *session = NULL;
    return sonde_open(name, &options, &session) == SONDE_OK ? session : NULL;
}

/* A bit of everything the library does; returns how many tasks it ended. */
static inline int use_everything(void)
{
    sonde_counter *counter = sonde_counter_get("guest_total", NULL, NULL);
    sonde_histogram *histogram = sonde_histogram_get("guest_seconds", NULL, NULL);
    for (int i = 0; i < 100; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("guest"));
        sonde_task_int(task, SONDE_USED, SONDE_NAME("i"), i);
        sonde_counter_inc(counter);
        sonde_histogram_observe(histogram, i);
        sonde_task_end(task);
    }
    sonde_task task = sonde_task_begin_measured(SONDE_NAME("guest"), SONDE_MEASURE_FULL);
    sonde_task_end_measured(task, SONDE_FINISHED, NULL, SONDE_MEASURE_LIGHT);
    sonde_gauge_set(sonde_gauge_get("guest_level", NULL, NULL), 1);
    sonde_snapshot_reader *reader;
    sonde_snapshot now;
    if (sonde_snapshot_reader_open(&reader) == SONDE_OK) {
        sonde_snapshot_take(reader, &now);
        sonde_snapshot_reader_close(reader);
    }
    return 101;
}

/* Starts a scenario in a child. */
static inline pid_t start_scenario(int (*scenario)(const void *), const void *arg)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(120);
        exit(scenario(arg));
    }
    assert_true(child > 0);
    return child;
}

/* Its exit code; -1 when it hung or was killed. */
static inline int wait_for_scenario(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int run_scenario(int (*scenario)(const void *), const void *arg)
{
    return wait_for_scenario(start_scenario(scenario, arg));
}

#endif
