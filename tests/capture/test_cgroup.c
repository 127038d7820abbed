/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and use of containers: recorded ones, and a real cgroup v1 with a memory limit, where the
   test may make one. */
#include "machine_copy.h"

#include <sys/mman.h>

#define F(name) SONDE_FIELD_##name

static sonde_capture *open_cgroup(const char *root)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = root;
    options.types = SONDE_CAPTURE_CGROUP | SONDE_CAPTURE_MEMORY;
    return open_options(&options);
}

static void container_with_limits_and_an_oom_kill(void **state)
{
    (void)state;
    sonde_capture *capture = open_cgroup(FIXTURES "container_v2");
    const sonde_telemetry *now = read_now(capture);
    assert_uint(now, F(CGROUP_VERSION), 2);
    assert_double(now, F(CGROUP_CPU_LIMIT), 1.5);
    assert_double(now, F(CGROUP_CPU_AVAILABLE), 1.5);
    assert_double(now, F(CGROUP_CPU_USAGE), 12.5);
    assert_double(now, F(CGROUP_CPU_PERCENT), 0);
    assert_uint(now, F(CGROUP_CPU_PERIODS), 400);
    assert_uint(now, F(CGROUP_CPU_THROTTLED), 37);
    assert_double(now, F(CGROUP_CPU_THROTTLED_TIME), 1.85);
    assert_uint(now, F(CGROUP_MEMORY_LIMIT), 1 << 30);
    assert_uint(now, F(CGROUP_MEMORY_USAGE), 768 << 20);
    assert_uint(now, F(CGROUP_MEMORY_WORKING_SET), 512 << 20);
    assert_uint(now, F(CGROUP_MEMORY_PEAK), 1 << 30);
    assert_double(now, F(CGROUP_MEMORY_PERCENT), 50.0);
    assert_uint(now, F(CGROUP_MEMORY_OOM_KILLS), 2);
    assert_uint(now, F(CGROUP_PIDS_CURRENT), 57);
    assert_uint(now, F(CGROUP_PIDS_LIMIT), 512);
    assert_uint(now, F(MEMORY_TOTAL), KIB(65536000)); /* the host's figures stay beside them */
    sonde_capture_close(capture);
}

static void container_of_version_1(void **state)
{
    (void)state;
    sonde_capture *capture = open_cgroup(FIXTURES "container_v1");
    const sonde_telemetry *now = read_now(capture);
    assert_uint(now, F(CGROUP_VERSION), 1);
    assert_double(now, F(CGROUP_CPU_LIMIT), 0.5);
    assert_double(now, F(CGROUP_CPU_USAGE), 42.5);
    assert_uint(now, F(CGROUP_CPU_PERIODS), 1000);
    assert_uint(now, F(CGROUP_CPU_THROTTLED), 250);
    assert_double(now, F(CGROUP_CPU_THROTTLED_TIME), 3.5);
    assert_uint(now, F(CGROUP_MEMORY_LIMIT), 512 << 20);
    assert_uint(now, F(CGROUP_MEMORY_USAGE), 384 << 20);
    assert_uint(now, F(CGROUP_MEMORY_WORKING_SET), 256 << 20);
    assert_uint(now, F(CGROUP_MEMORY_PEAK), 512 << 20);
    assert_double(now, F(CGROUP_MEMORY_PERCENT), 50.0);
    assert_uint(now, F(CGROUP_MEMORY_OOM_KILLS), 1);
    assert_uint(now, F(CGROUP_PIDS_CURRENT), 9);
    assert_reason(now, F(CGROUP_PIDS_LIMIT), SONDE_EABSENT);
    sonde_capture_close(capture);
}

/* The job between the slice and the step has the tightest limits; memory and throttling are its. */
static void nested_limits(void **state)
{
    (void)state;
    sonde_capture *capture = open_cgroup(FIXTURES "nested_v2");
    const sonde_telemetry *now = read_now(capture);
    assert_double(now, F(CGROUP_CPU_LIMIT), 2.0);
    assert_uint(now, F(CGROUP_CPU_THROTTLED), 60);
    assert_uint(now, F(CGROUP_MEMORY_LIMIT), (uint64_t)4 << 30);
    assert_uint(now, F(CGROUP_MEMORY_USAGE), (uint64_t)3 << 30);
    assert_uint(now, F(CGROUP_MEMORY_WORKING_SET), (uint64_t)2 << 30);
    assert_double(now, F(CGROUP_MEMORY_PERCENT), 50.0);
    assert_uint(now, F(CGROUP_MEMORY_OOM_KILLS), 0);
    assert_uint(now, F(CGROUP_PIDS_LIMIT), 100);
    assert_uint(now, F(CGROUP_PIDS_CURRENT), 12);
    sonde_capture_close(capture);
}

static void percentages_are_of_what_may_be_used(void **state)
{
    (void)state;
    machine_copy("container_v2");
    sonde_capture *capture = open_cgroup(machine_root);
    read_now(capture);
    usleep(50000);
    machine_replace("sys/fs/cgroup/cpu.stat", "usage_usec 12500000", "usage_usec 12537500");
    const sonde_telemetry *now = read_now(capture);
    double percent = double_of(now, F(CGROUP_CPU_PERCENT));
    double expected = 0.0375 / ((double)sonde_telemetry_window_ns(now) / 1e9 * 1.5) * 100;
    assert_true(fabs(percent - expected) <= 0.051); /* one decimal */
    machine_text("sys/fs/cgroup/cpu.stat", "usage_usec x\n");
    now = read_now(capture);
    assert_reason(now, F(CGROUP_CPU_USAGE), SONDE_EBADDATA);
    assert_reason(now, F(CGROUP_CPU_PERCENT), SONDE_EBADDATA);
    assert_reason(now, F(CGROUP_CPU_PERIODS), SONDE_EABSENT);
    assert_uint(now, F(CGROUP_MEMORY_LIMIT), 1 << 30);
    sonde_capture_close(capture);
    machine_remove();
}

static void no_limits_and_no_cgroups(void **state)
{
    (void)state;
    machine_copy("container_v2");
    machine_text("sys/fs/cgroup/memory.max", "max\n");
    machine_text("sys/fs/cgroup/cpu.max", "max 100000\n");
    sonde_capture *capture = open_cgroup(machine_root);
    const sonde_telemetry *now = read_now(capture);
    assert_reason(now, F(CGROUP_MEMORY_LIMIT), SONDE_EABSENT);
    assert_reason(now, F(CGROUP_MEMORY_PERCENT), SONDE_EABSENT);
    assert_reason(now, F(CGROUP_CPU_LIMIT), SONDE_EABSENT);
    assert_uint(now, F(CGROUP_MEMORY_USAGE), 768 << 20);
    sonde_capture_close(capture);
    machine_text("proc/self/mountinfo", "24 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n");
    capture = open_cgroup(machine_root);
    assert_reason(read_now(capture), F(CGROUP_VERSION), SONDE_EABSENT);
    assert_reason(read_now(capture), F(CGROUP_MEMORY_USAGE), SONDE_EABSENT);
    sonde_capture_close(capture);
    machine_remove();
}

/* A process outside of what is mounted is shown as the mount point. */
static void path_outside_the_mount(void **state)
{
    (void)state;
    machine_copy("container_v2");
    machine_text("proc/self/cgroup", "0::/../other\n");
    sonde_capture *capture = open_cgroup(machine_root);
    assert_uint(read_now(capture), F(CGROUP_MEMORY_LIMIT), 1 << 30);
    sonde_capture_close(capture);
    machine_remove();
}

/* room for what a sanitizer adds */
enum { REAL_LIMIT = 512 << 20, REAL_USE = 40 << 20 };
#define REAL_FOLDER "/sys/fs/cgroup/memory/sonde_test"

static bool write_to(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    return close(fd) == 0 && ok;
}

/* Joins the cgroup, uses memory, and looks at itself. */
static void look_from_inside(const void *folder)
{
    char path[256], text[64];
    snprintf(path, sizeof path, "%s/cgroup.procs", (const char *)folder);
    snprintf(text, sizeof text, "%d\n", (int)getpid());
    CHECK(write_to(path, text));
    char *memory = mmap(NULL, REAL_USE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    memset(memory, 1, REAL_USE);
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = SONDE_CAPTURE_CGROUP | SONDE_CAPTURE_MEMORY;
    sonde_capture *capture;
    const sonde_telemetry *now;
    CHECK(sonde_capture_open(&options, &capture) == SONDE_OK);
    CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
    uint64_t version = 0, limit = 0, usage = 0, peak = 0, kills = 9, host = 0;
    double percent = 0;
    CHECK(sonde_telemetry_uint(now, F(CGROUP_VERSION), &version) == SONDE_OK && version == 1);
    CHECK(sonde_telemetry_uint(now, F(CGROUP_MEMORY_LIMIT), &limit) == SONDE_OK);
    CHECK(limit == REAL_LIMIT);
    CHECK(sonde_telemetry_uint(now, F(CGROUP_MEMORY_USAGE), &usage) == SONDE_OK);
    CHECK(usage >= REAL_USE && usage <= REAL_LIMIT);
    CHECK(sonde_telemetry_uint(now, F(CGROUP_MEMORY_PEAK), &peak) == SONDE_OK && peak >= REAL_USE);
    CHECK(sonde_telemetry_uint(now, F(CGROUP_MEMORY_OOM_KILLS), &kills) == SONDE_OK && kills == 0);
    CHECK(sonde_telemetry_double(now, F(CGROUP_MEMORY_PERCENT), &percent) == SONDE_OK);
    CHECK(percent > 7 && percent < 100);
    CHECK(sonde_telemetry_uint(now, F(MEMORY_TOTAL), &host) == SONDE_OK && host > REAL_LIMIT);
    sonde_capture_close(capture);
}

static void a_real_cgroup_with_a_memory_limit(void **state)
{
    (void)state;
    char folder[128], path[256];
    snprintf(folder, sizeof folder, REAL_FOLDER "_%d", (int)getpid());
    if (mkdir(folder, 0755) != 0) {
        print_message("no cgroup v1 with a memory controller can be made here\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/memory.limit_in_bytes", folder);
    bool limited = write_to(path, "536870912\n");
    if (limited)
        run_in_child(look_from_inside, folder);
    assert_int_equal(rmdir(folder), 0);
    assert_true(limited);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(container_with_limits_and_an_oom_kill),
        cmocka_unit_test(container_of_version_1),
        cmocka_unit_test(nested_limits),
        cmocka_unit_test_teardown(percentages_are_of_what_may_be_used, machine_teardown),
        cmocka_unit_test_teardown(no_limits_and_no_cgroups, machine_teardown),
        cmocka_unit_test_teardown(path_outside_the_mount, machine_teardown),
        cmocka_unit_test(a_real_cgroup_with_a_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
