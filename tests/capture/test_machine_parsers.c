/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers of what Sonde captures beyond Flowcept, on texts written here. */
#include "parser_test.h"

#include "capture/gpu_visible.h"
#include "capture/machine_parsers.h"
#include "capture/machine_part.h"

#define TEXT(literal) literal, sizeof(literal) - 1

static void numbers(void **state)
{
    (void)state;
    uint64_t value = 7;
    int64_t number = 7;
    assert_int_equal(sonde__parse_number(TEXT("42\n"), &value), SONDE_OK);
    assert_int_equal(value, 42);
    assert_int_equal(sonde__parse_number(TEXT("max\n"), &value), SONDE_EABSENT);
    static const char *const bad[] = {
        "", "\n", "42", "4 2\n", "-1\n", "x\n", "99999999999999999999\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sonde__parse_number(bad[i], strlen(bad[i]), &value), SONDE_EBADDATA);
    assert_int_equal(value, 42);
    assert_int_equal(sonde__parse_signed(TEXT("-5000\n"), &number), SONDE_OK);
    assert_int_equal(number, -5000);
    assert_int_equal(sonde__parse_signed(TEXT("27800\n"), &number), SONDE_OK);
    assert_int_equal(number, 27800);
    assert_int_equal(sonde__parse_signed(TEXT("--1\n"), &number), SONDE_EBADDATA);
    assert_int_equal(sonde__parse_signed(TEXT("9999999999999999999\n"), &number), SONDE_EBADDATA);
}

static void keys_with_numbers(void **state)
{
    (void)state;
    static const char text[] = "file 1\ninactive_file 22\nPss:   \t 33 kB\nbroken x\noom_kill 4\n";
    uint64_t value = 0;
    assert_int_equal(sonde__parse_keyed(TEXT(text), "inactive_file", &value), SONDE_OK);
    assert_int_equal(value, 22);
    assert_int_equal(sonde__parse_keyed(TEXT(text), "Pss", &value), SONDE_OK);
    assert_int_equal(value, 33);
    assert_int_equal(sonde__parse_keyed(TEXT(text), "oom", &value), SONDE_EABSENT);
    assert_int_equal(sonde__parse_keyed(TEXT(text), "broken", &value), SONDE_EBADDATA);
    assert_int_equal(sonde__parse_keyed(TEXT(""), "file", &value), SONDE_EABSENT);
    assert_int_equal(value, 33);
}

static void load(void **state)
{
    (void)state;
    sonde__loadavg value = {{0}, 0, 0};
    assert_int_equal(sonde__parse_loadavg(TEXT("1.93 0.05 12.00 7/1105 30211\n"), &value),
                     SONDE_OK);
    assert_true(value.mean[0] == 1.93 && value.mean[1] == 0.05 && value.mean[2] == 12.0);
    assert_true(value.running == 7 && value.tasks == 1105);
    static const char *const bad[] = {"", "1.93 0.05 12.00 7", "1.93 0.05 12.00 7/\n",
                                      "1. 2 3 4/5\n", "a b c 1/2 3\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sonde__parse_loadavg(bad[i], strlen(bad[i]), &value), SONDE_EBADDATA);
}

static void pressure(void **state)
{
    (void)state;
    sonde__pressure value;
    assert_int_equal(
        sonde__parse_pressure(TEXT("some avg10=1.50 avg60=2.25 avg300=0.01 total=9\n"), &value),
        SONDE_OK); /* the CPU before Linux 5.13 */
    assert_int_equal(value.known, 1);
    assert_true(value.percent[0][0] == 1.5 && value.percent[0][1] == 2.25);
    assert_int_equal(value.total_us[0], 9);
    static const char *const bad[] = {"", "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
                                      "some avg10=0.00 avg60=0.00 total=0\n",
                                      "some avg10=0.00 avg60=0.00 avg300=0.00 total=\n", "some"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sonde__parse_pressure(bad[i], strlen(bad[i]), &value), SONDE_EBADDATA);
}

static void quotas(void **state)
{
    (void)state;
    double cpus = 0;
    assert_int_equal(sonde__parse_cpu_max(TEXT("150000 100000\n"), &cpus), SONDE_OK);
    assert_true(cpus == 1.5);
    assert_int_equal(sonde__parse_cpu_max(TEXT("max 100000\n"), &cpus), SONDE_EABSENT);
    assert_int_equal(sonde__parse_cpu_max(TEXT("1 0\n"), &cpus), SONDE_EBADDATA);
    assert_int_equal(sonde__parse_cpu_max(TEXT("150000\n"), &cpus), SONDE_EBADDATA);
}

static void membership(void **state)
{
    (void)state;
    sonde__scan scan = sonde__scan_of(TEXT("4:memory:/a:b\nnonsense\n1:cpu,cpuacct:relative\n"
                                           "2:name=systemd:/\n0::/x y\n"));
    sonde__cgroup_line line;
    assert_true(sonde__cgroup_next(&scan, &line));
    assert_false(line.v2);
    assert_true(sonde__list_has(line.controllers, line.controllers_len, "memory"));
    assert_false(sonde__list_has(line.controllers, line.controllers_len, "mem"));
    assert_memory_equal(line.path, "/a:b", line.path_len);
    assert_true(sonde__cgroup_next(&scan, &line) && !line.v2);
    assert_true(sonde__cgroup_next(&scan, &line) && line.v2);
    assert_memory_equal(line.path, "/x y", line.path_len);
    assert_false(sonde__cgroup_next(&scan, &line));
    assert_true(sonde__list_has(TEXT("rw,cpu,cpuacct"), "cpuacct"));
    assert_false(sonde__list_has(TEXT(""), "cpu"));
}

static void mounts(void **state)
{
    (void)state;
    sonde__scan scan = sonde__scan_of(
        TEXT("24 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
             "30 24 0:26 /a\\040b /sys/fs/c\\134group rw shared:4 master:1 - cgroup2 none rw,x\n"
             "31 24 0:27 relative /m rw - cgroup none rw,memory\n"
             "32 24 0:28 / /m rw - cgroup none rw,memory\n"
             "33 24 0:29 / /cut rw - cgroup"));
    sonde__cgroup_mount mount;
    assert_true(sonde__cgroup_mount_next(&scan, &mount));
    assert_true(mount.v2);
    assert_string_equal(mount.root, "/a b");
    assert_string_equal(mount.point, "/sys/fs/c\\group");
    assert_true(sonde__cgroup_mount_next(&scan, &mount));
    assert_false(mount.v2);
    assert_string_equal(mount.point, "/m");
    assert_true(sonde__list_has(mount.options, mount.options_len, "memory"));
    assert_false(sonde__cgroup_mount_next(&scan, &mount));
}

static void children_and_parents(void **state)
{
    (void)state;
    sonde__scan scan = sonde__scan_of(TEXT("101 102 "));
    uint64_t pid = 0;
    assert_true(sonde__children_next(&scan, &pid) && pid == 101);
    assert_true(sonde__children_next(&scan, &pid) && pid == 102);
    assert_false(sonde__children_next(&scan, &pid));
    assert_int_equal(sonde__parse_pid_parent(TEXT("5 (a) b) S 42 1\n"), &pid), SONDE_OK);
    assert_int_equal(pid, 42);
    assert_int_equal(sonde__parse_pid_parent(TEXT("5 (a"), &pid), SONDE_EBADDATA);
    assert_int_equal(sonde__parse_pid_parent(TEXT("5 (a) S"), &pid), SONDE_EBADDATA);
}

static void visible_lists(void **state)
{
    (void)state;
    static const char list[] = " 3 ,GPU-ab,MIG-x1,7,x,8";
    sonde__visible item;
    size_t at = 0;
    assert_true(sonde__visible_next(list, &at, &item));
    assert_true(item.kind == SONDE__VISIBLE_INDEX && item.index == 3);
    assert_true(sonde__visible_next(list, &at, &item) && item.kind == SONDE__VISIBLE_ID);
    assert_true(sonde__visible_matches(&item, "GPU-AB00"));
    assert_true(sonde__visible_matches(&item, "a-b"));
    assert_true(sonde__visible_matches(&item, "0xab12"));
    assert_false(sonde__visible_matches(&item, "GPU-a"));
    assert_false(sonde__visible_matches(&item, ""));
    assert_true(sonde__visible_next(list, &at, &item) && item.kind == SONDE__VISIBLE_MIG);
    assert_true(sonde__visible_next(list, &at, &item) && item.index == 7);
    assert_false(sonde__visible_next(list, &at, &item));
    static const char *const none[] = {"", ",", "-1", "GPU-", "1x", "9999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        at = 0;
        assert_false(sonde__visible_next(none[i], &at, &item));
    }
}

static void cpu_of_x86(void **state)
{
    (void)state;
    sonde__cpu_details cpu;
    sonde__parse_cpu_details(
        TEXT("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
             "model name\t: Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz\nstepping\t: 4\n"
             "cpu MHz\t\t: 3000.000\nflags\t\t: vme fpu\n\nprocessor\t: 1\nmodel\t\t: 99\n"),
        &cpu);
    assert_true(cpu.processors == 2 && cpu.family == 6 && cpu.model == 85 && cpu.stepping == 4);
    assert_true(cpu.mhz == 3000.0 && cpu.implementer == -1);
    assert_memory_equal(cpu.vendor.text, "GenuineIntel", cpu.vendor.len);
    assert_memory_equal(cpu.flags.text, "vme fpu", cpu.flags.len);
}

static void cpu_of_arm(void **state)
{
    (void)state;
    sonde__cpu_details cpu;
    sonde__parse_cpu_details(TEXT("processor\t: 0\nBogoMIPS\t: 243.75\n"
                                  "Features\t: fp asimd\nCPU implementer\t: 0x41\n"
                                  "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
                                  "CPU revision\t: 1\n"),
                             &cpu);
    assert_true(cpu.implementer == 0x41 && cpu.part == 0xd0c && cpu.variant == 3);
    assert_true(cpu.revision == 1 && cpu.family == 8 && cpu.model == -1 && cpu.mhz == 0);
    assert_null(cpu.vendor.text);
    assert_memory_equal(cpu.flags.text, "fp asimd", cpu.flags.len);
}

static void variables_that_are_listed(void **state)
{
    (void)state;
    static const char *const yes[] = {"SLURM_JOB_ID",    "CUDA_VISIBLE_DEVICES",
                                      "OMP_NUM_THREADS", "RANK",
                                      "LC_ALL",          "ROCR_VISIBLE_DEVICES"};
    static const char *const no[] = {"PATH",     "HOME", "RANKS", "AWS_REGION",
                                     "TF_VAR_x", "",     "SLURM"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(sonde__environment_lists(yes[i], strlen(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(sonde__environment_lists(no[i], strlen(no[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),       cmocka_unit_test(keys_with_numbers),
        cmocka_unit_test(load),          cmocka_unit_test(pressure),
        cmocka_unit_test(quotas),        cmocka_unit_test(membership),
        cmocka_unit_test(mounts),        cmocka_unit_test(children_and_parents),
        cmocka_unit_test(visible_lists), cmocka_unit_test(cpu_of_x86),
        cmocka_unit_test(cpu_of_arm),    cmocka_unit_test(variables_that_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
