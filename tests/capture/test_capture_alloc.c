/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of the library, counted and refused by the linker's --wrap: none once a handle has
   settled; and whichever fails, values are right or missing for that reason, and nothing leaks (the
   sanitizer build sees that). */
#include "../refuse_alloc.h"
#include "capture_test.h"

#include <limits.h>
#include <time.h>

static long allocations;
static long refused_from = -1; /* the first that fails; below 0: none */
static long refused_to;        /* the first that succeeds again */

static bool refuse(void)
{
    long this_one = allocations++;
    return refused_from >= 0 && this_one >= refused_from && this_one < refused_to;
}

static void read_many(sonde_capture *capture, unsigned count)
{
    const sonde_telemetry *now;
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(sonde_capture_read(capture, &now), SONDE_OK);
}

/* Beyond the time after which what hardly ever changes is read again. */
static void wait_for_recheck(void)
{
    const struct timespec time = {.tv_sec = 1, .tv_nsec = 50000000};
    nanosleep(&time, NULL);
}

static long allocations_of_1000(sonde_capture **captures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        read_many(captures[i], 50);
    wait_for_recheck();
    for (size_t i = 0; i < count; i++)
        read_many(captures[i], 1);
    allocations = 0;
    for (size_t i = 0; i < count; i++)
        read_many(captures[i], 500);
    wait_for_recheck();
    for (size_t i = 0; i < count; i++)
        read_many(captures[i], 500);
    return allocations;
}

static void settled_handle_allocates_nothing(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    sonde_capture *captures[2 * SONDE_LEVEL_COUNT];
    for (unsigned i = 0; i < COUNT_OF(captures); i++) {
        sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
        options.level = (sonde_level)(i % SONDE_LEVEL_COUNT);
        options.root = i < SONDE_LEVEL_COUNT ? NULL : FIXTURES "linux6_x";
        captures[i] = open_options(&options);
    }
    assert_true(allocations > 0); /* they are counted at all */
    long more = allocations_of_1000(captures, COUNT_OF(captures));
    for (unsigned i = 0; i < COUNT_OF(captures); i++)
        sonde_capture_close(captures[i]);
    assert_int_equal(more, 0);
}

/* Values of a recorded machine that nothing disturbed. */
static struct {
    sonde_status status[SONDE_FIELD_COUNT];
    double value[SONDE_FIELD_COUNT];
    size_t rows[SONDE_TABLE_COUNT];
} undisturbed;

static void keep_values(const sonde_telemetry *now)
{
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        undisturbed.status[i] = sonde_telemetry_status(now, (sonde_field)i);
        undisturbed.value[i] = 0;
        sonde_telemetry_double(now, (sonde_field)i, &undisturbed.value[i]);
    }
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++)
        undisturbed.rows[i] = sonde_telemetry_rows(now, (sonde_table)i);
}

/* Each value is the right one, or missing because memory was short. */
static void assert_right_or_missing(const sonde_telemetry *now, long failed)
{
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        sonde_field field = (sonde_field)i;
        sonde_status status = sonde_telemetry_status(now, field);
        bool percent = field == SONDE_FIELD_PROCESS_CPU_PERCENT; /* early after a failed reading */
        double value = 0;
        sonde_telemetry_double(now, field, &value);
        if (status != SONDE_ENOMEM && !percent &&
            (status != undisturbed.status[i] || value != undisturbed.value[i]))
            fail_msg("allocation %ld failed: %s is %s, %f instead of %f", failed, path_of(field),
                     sonde_status_name(status), value, undisturbed.value[i]);
    }
}

/* Opens, reads twice, writes JSON and closes. True when no allocation was refused. */
static bool use_handle(const char *root, long failed)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = root;
    sonde_capture *capture = NULL;
    const sonde_telemetry *now = NULL;
    const char *json = NULL;
    size_t len = 0;
    sonde_status status = sonde_capture_open(&options, &capture);
    if (status != SONDE_OK) {
        assert_int_equal(status, SONDE_ENOMEM);
        assert_null(capture);
        return false;
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(sonde_capture_read(capture, &now), SONDE_OK);
        if (root)
            assert_right_or_missing(now, failed);
    }
    status = sonde_capture_json(capture, &json, &len);
    assert_true(status == SONDE_OK || status == SONDE_ENOMEM);
    sonde_capture_close(capture);
    return allocations <= refused_from;
}

static void sweep(const char *root, bool for_good)
{
    refused_from = -1;
    sonde_capture *capture = open_root(root ? root : FIXTURES "linux6_x");
    keep_values(read_now(capture));
    sonde_capture_close(capture);
    for (long n = 0; n < 2000; n++) {
        allocations = 0;
        refused_from = n;
        refused_to = for_good ? LONG_MAX : n + 1;
        bool untouched = use_handle(root, n);
        refused_from = -1;
        if (untouched) {
            assert_true(n > 10);
            return;
        }
    }
    fail_msg("never without a failure");
}

static void one_failed_allocation_loses_what_needed_it(void **state)
{
    (void)state;
    static const char *const machines[] = {"linux5_10", "aarch64", "nics200", "nvme_dm_md",
                                           "cpus256"};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        char root[256];
        snprintf(root, sizeof root, FIXTURES "%s", machines[i]);
        sweep(root, false);
    }
    sweep(NULL, false);
}

static void memory_that_stays_short_loses_what_needed_it(void **state)
{
    (void)state;
    sweep(FIXTURES "linux5_10", true);
    sweep(FIXTURES "nics200", true);
    sweep(NULL, true);
}

/* What one reading had to leave out is there again at the next. */
static void values_return_with_memory(void **state)
{
    (void)state;
    sonde_capture *whole = open_root(FIXTURES "nics200");
    keep_values(read_now(whole));
    sonde_capture_close(whole);
    for (long n = 0; n < 200; n++) {
        sonde_capture *capture = NULL;
        sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
        options.root = FIXTURES "nics200";
        allocations = 0;
        refused_from = n;
        refused_to = n + 1;
        sonde_status status = sonde_capture_open(&options, &capture);
        bool untouched = allocations <= n;
        refused_from = -1;
        if (status != SONDE_OK)
            continue;
        read_many(capture, 1);
        const sonde_telemetry *now = NULL;
        assert_int_equal(sonde_capture_read(capture, &now), SONDE_OK);
        for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++)
            if (sonde_telemetry_rows(now, (sonde_table)i) > undisturbed.rows[i])
                fail_msg("table %u has too many rows", i);
        sonde_capture_close(capture);
        if (untouched)
            return;
    }
    fail_msg("never without a failure");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settled_handle_allocates_nothing),
        cmocka_unit_test(one_failed_allocation_loses_what_needed_it),
        cmocka_unit_test(memory_that_stays_short_loses_what_needed_it),
        cmocka_unit_test(values_return_with_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
