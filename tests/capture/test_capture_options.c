/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of sonde/capture.h refuse, and the names of types and levels. */
#include "capture_test.h"

#include <limits.h>

#define F(name) SONDE_FIELD_##name

static void assert_refused(const sonde_capture_options *options)
{
    char place[1];
    void *untouched = place;
    sonde_capture *capture = untouched;
    assert_int_equal(sonde_capture_open(options, &capture), SONDE_EINVAL);
    assert_ptr_equal(capture, untouched);
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    sonde_capture_options options[] = {
        SONDE_CAPTURE_OPTIONS_DEFAULT, SONDE_CAPTURE_OPTIONS_DEFAULT, SONDE_CAPTURE_OPTIONS_DEFAULT,
        SONDE_CAPTURE_OPTIONS_DEFAULT, SONDE_CAPTURE_OPTIONS_DEFAULT, SONDE_CAPTURE_OPTIONS_DEFAULT,
    };
    options[0].size = 0;
    options[1].size++;
    options[2].types = SONDE_CAPTURE_ALL + 1u;
    options[3].level = SONDE_LEVEL_COUNT;
    options[4].pid = -1;
    options[5].pid = INT_MIN;
    for (size_t i = 0; i < COUNT_OF(options); i++)
        assert_refused(&options[i]);
}

static void long_paths_are_refused(void **state)
{
    (void)state;
    char text[1024];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = text;
    assert_refused(&options);
    options.root = FIXTURES "noswap";
    const char *one[] = {text, NULL};
    options.paths = one;
    assert_refused(&options);
    text[SONDE_PATH_BYTES] = '\0';
    assert_refused(&options);
    text[SONDE_PATH_BYTES - 1] = '\0';
    sonde_capture_close(open_options(&options));
}

static void too_many_paths_are_refused(void **state)
{
    (void)state;
    const char *paths[SONDE_PATHS_MAX + 2];
    for (size_t i = 0; i < COUNT_OF(paths); i++)
        paths[i] = "/";
    paths[SONDE_PATHS_MAX + 1] = NULL;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.paths = paths;
    assert_refused(&options);
    paths[SONDE_PATHS_MAX] = NULL;
    sonde_capture *capture = open_options(&options);
    assert_int_equal(sonde_telemetry_rows(read_now(capture), SONDE_TABLE_PATHS), SONDE_PATHS_MAX);
    sonde_capture_close(capture);
}

static void closing_nothing_is_allowed(void **state)
{
    (void)state;
    sonde_capture_close(NULL);
}

static void nothing_asked_for_is_nothing_read(void **state)
{
    (void)state;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = 0;
    sonde_capture *capture = open_options(&options);
    const sonde_telemetry *now = read_now(capture);
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++)
        assert_reason(now, (sonde_field)i, SONDE_EOFF);
    sonde_capture_close(capture);
}

static void getters_refuse_what_is_not_there(void **state)
{
    (void)state;
    sonde_capture *capture = open_root(FIXTURES "linux5_10");
    const sonde_telemetry *now = read_now(capture);
    const sonde_field beyond = SONDE_FIELD_COUNT;
    uint64_t number = 42;
    double real = 42;
    const char *text = "untouched";
    assert_int_equal(sonde_telemetry_status(now, beyond), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_uint(now, beyond, &number), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_double(now, beyond, &real), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_uint(now, F(CPU_USER), &number), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_uint(now, F(PROCESS_EXECUTABLE), &number), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_double(now, F(PROCESS_CMD_LINE), &real), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_text(now, F(CPU_USER), 0, &text), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_text(now, F(PROCESS_EXECUTABLE), 1, &text), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_uint(now, F(PROCESS_FILES), &number), SONDE_EUNSUPPORTED);
    assert_int_equal(number, 42);
    assert_true(real == 42);
    assert_string_equal(text, "untouched");
    assert_int_equal(sonde_telemetry_double(now, F(PROCESS_THREADS), &real), SONDE_OK);
    assert_true(real == 4);
    sonde_capture_close(capture);
}

static void rows_refuse_what_is_not_there(void **state)
{
    (void)state;
    sonde_capture *capture = open_root(FIXTURES "linux5_10");
    const sonde_telemetry *now = read_now(capture);
    const sonde_table beyond = SONDE_TABLE_COUNT;
    uint64_t number = 42;
    assert_int_equal(sonde_telemetry_rows(now, beyond), 0);
    assert_null(sonde_telemetry_row_name(now, beyond, 0));
    assert_null(sonde_telemetry_row_name(now, SONDE_TABLE_DISKS, 4));
    assert_int_equal(
        sonde_telemetry_row_uint(now, SONDE_TABLE_DISKS, 4, F(DISK_READ_COUNT), &number),
        SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_row_uint(now, SONDE_TABLE_DISKS, 0, F(DISK_TOTAL), &number),
                     SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_row_uint(now, beyond, 0, F(DISK_READ_COUNT), &number),
                     SONDE_EINVAL);
    assert_int_equal(number, 42);
    sonde_capture_close(capture);
}

static void assert_types(const char *list, unsigned expected)
{
    unsigned types = 0;
    const char *bad = NULL;
    size_t bad_len = 0;
    assert_int_equal(sonde_capture_types_parse(list, &types, &bad, &bad_len), SONDE_OK);
    assert_int_equal(types, expected);
}

static void assert_bad_type(const char *list, size_t at, size_t len)
{
    unsigned types = 42;
    const char *bad = NULL;
    size_t bad_len = 0;
    assert_int_equal(sonde_capture_types_parse(list, &types, &bad, &bad_len), SONDE_EINVAL);
    assert_int_equal(types, 42);
    assert_ptr_equal(bad, list + at);
    assert_int_equal(bad_len, len);
}

static void types_have_names(void **state)
{
    (void)state;
    assert_types("cpu", SONDE_CAPTURE_CPU);
    assert_types("mem,memory", SONDE_CAPTURE_MEMORY);
    assert_types("process_info,process", SONDE_CAPTURE_PROCESS);
    assert_types("cpu,per_cpu,process_info,mem,disk,network", SONDE_CAPTURE_STANDARD);
    assert_bad_type("", 0, 0);
    assert_bad_type("cpu,", 4, 0);
    assert_bad_type("cpu,gpus,disk", 4, 4);
    assert_bad_type("CPU", 0, 3);
    assert_bad_type("cpu disk", 0, 8);
}

static void levels_have_names(void **state)
{
    (void)state;
    sonde_level level = SONDE_LEVEL_COUNT;
    for (unsigned i = 0; i < SONDE_LEVEL_COUNT; i++) {
        assert_int_equal(sonde_level_parse(sonde_level_name((sonde_level)i), &level), SONDE_OK);
        assert_int_equal(level, i);
    }
    assert_null(sonde_level_name(SONDE_LEVEL_COUNT));
    assert_int_equal(sonde_level_parse("Full", &level), SONDE_EINVAL);
    assert_int_equal(sonde_level_parse("", &level), SONDE_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(long_paths_are_refused),
        cmocka_unit_test(too_many_paths_are_refused),
        cmocka_unit_test(closing_nothing_is_allowed),
        cmocka_unit_test(nothing_asked_for_is_nothing_read),
        cmocka_unit_test(getters_refuse_what_is_not_there),
        cmocka_unit_test(rows_refuse_what_is_not_there),
        cmocka_unit_test(types_have_names),
        cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
