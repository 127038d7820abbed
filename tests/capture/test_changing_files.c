/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel files that change between two readings: percentages, and files that are cut, garbled,
   unreadable or not there. What they told goes missing with its reason; everything else stays. */
#include "machine_copy.h"

#include <sys/prctl.h>
#include <time.h>

#define F(name) SONDE_FIELD_##name

enum { NOBODY = 65534 };

static void assert_percent(const sonde_telemetry *now, double expected)
{
    assert_double(now, F(CPU_PERCENT), expected);
}

/* 100 ticks, of which 60 idle and 10 waiting; guest time is part of user time. */
static void cpu_percent_is_between_two_readings(void **state)
{
    (void)state;
    machine_copy("noswap");
    machine_text("proc/stat", "cpu  1000 20 400 5000 80 0 40 0 10 0\n"
                              "cpu0 500 20 400 5000 80 0 40 0 10 0\n"
                              "cpu1 500 0 0 0 0 0 0 0 0 0\n");
    sonde_capture *capture = open_root(machine_root);
    assert_reason(read_now(capture), F(CPU_PERCENT), SONDE_EEARLY);
    machine_text("proc/stat", "cpu  1025 20 405 5060 90 0 40 0 22 0\n"
                              "cpu0 520 20 405 5075 80 0 40 0 10 0\n"
                              "cpu1 503 0 0 0 0 0 0 0 0 0\n");
    const sonde_telemetry *now = read_now(capture);
    assert_percent(now, 30.0);
    assert_row_double(now, 0, F(CPU_PERCENT), 25.0);
    assert_row_double(now, 1, F(CPU_PERCENT), 100.0);
    assert_reason(read_now(capture), F(CPU_PERCENT), SONDE_EEARLY);
    sonde_capture_close(capture);
}

/* iowait may go backwards; that step counts as none. */
static void cpu_time_going_backwards_counts_as_none(void **state)
{
    (void)state;
    machine_copy("noswap");
    machine_text("proc/stat", "cpu  1000 0 0 5000 80 0 0 0 0 0\n");
    sonde_capture *capture = open_root(machine_root);
    machine_text("proc/stat", "cpu  1001 0 0 5007 30 0 0 0 0 0\n");
    assert_percent(read_now(capture), 12.5);
    sonde_capture_close(capture);
}

/* A CPU that comes or goes shifts the lines; its first reading has nothing to compare with. */
static void cpu_that_comes_online_has_no_percentage_yet(void **state)
{
    (void)state;
    machine_copy("noswap");
    machine_text("proc/stat", "cpu  9 9 9 9\ncpu0 9 9 9 9\ncpu2 9 9 9 9\n");
    sonde_capture *capture = open_root(machine_root);
    machine_text("proc/stat", "cpu  10 9 9 9\ncpu0 10 9 9 9\ncpu1 1 2 3 4\ncpu2 10 9 9 9\n");
    const sonde_telemetry *now = read_now(capture);
    static const char *const names[] = {"0", "1", "2"};
    assert_row_names(now, SONDE_TABLE_CPUS, names, 3);
    assert_row_double(now, 0, F(CPU_PERCENT), 100.0);
    double ignored;
    for (size_t row = 1; row < 3; row++)
        assert_int_equal(
            sonde_telemetry_row_double(now, SONDE_TABLE_CPUS, row, F(CPU_PERCENT), &ignored),
            SONDE_EEARLY);
    machine_text("proc/stat", "cpu  11 9 9 9\ncpu0 10 9 9 10\ncpu2 10 9 9 9\n");
    assert_int_equal(sonde_telemetry_rows(read_now(capture), SONDE_TABLE_CPUS), 2);
    sonde_capture_close(capture);
}

/* Cause: the garbled line of one CPU was taken for the total. */
static void garbled_cpu_line_loses_that_cpu_only(void **state)
{
    (void)state;
    machine_copy("noswap");
    sonde_capture *capture = open_root(machine_root);
    machine_text("proc/stat", "cpu  7 6 5 4\ncpu0 3 x 9 9\ncpux 1 2 3 4\ncpu2 9 9 9 9\n");
    const sonde_telemetry *now = read_now(capture);
    static const char *const names[] = {"0", "?", "2"};
    assert_row_names(now, SONDE_TABLE_CPUS, names, 3);
    assert_double(now, F(CPU_USER), ticks(7));
    assert_row_double(now, 2, F(CPU_USER), ticks(9));
    double ignored;
    for (size_t row = 0; row < 2; row++)
        assert_int_equal(
            sonde_telemetry_row_double(now, SONDE_TABLE_CPUS, row, F(CPU_USER), &ignored),
            SONDE_EBADDATA);
    sonde_capture_close(capture);
}

static void process_percent_is_between_two_readings(void **state)
{
    (void)state;
    machine_copy("linux6_x");
    sonde_capture *capture = open_root(machine_root);
    machine_replace("proc/self/stat", " 250 50 ", " 251 52 ");
    const sonde_telemetry *now = read_now(capture);
    double window_s = (double)sonde_telemetry_window_ns(now) / 1e9;
    assert_true(window_s > 0);
    double exact = (ticks(251 + 52) - ticks(250 + 50)) / window_s * 100;
    assert_true(fabs(double_of(now, F(PROCESS_CPU_PERCENT)) - exact) <= 0.05 + exact * 1e-12);
    sonde_capture_close(capture);
}

/* The values a file is the source of, and why they go missing when it holds none of its lines. */
static const struct file_fields {
    const char *file;
    sonde_field range[3][2];
    sonde_status empty;
    sonde_status garbage;
} files[] = {
    {"proc/stat", {{F(CPU_USER), F(CPU_PERCENT)}}, SONDE_EBADDATA, SONDE_EBADDATA},
    {"proc/cpuinfo", {{F(CPU_FREQUENCY), F(CPU_FREQUENCY)}}, SONDE_EABSENT, SONDE_EABSENT},
    {"proc/meminfo", {{F(MEMORY_TOTAL), F(SWAP_PERCENT)}}, SONDE_EBADDATA, SONDE_EBADDATA},
    {"proc/vmstat", {{F(SWAP_IN), F(SWAP_OUT)}}, SONDE_EABSENT, SONDE_EABSENT},
    {"proc/diskstats", {{F(DISK_READ_COUNT), F(DISK_BUSY_TIME)}}, SONDE_EABSENT, SONDE_EBADDATA},
    {"proc/net/dev", {{F(NETWORK_BYTES_SENT), F(NETWORK_DROPOUT)}}, SONDE_EABSENT, SONDE_EBADDATA},
    {"proc/self/stat",
     {{F(PROCESS_PID), F(PROCESS_CPU_NUMBER)},
      {F(PROCESS_USER), F(PROCESS_CPU_PERCENT)},
      {F(PROCESS_THREADS), F(PROCESS_THREADS)}},
     SONDE_EBADDATA,
     SONDE_EBADDATA},
    {"proc/self/statm",
     {{F(PROCESS_RSS), F(PROCESS_MEMORY_PERCENT)}},
     SONDE_EBADDATA,
     SONDE_EBADDATA},
    {"proc/self/status",
     {{F(PROCESS_SWITCHES_VOLUNTARY), F(PROCESS_SWITCHES_INVOLUNTARY)}},
     SONDE_EABSENT,
     SONDE_EABSENT},
    {"proc/self/io",
     {{F(PROCESS_READ_COUNT), F(PROCESS_WRITE_CHARS)}},
     SONDE_EBADDATA,
     SONDE_EBADDATA},
};

static bool is_field_of(const struct file_fields *file, sonde_field field)
{
    for (unsigned i = 0; i < 3; i++)
        if (file->range[i][1] > 0 && field >= file->range[i][0] && field <= file->range[i][1])
            return true;
    return file->range[0][1] == 0 && field == file->range[0][0];
}

/* The fields of the file have the reason, all others are as they were (early or not aside). */
static void assert_lost(const struct file_fields *file, const sonde_telemetry *now,
                        const sonde_status *before, sonde_status reason)
{
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        sonde_field field = (sonde_field)i;
        if (is_field_of(file, field))
            assert_reason(now, field, reason);
        else if (field != F(CPU_PERCENT))
            assert_reason(now, field, before[i]);
    }
}

static void keep_statuses(const sonde_telemetry *now, sonde_status *status)
{
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++)
        status[i] = sonde_telemetry_status(now, (sonde_field)i);
}

/* Writes other bytes over one file after the other; puts each back and sees its values return. */
static void replace_each(const char *bytes, size_t len, bool empty, sonde_status instead)
{
    machine_copy("linux5_10");
    sonde_capture *capture = open_root(machine_root);
    sonde_status before[SONDE_FIELD_COUNT];
    keep_statuses(read_now(capture), before);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        size_t good_len;
        char *good = machine_read(files[i].file, &good_len);
        sonde_status reason = empty ? files[i].empty : files[i].garbage;
        machine_write(files[i].file, bytes, len);
        assert_lost(&files[i], read_now(capture), before, instead ? instead : reason);
        machine_write(files[i].file, good, good_len);
        const sonde_telemetry *now = read_now(capture);
        for (unsigned f = 0; f < SONDE_FIELD_COUNT; f++)
            if (f != F(CPU_PERCENT) && f != F(PROCESS_CPU_PERCENT))
                assert_reason(now, (sonde_field)f, before[f]);
        free(good);
    }
    sonde_capture_close(capture);
}

static void empty_file_loses_its_fields_only(void **state)
{
    (void)state;
    replace_each("", 0, true, SONDE_OK);
}

static void text_of_another_kind_loses_its_fields_only(void **state)
{
    (void)state;
    const char text[] = "all work and no play\nmakes Jack a dull boy\n";
    replace_each(text, sizeof text - 1, false, SONDE_OK);
}

static void binary_bytes_lose_their_fields_only(void **state)
{
    (void)state;
    char bytes[5000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7 + i / 256);
    bytes[sizeof bytes - 1] = '\n';
    replace_each(bytes, sizeof bytes, false, SONDE_OK);
}

static void file_beyond_the_limit_loses_its_fields_only(void **state)
{
    (void)state;
    const size_t len = 5 << 20;
    char *bytes = malloc(len);
    assert_non_null(bytes);
    memset(bytes, '\n', len);
    replace_each(bytes, len, false, SONDE_ELIMIT);
    free(bytes);
}

/* Cause: garbled parts counted as 0, and what is computed from them was told as absent. */
static void garbled_part_of_meminfo_loses_what_is_computed_from_it(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
        sonde_field lost[5];
        size_t count;
    } cases[] = {
        {"Buffers:          2", "Buffers:          x", {F(MEMORY_BUFFERS), F(MEMORY_USED)}, 2},
        {"SReclaimable:     4", "SReclaimable:     x", {F(MEMORY_CACHED), F(MEMORY_USED)}, 2},
        {"\nCached:         1", "\nCached:         x", {F(MEMORY_CACHED), F(MEMORY_USED)}, 2},
        {"MemFree:         1", "MemFree:         x", {F(MEMORY_FREE), F(MEMORY_USED)}, 2},
        {"MemAvailable:   1", "MemAvailable:   x", {F(MEMORY_AVAILABLE), F(MEMORY_PERCENT)}, 2},
        {"MemTotal:       1",
         "MemTotal:       x",
         {F(MEMORY_TOTAL), F(MEMORY_PERCENT), F(MEMORY_USED)},
         3},
        {"SwapFree:        1",
         "SwapFree:        x",
         {F(SWAP_FREE), F(SWAP_USED), F(SWAP_PERCENT)},
         3},
        {"SwapFree:        1", "SwapFree:        9", {F(SWAP_USED), F(SWAP_PERCENT)}, 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        machine_copy("linux5_10");
        sonde_capture *capture = open_root(machine_root);
        machine_replace("proc/meminfo", cases[i].from, cases[i].to);
        const sonde_telemetry *now = read_now(capture);
        for (unsigned f = F(MEMORY_TOTAL); f <= F(SWAP_PERCENT); f++) {
            bool lost = false;
            for (size_t j = 0; j < cases[i].count; j++)
                lost |= cases[i].lost[j] == (sonde_field)f;
            assert_reason(now, (sonde_field)f, lost ? SONDE_EBADDATA : SONDE_OK);
        }
        sonde_capture_close(capture);
        machine_remove();
    }
}

/* Inside LXC the parts may not add up. */
static void memory_parts_that_do_not_add_up(void **state)
{
    (void)state;
    machine_copy("noswap");
    machine_text("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 600 kB\nMemAvailable: 2000 kB\n"
                                 "Buffers: 300 kB\nCached: 400 kB\n");
    sonde_capture *capture = open_root(machine_root);
    const sonde_telemetry *now = read_now(capture);
    assert_uint(now, F(MEMORY_USED), KIB(400));
    assert_uint(now, F(MEMORY_AVAILABLE), KIB(600));
    assert_double(now, F(MEMORY_PERCENT), 40.0);
    assert_reason(now, F(MEMORY_SLAB), SONDE_EABSENT);
    assert_reason(now, F(SWAP_USED), SONDE_EABSENT);
    sonde_capture_close(capture);
}

/* Cause: the sum was taken over the lines that could be read. */
static void garbled_disk_line_loses_the_sum_and_its_row(void **state)
{
    (void)state;
    machine_copy("linux5_10");
    sonde_capture *capture = open_root(machine_root);
    machine_replace("proc/diskstats", "sr0 3 0", "sr0 3 x");
    const sonde_telemetry *now = read_now(capture);
    uint64_t ignored;
    assert_reason(now, F(DISK_READ_COUNT), SONDE_EBADDATA);
    assert_row_uint(now, SONDE_TABLE_DISKS, 0, F(DISK_READ_COUNT), 1000);
    assert_int_equal(
        sonde_telemetry_row_uint(now, SONDE_TABLE_DISKS, 3, F(DISK_READ_COUNT), &ignored),
        SONDE_EBADDATA);
    machine_replace("proc/diskstats", "  11       0 sr0", "  1y       0 sr0");
    now = read_now(capture);
    assert_reason(now, F(DISK_READ_COUNT), SONDE_EBADDATA);
    assert_int_equal(sonde_telemetry_rows(now, SONDE_TABLE_DISKS), 3);
    sonde_capture_close(capture);
}

static void garbled_interface_loses_the_sum_and_its_row(void **state)
{
    (void)state;
    machine_copy("linux5_10");
    sonde_capture *capture = open_root(machine_root);
    machine_replace("proc/net/dev", "docker0:       0", "docker0:       x");
    const sonde_telemetry *now = read_now(capture);
    uint64_t ignored;
    assert_reason(now, F(NETWORK_BYTES_SENT), SONDE_EBADDATA);
    assert_int_equal(sonde_telemetry_rows(now, SONDE_TABLE_INTERFACES), 3);
    assert_int_equal(
        sonde_telemetry_row_uint(now, SONDE_TABLE_INTERFACES, 2, F(NETWORK_ERRIN), &ignored),
        SONDE_EBADDATA);
    sonde_capture_close(capture);
}

/* At level regular a disk is read from /sys/block; when that file turns bad, from diskstats. */
static void block_stat_that_turns_bad_is_replaced(void **state)
{
    (void)state;
    machine_copy("linux6_x");
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = machine_root;
    options.level = SONDE_LEVEL_REGULAR;
    sonde_capture *capture = open_options(&options);
    machine_text("sys/block/vda/stat", "garbage\n");
    assert_uint(read_now(capture), F(DISK_READ_COUNT), 77907);
    machine_text("proc/diskstats", "garbage\n");
    assert_reason(read_now(capture), F(DISK_READ_COUNT), SONDE_EBADDATA);
    sonde_capture_close(capture);
}

static void policy_that_turns_bad_loses_the_frequency(void **state)
{
    (void)state;
    machine_copy("aarch64");
    sonde_capture *capture = open_root(machine_root);
    machine_text("sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "<unknown>\n");
    assert_reason(read_now(capture), F(CPU_FREQUENCY), SONDE_EBADDATA);
    machine_text("sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "600000\n");
    assert_double(read_now(capture), F(CPU_FREQUENCY), 1200.0);
    sonde_capture_close(capture);
}

/* Cause: a garbled cpuinfo was told as absent when there are no policies either. */
static void garbled_frequency_at_open_is_bad(void **state)
{
    (void)state;
    machine_copy("linux5_10");
    machine_replace("proc/cpuinfo", ": 1200.500", ": 12x0.500");
    sonde_capture *capture = open_root(machine_root);
    assert_reason(read_now(capture), F(CPU_FREQUENCY), SONDE_EBADDATA);
    sonde_capture_close(capture);
}

/* Missing when the handle is opened: absent; found again once it is there and a second has passed.
 */
static void file_that_appears_later_is_found(void **state)
{
    (void)state;
    machine_copy("linux5_10");
    char path[MACHINE_PATH_BYTES], aside[MACHINE_PATH_BYTES];
    sonde_status before[SONDE_FIELD_COUNT];
    sonde_capture *capture = open_root(machine_root);
    keep_statuses(read_now(capture), before);
    sonde_capture_close(capture);
    machine_path(aside, "aside");
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        machine_path(path, files[i].file);
        assert_int_equal(rename(path, aside), 0);
        capture = open_root(machine_root);
        sonde_status expected[SONDE_FIELD_COUNT];
        memcpy(expected, before, sizeof expected);
        if (strcmp(files[i].file, "proc/meminfo") == 0)
            expected[F(PROCESS_MEMORY_PERCENT)] = SONDE_EABSENT;
        assert_lost(&files[i], read_now(capture), expected, SONDE_EABSENT);
        assert_int_equal(rename(aside, path), 0);
        if (i + 1 == COUNT_OF(files)) {
            const struct timespec while_rechecked = {.tv_sec = 1, .tv_nsec = 100000000};
            nanosleep(&while_rechecked, NULL);
            assert_lost(&files[i], read_now(capture), expected, SONDE_OK);
        }
        sonde_capture_close(capture);
    }
}

static void folder_in_place_of_a_file_gives_a_reason(void **state)
{
    (void)state;
    machine_copy("linux5_10");
    char path[MACHINE_PATH_BYTES];
    machine_path(path, "proc/vmstat");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    sonde_capture *capture = open_root(machine_root);
    const sonde_telemetry *now = read_now(capture);
    assert_reason(now, F(SWAP_IN), SONDE_EIO);
    assert_reason(now, F(SWAP_TOTAL), SONDE_OK);
    sonde_capture_close(capture);
}

/* As an ordinary user, whom file modes bind. */
static void read_denied_files(const void *argument)
{
    const sonde_status *before = argument;
    CHECK(geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0));
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = machine_root;
    sonde_capture *capture = NULL;
    const sonde_telemetry *now = NULL;
    CHECK(sonde_capture_open(&options, &capture) == SONDE_OK);
    CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        bool denied = i == F(PROCESS_MEMORY_PERCENT);
        for (size_t j = 0; j < COUNT_OF(files); j++)
            denied |= is_field_of(&files[j], (sonde_field)i);
        sonde_status status = sonde_telemetry_status(now, (sonde_field)i);
        if (status != (denied ? SONDE_EDENIED : before[i]))
            fprintf(stderr, "%s: %s\n", path_of((sonde_field)i), sonde_status_name(status));
        CHECK(status == (denied ? SONDE_EDENIED : before[i]));
    }
    sonde_capture_close(capture);
}

static void unreadable_files_are_denied(void **state)
{
    (void)state;
    machine_copy("linux5_10");
    sonde_status before[SONDE_FIELD_COUNT];
    sonde_capture *capture = open_root(machine_root);
    keep_statuses(read_now(capture), before);
    sonde_capture_close(capture);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char path[MACHINE_PATH_BYTES];
        machine_path(path, files[i].file);
        assert_int_equal(chmod(path, 0), 0);
    }
    run_in_child(read_denied_files, before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, machine_teardown)
    const struct CMUnitTest tests[] = {
        TEST(cpu_percent_is_between_two_readings),
        TEST(cpu_time_going_backwards_counts_as_none),
        TEST(cpu_that_comes_online_has_no_percentage_yet),
        TEST(garbled_cpu_line_loses_that_cpu_only),
        TEST(process_percent_is_between_two_readings),
        TEST(empty_file_loses_its_fields_only),
        TEST(text_of_another_kind_loses_its_fields_only),
        TEST(binary_bytes_lose_their_fields_only),
        TEST(file_beyond_the_limit_loses_its_fields_only),
        TEST(garbled_part_of_meminfo_loses_what_is_computed_from_it),
        TEST(memory_parts_that_do_not_add_up),
        TEST(garbled_disk_line_loses_the_sum_and_its_row),
        TEST(garbled_interface_loses_the_sum_and_its_row),
        TEST(block_stat_that_turns_bad_is_replaced),
        TEST(policy_that_turns_bad_loses_the_frequency),
        TEST(garbled_frequency_at_open_is_bad),
        TEST(file_that_appears_later_is_found),
        TEST(folder_in_place_of_a_file_gives_a_reason),
        TEST(unreadable_files_are_denied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
