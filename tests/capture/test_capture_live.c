/* SPDX-License-Identifier: Apache-2.0 */
/* This machine: which fields each level and type reports, and their values between two readings of
   the same kernel files by the test itself. */
#include "capture_test.h"

#include <dirent.h>
#include <sys/resource.h>

#define F(name) SONDE_FIELD_##name

static bool within(sonde_field field, sonde_field first, sonde_field last)
{
    return field >= first && field <= last;
}

/* What sonde/capture.h and docs/capture.md promise for a level. CPU times of another process come
   from /proc/PID/stat, and with them what else it holds. */
static bool is_reported(sonde_level level, sonde_field field, bool other)
{
    bool stat = field == F(PROCESS_CPU_NUMBER) || field == F(PROCESS_THREADS) ||
                within(field, F(PROCESS_CHILDREN_USER), F(PROCESS_IOWAIT));
    bool light = (other && stat) || field == F(PROCESS_PID) || field == F(PROCESS_USER) ||
                 field == F(PROCESS_SYSTEM) || field == F(PROCESS_CPU_PERCENT) ||
                 within(field, F(PROCESS_RSS), F(PROCESS_MEMORY_PERCENT));
    bool regular = light || within(field, F(CPU_USER), F(CPU_PERCENT)) ||
                   within(field, F(MEMORY_TOTAL), F(SWAP_PERCENT)) ||
                   within(field, F(DISK_READ_COUNT), F(DISK_BUSY_TIME)) ||
                   within(field, F(NETWORK_BYTES_SENT), F(NETWORK_DROPOUT)) ||
                   (within(field, F(CGROUP_VERSION), F(TREE_WRITE_CHARS)) && field != F(TREE_PSS));
    return level == SONDE_LEVEL_LIGHT ? light : level == SONDE_LEVEL_REGULAR ? regular : true;
}

static unsigned type_of(sonde_field field)
{
    static const unsigned types[SONDE_SECTION_COUNT] = {
        SONDE_CAPTURE_CPU,     SONDE_CAPTURE_PROCESS, SONDE_CAPTURE_MEMORY,   SONDE_CAPTURE_DISK,
        SONDE_CAPTURE_NETWORK, SONDE_CAPTURE_CGROUP,  SONDE_CAPTURE_PRESSURE, SONDE_CAPTURE_ENERGY,
        SONDE_CAPTURE_LOAD,    SONDE_CAPTURE_THERMAL, SONDE_CAPTURE_TREE};
    return types[sonde_field_describe(field)->section];
}

static void assert_reported(unsigned types, sonde_level level, int pid)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = types;
    options.level = level;
    options.pid = pid;
    sonde_capture *capture = open_options(&options);
    const sonde_telemetry *now = read_now(capture);
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        sonde_field field = (sonde_field)i;
        bool expected = (type_of(field) & types) && is_reported(level, field, pid != 0);
        if ((sonde_telemetry_status(now, field) != SONDE_EOFF) != expected)
            fail_msg("%s at level %s for types %u is %s", path_of(field), sonde_level_name(level),
                     types, sonde_status_name(sonde_telemetry_status(now, field)));
    }
    bool full = level == SONDE_LEVEL_FULL;
    if (!full || !(types & SONDE_CAPTURE_PER_CPU))
        assert_int_equal(sonde_telemetry_rows(now, SONDE_TABLE_CPUS), 0);
    else if (!no_procfs())
        assert_true(sonde_telemetry_rows(now, SONDE_TABLE_CPUS) > 0);
    if (!full || !(types & SONDE_CAPTURE_NETWORK))
        assert_int_equal(sonde_telemetry_rows(now, SONDE_TABLE_INTERFACES), 0);
    sonde_capture_close(capture);
}

/* Cause: the totals of CPUs were told as absent when only single CPUs were asked for. */
static void levels_and_types_report_what_they_promise(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    for (unsigned level = 0; level < SONDE_LEVEL_COUNT; level++) {
        assert_reported(SONDE_CAPTURE_ALL, (sonde_level)level, 0);
        assert_reported(SONDE_CAPTURE_ALL, (sonde_level)level, getppid());
        for (unsigned bit = 1; bit < SONDE_CAPTURE_ALL; bit <<= 1)
            assert_reported(bit, (sonde_level)level, 0);
    }
}

/* A value where one is told, a reason that means something where not; JSON agrees. */
static void every_field_has_a_value_or_a_reason(void **state)
{
    (void)state;
    for (unsigned level = 0; level < SONDE_LEVEL_COUNT; level++) {
        sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
        options.level = (sonde_level)level;
        sonde_capture *capture = open_options(&options);
        const sonde_telemetry *now = read_now(capture);
        const char *json = NULL;
        size_t len = 0;
        assert_int_equal(sonde_capture_json(capture, &json, &len), SONDE_OK);
        assert_int_equal(strlen(json), len);
        const char *missing = strstr(json, "\"missing\":{");
        assert_non_null(missing);
        for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
            sonde_field field = (sonde_field)i;
            sonde_status status = sonde_telemetry_status(now, field);
            assert_string_not_equal(sonde_status_name(status), "unknown");
            assert_true(status != SONDE_EINVAL);
            char key[128];
            snprintf(key, sizeof key, "\"%s\":\"", path_of(field));
            bool told = status != SONDE_OK && status != SONDE_EOFF;
            assert_int_equal(strstr(missing, key) != NULL, told);
        }
        sonde_capture_close(capture);
    }
}

/* The numbers behind a key at the start of a line; true when it was there. */
static bool scan_file(const char *path, const char *key, uint64_t *value, size_t count)
{
    FILE *file = fopen(path, "re");
    char line[1024];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        char *at = line + strlen(key);
        for (size_t i = 0; i < count; i++)
            value[i] = strtoull(at, &at, 10);
        found = true;
    }
    if (file)
        fclose(file);
    return found;
}

static void assert_between(sonde_field field, uint64_t before, uint64_t value, uint64_t after)
{
    if (value < before || value > after)
        fail_msg("%s: %llu is not in %llu ... %llu", path_of(field), (unsigned long long)value,
                 (unsigned long long)before, (unsigned long long)after);
}

static void cpu_times_are_between_two_readings(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    static const unsigned steady[] = {0, 1, 2, 5, 6, 7}; /* idle and iowait may go backwards */
    sonde_capture *capture = open_options(NULL);
    uint64_t before[10], after[10];
    assert_true(scan_file("/proc/stat", "cpu ", before, 10));
    const sonde_telemetry *now = read_now(capture);
    assert_true(scan_file("/proc/stat", "cpu ", after, 10));
    for (size_t i = 0; i < COUNT_OF(steady); i++) {
        sonde_field field = (sonde_field)(F(CPU_USER) + steady[i]);
        double value = double_of(now, field);
        assert_true(value >= ticks(before[steady[i]]) && value <= ticks(after[steady[i]]));
    }
    sonde_capture_close(capture);
}

static void memory_is_that_of_meminfo(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    sonde_capture *capture = open_options(NULL);
    const sonde_telemetry *now = read_now(capture);
    uint64_t total, swap, free_kb;
    assert_true(scan_file("/proc/meminfo", "MemTotal:", &total, 1));
    assert_true(scan_file("/proc/meminfo", "SwapTotal:", &swap, 1));
    assert_true(scan_file("/proc/meminfo", "MemFree:", &free_kb, 1));
    assert_uint(now, F(MEMORY_TOTAL), KIB(total));
    assert_uint(now, F(SWAP_TOTAL), KIB(swap));
    assert_true(uint_of(now, F(MEMORY_FREE)) < KIB(total));
    assert_true(uint_of(now, F(MEMORY_USED)) < KIB(total));
    sonde_capture_close(capture);
}

/* Whole disks by another rule than Sonde's: those /sys/block lists. */
static size_t sum_disks(uint64_t sum[9])
{
    FILE *file = fopen("/proc/diskstats", "re");
    size_t disks = 0;
    char line[512], name[64], path[128];
    memset(sum, 0, 9 * sizeof *sum);
    while (file && fgets(line, sizeof line, file)) {
        uint64_t c[10];
        if (sscanf(line, "%*u %*u %63s %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu", name, &c[0], &c[1],
                   &c[2], &c[3], &c[4], &c[5], &c[6], &c[7], &c[8], &c[9]) != 11)
            continue;
        for (char *slash = name; (slash = strchr(slash, '/')) != NULL;)
            *slash = '!';
        snprintf(path, sizeof path, "/sys/block/%s", name);
        if (access(path, F_OK) != 0)
            continue;
        const uint64_t ordered[] = {c[0], c[4], c[2] * 512, c[6] * 512, c[3],
                                    c[7], c[1], c[5],       c[9]};
        for (unsigned i = 0; i < 9; i++)
            sum[i] += ordered[i];
        disks++;
    }
    if (file)
        fclose(file);
    return disks;
}

static void disk_sums_are_between_two_readings(void **state)
{
    (void)state;
    for (unsigned level = SONDE_LEVEL_REGULAR; level <= SONDE_LEVEL_FULL; level++) {
        sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
        options.level = (sonde_level)level;
        sonde_capture *capture = open_options(&options);
        uint64_t before[9], after[9];
        for (unsigned round = 0; round < 3; round++) {
            if (sum_disks(before) == 0) {
                print_message("skipped: no disks here\n");
                sonde_capture_close(capture);
                skip();
            }
            const sonde_telemetry *now = read_now(capture);
            sum_disks(after);
            for (unsigned i = 0; i < 9; i++) {
                sonde_field field = (sonde_field)(F(DISK_READ_COUNT) + i);
                assert_between(field, before[i], uint_of(now, field), after[i]);
            }
        }
        sonde_capture_close(capture);
    }
}

static size_t sum_interfaces(uint64_t sum[8])
{
    FILE *file = fopen("/proc/net/dev", "re");
    size_t interfaces = 0;
    char line[512];
    memset(sum, 0, 8 * sizeof *sum);
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strrchr(line, ':');
        uint64_t c[16];
        if (!colon)
            continue;
        char *at = colon + 1;
        for (unsigned i = 0; i < 16; i++)
            c[i] = strtoull(at, &at, 10);
        const uint64_t ordered[] = {c[8], c[0], c[9], c[1], c[2], c[10], c[3], c[11]};
        for (unsigned i = 0; i < 8; i++)
            sum[i] += ordered[i];
        interfaces++;
    }
    if (file)
        fclose(file);
    return interfaces;
}

static void network_sums_are_between_two_readings(void **state)
{
    (void)state;
    for (unsigned level = SONDE_LEVEL_REGULAR; level <= SONDE_LEVEL_FULL; level++) {
        sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
        options.level = (sonde_level)level;
        sonde_capture *capture = open_options(&options);
        uint64_t before[8], after[8];
        if (sum_interfaces(before) == 0) {
            print_message("skipped: no interfaces here\n");
            sonde_capture_close(capture);
            skip();
        }
        const sonde_telemetry *now = read_now(capture);
        sum_interfaces(after);
        for (unsigned i = 0; i < 8; i++) {
            sonde_field field = (sonde_field)(F(NETWORK_BYTES_SENT) + i);
            assert_between(field, before[i], uint_of(now, field), after[i]);
        }
        sonde_capture_close(capture);
    }
}

static double cpu_seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void process_counters_are_between_two_readings(void **state)
{
    (void)state;
    static const char *const io_keys[] = {
        "syscr:", "syscw:", "read_bytes:", "write_bytes:", "rchar:", "wchar:"};
    if (no_procfs())
        skip();
    sonde_capture *capture = open_options(NULL);
    uint64_t before[7], after[7];
    struct rusage usage_before, usage_after;
    scan_file("/proc/self/status", "voluntary_ctxt_switches:", &before[6], 1);
    for (unsigned i = 0; i < 6; i++)
        assert_true(scan_file("/proc/self/io", io_keys[i], &before[i], 1));
    getrusage(RUSAGE_SELF, &usage_before);
    const sonde_telemetry *now = read_now(capture);
    getrusage(RUSAGE_SELF, &usage_after);
    for (unsigned i = 0; i < 6; i++)
        assert_true(scan_file("/proc/self/io", io_keys[i], &after[i], 1));
    scan_file("/proc/self/status", "voluntary_ctxt_switches:", &after[6], 1);
    for (unsigned i = 0; i < 6; i++) {
        sonde_field field = (sonde_field)(F(PROCESS_READ_COUNT) + i);
        assert_between(field, before[i], uint_of(now, field), after[i]);
    }
    assert_between(F(PROCESS_SWITCHES_VOLUNTARY), before[6],
                   uint_of(now, F(PROCESS_SWITCHES_VOLUNTARY)), after[6]);
    double user = double_of(now, F(PROCESS_USER));
    assert_true(user >= cpu_seconds(usage_before.ru_utime) &&
                user <= cpu_seconds(usage_after.ru_utime));
    sonde_capture_close(capture);
}

/* The memory of the process stands still between two readings sooner or later. */
static void process_memory_is_that_of_statm(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    static const unsigned column[] = {1, 0, 2, 3, 4, 5, 6}; /* rss comes before vms */
    sonde_capture *capture = open_options(NULL);
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        uint64_t before[7], after[7];
        scan_file("/proc/self/statm", "", before, 7);
        const sonde_telemetry *now = read_now(capture);
        scan_file("/proc/self/statm", "", after, 7);
        if (memcmp(before, after, sizeof before) != 0)
            continue;
        for (unsigned i = 0; i < 7; i++)
            assert_uint(now, (sonde_field)(F(PROCESS_RSS) + i), pages(before[column[i]]));
        sonde_capture_close(capture);
        return;
    }
    fail_msg("never stood still");
}

static size_t count_entries(const char *path)
{
    DIR *dir = opendir(path);
    assert_non_null(dir);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void process_is_this_one(void **state)
{
    (void)state;
    if (no_procfs())
        skip();
    sonde_capture *capture = open_options(NULL);
    const sonde_telemetry *now = read_now(capture);
    assert_uint(now, F(PROCESS_PID), (uint64_t)getpid());
    assert_uint(now, F(PROCESS_THREADS), count_entries("/proc/self/task"));
    /* one of them is the folder being listed */
    assert_uint(now, F(PROCESS_DESCRIPTORS), count_entries("/proc/self/fd") - 1);
    const char *text = NULL;
    char exe[4096] = "";
    assert_true(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
    assert_int_equal(sonde_telemetry_text(now, F(PROCESS_EXECUTABLE), 0, &text), SONDE_OK);
    assert_string_equal(text, exe);
    assert_int_equal(sonde_telemetry_text(now, F(PROCESS_CMD_LINE), 0, &text), SONDE_OK);
    assert_non_null(strstr(text, "test_capture_live"));
    sonde_capture_close(capture);
}

static void windows_and_costs_are_told(void **state)
{
    (void)state;
    sonde_capture *capture = open_options(NULL);
    const sonde_telemetry *now = read_now(capture);
    uint64_t first_ns = sonde_telemetry_time_ns(now);
    assert_true(first_ns > 1500000000000000000u);
    assert_true(sonde_telemetry_window_ns(now) > 0);
    assert_true(sonde_telemetry_cost_ns(now) > 0);
    assert_true(sonde_telemetry_time_ns(read_now(capture)) >= first_ns);
    sonde_capture_close(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_and_types_report_what_they_promise),
        cmocka_unit_test(every_field_has_a_value_or_a_reason),
        cmocka_unit_test(cpu_times_are_between_two_readings),
        cmocka_unit_test(memory_is_that_of_meminfo),
        cmocka_unit_test(disk_sums_are_between_two_readings),
        cmocka_unit_test(network_sums_are_between_two_readings),
        cmocka_unit_test(process_counters_are_between_two_readings),
        cmocka_unit_test(process_memory_is_that_of_statm),
        cmocka_unit_test(process_is_this_one),
        cmocka_unit_test(windows_and_costs_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
