/* SPDX-License-Identifier: Apache-2.0 */
/* Energy, pressure, load, temperatures and AMD cards of recorded machines. */
#include "machine_copy.h"

#include "sonde/gpu.h"

#define F(name) SONDE_FIELD_##name

static sonde_capture *open_types(const char *root, unsigned types)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = root;
    options.types = types;
    return open_options(&options);
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-6)
        fail_msg("%f, expected %f", value, expected);
}

/* The first package wraps at 262143.32885 J: 0.32885 J to the end and 1.5 J after it. */
static void energy_of_two_packages_with_a_wrap(void **state)
{
    (void)state;
    machine_copy("rapl_2packages");
    sonde_capture *capture = open_types(machine_root, SONDE_CAPTURE_ENERGY);
    const sonde_telemetry *now = read_now(capture);
    assert_near(double_of(now, F(ENERGY_PACKAGE)), 0);
    machine_text("sys/class/powercap/intel-rapl:0/energy_uj", "1500000\n");
    machine_text("sys/class/powercap/intel-rapl:1/energy_uj", "9000000\n");
    machine_text("sys/class/powercap/intel-rapl:0:0/energy_uj", "1250000\n");
    machine_text("sys/class/powercap/intel-rapl:0:1/energy_uj", "6000000\n");
    machine_text("sys/class/powercap/intel-rapl:1:0/energy_uj", "387\n");
    now = read_now(capture);
    assert_near(double_of(now, F(ENERGY_PACKAGE)), 0.32885 + 1.5 + 2.0);
    assert_near(double_of(now, F(ENERGY_CORE)), 0.25);
    assert_near(double_of(now, F(ENERGY_DRAM)), 1.0 + 1.0); /* the second wraps */
    assert_reason(now, F(ENERGY_UNCORE), SONDE_EABSENT);
    assert_reason(now, F(ENERGY_PLATFORM), SONDE_EABSENT);
    assert_true(double_of(now, F(ENERGY_POWER)) > 0);
    now = read_now(capture);
    assert_near(double_of(now, F(ENERGY_PACKAGE)), 0.32885 + 1.5 + 2.0);
    assert_near(double_of(now, F(ENERGY_POWER)), 0);
    machine_text("sys/class/powercap/intel-rapl:1/energy_uj", "broken\n");
    now = read_now(capture);
    assert_reason(now, F(ENERGY_PACKAGE), SONDE_EBADDATA);
    assert_reason(now, F(ENERGY_POWER), SONDE_EBADDATA);
    assert_near(double_of(now, F(ENERGY_CORE)), 0.25);
    sonde_capture_close(capture);
    machine_remove();
}

static void read_denied(const void *unused)
{
    (void)unused;
    CHECK(seteuid(65534) == 0);
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = machine_root;
    options.types = SONDE_CAPTURE_ENERGY;
    sonde_capture *capture;
    const sonde_telemetry *now;
    CHECK(sonde_capture_open(&options, &capture) == SONDE_OK);
    CHECK(sonde_capture_read(capture, &now) == SONDE_OK);
    CHECK(sonde_telemetry_status(now, F(ENERGY_PACKAGE)) == SONDE_EDENIED);
    CHECK(sonde_telemetry_status(now, F(ENERGY_POWER)) == SONDE_EDENIED);
    sonde_capture_close(capture);
}

static void energy_that_only_root_may_read(void **state)
{
    (void)state;
    static const char *const zones[] = {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1",
                                        "intel-rapl:1", "intel-rapl:1:0"};
    machine_copy("rapl_2packages");
    for (size_t i = 0; i < COUNT_OF(zones); i++) {
        char file[128], path[MACHINE_PATH_BYTES];
        snprintf(file, sizeof file, "sys/class/powercap/%s/energy_uj", zones[i]);
        machine_path(path, file);
        assert_int_equal(chmod(path, 0400), 0);
    }
    if (geteuid() != 0)
        skip(); /* who made the files may read them */
    run_in_child(read_denied, NULL);
    machine_remove();
}

static void pressure_and_load(void **state)
{
    (void)state;
    sonde_capture *capture =
        open_types(FIXTURES "rapl_2packages", SONDE_CAPTURE_PRESSURE | SONDE_CAPTURE_LOAD);
    const sonde_telemetry *now = read_now(capture);
    assert_near(double_of(now, F(PRESSURE_CPU_SOME_AVG10)), 1.23);
    assert_near(double_of(now, F(PRESSURE_CPU_SOME_TOTAL)), 123.456789);
    assert_near(double_of(now, F(PRESSURE_CPU_FULL_TOTAL)), 0);
    assert_near(double_of(now, F(PRESSURE_MEMORY_FULL_AVG60)), 0.05);
    assert_near(double_of(now, F(PRESSURE_IO_SOME_AVG300)), 30);
    assert_near(double_of(now, F(PRESSURE_IO_FULL_TOTAL)), 50);
    assert_near(double_of(now, F(LOAD_1)), 1.93);
    assert_near(double_of(now, F(LOAD_15)), 12.05);
    assert_int_equal(uint_of(now, F(LOAD_RUNNING)), 7);
    assert_int_equal(uint_of(now, F(LOAD_TASKS)), 1105);
    sonde_capture_close(capture);
}

static void pressure_is_absent_or_in_part(void **state)
{
    (void)state;
    sonde_capture *capture = open_types(FIXTURES "container_v2", SONDE_CAPTURE_PRESSURE);
    assert_reason(read_now(capture), F(PRESSURE_CPU_SOME_AVG10), SONDE_EABSENT);
    assert_reason(read_now(capture), F(PRESSURE_IO_FULL_TOTAL), SONDE_EABSENT);
    sonde_capture_close(capture);
    machine_copy("rapl_2packages");
    machine_text("proc/pressure/cpu", "some avg10=0.50 avg60=0.00 avg300=0.00 total=1\n");
    machine_text("proc/pressure/io", "garbled\n");
    capture = open_types(machine_root, SONDE_CAPTURE_PRESSURE);
    const sonde_telemetry *now = read_now(capture);
    assert_near(double_of(now, F(PRESSURE_CPU_SOME_AVG10)), 0.5);
    assert_reason(now, F(PRESSURE_CPU_FULL_AVG10), SONDE_EABSENT);
    assert_reason(now, F(PRESSURE_IO_SOME_AVG10), SONDE_EBADDATA);
    assert_near(double_of(now, F(PRESSURE_MEMORY_SOME_TOTAL)), 5);
    sonde_capture_close(capture);
    machine_remove();
}

static void temperatures(void **state)
{
    (void)state;
    sonde_capture *capture = open_types(FIXTURES "rapl_2packages", SONDE_CAPTURE_THERMAL);
    const sonde_telemetry *now = read_now(capture);
    assert_near(double_of(now, F(THERMAL_TEMPERATURE)), 71);
    static const struct {
        const char *name;
        double value;
    } rows[] = {{"acpitz", 27.8},
                {"acpitz_2", -5},
                {"coretemp Package id 0", 71},
                {"coretemp Core 0", 69.5}};
    assert_int_equal(sonde_telemetry_rows(now, SONDE_TABLE_SENSORS), 5);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double value = 0;
        assert_string_equal(sonde_telemetry_row_name(now, SONDE_TABLE_SENSORS, i), rows[i].name);
        assert_int_equal(
            sonde_telemetry_row_double(now, SONDE_TABLE_SENSORS, i, F(THERMAL_TEMPERATURE), &value),
            SONDE_OK);
        assert_near(value, rows[i].value);
    }
    double value;
    assert_int_equal(
        sonde_telemetry_row_double(now, SONDE_TABLE_SENSORS, 4, F(THERMAL_TEMPERATURE), &value),
        SONDE_EBADDATA); /* the disk that answers nonsense */
    sonde_capture_close(capture);
    capture = open_types(FIXTURES "container_v2", SONDE_CAPTURE_THERMAL);
    assert_reason(read_now(capture), F(THERMAL_TEMPERATURE), SONDE_EABSENT);
    sonde_capture_close(capture);
}

static uint64_t metric_of(const sonde_telemetry *now, size_t gpu, sonde_gpu_metric metric)
{
    uint64_t value = 0;
    assert_int_equal(sonde_telemetry_gpu_uint(now, gpu, metric, &value), SONDE_OK);
    return value;
}

static void amd_cards_without_a_library(void **state)
{
    (void)state;
    unsetenv("ROCR_VISIBLE_DEVICES");
    sonde_capture *capture = open_types(FIXTURES "amdgpu_sysfs", SONDE_CAPTURE_GPU);
    const sonde_telemetry *now = read_now(capture);
    assert_int_equal(sonde_telemetry_gpus(now), 2);
    assert_string_equal(sonde_telemetry_gpu_name(now, 1), "gpu_1");
    assert_int_equal(metric_of(now, 0, SONDE_GPU_USED), 8589934592);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_TOTAL), 68702699520);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_GFX_ACTIVITY), 87);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_UMC_ACTIVITY), 41);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_SOCKET_POWER), 187);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_EDGE), 45);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_HOTSPOT), 52);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_MEMORY_TEMPERATURE), 48);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_GFXCLK), 1700);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_UCLK), 1600);
    assert_int_equal(metric_of(now, 0, SONDE_GPU_FAN_SPEED), 1200);
    assert_int_equal(metric_of(now, 1, SONDE_GPU_SOCKET_POWER), 31);
    assert_int_equal(metric_of(now, 1, SONDE_GPU_EDGE), 38);
    uint64_t value;
    const char *text = NULL;
    assert_int_equal(sonde_telemetry_gpu_uint(now, 1, SONDE_GPU_UMC_ACTIVITY, &value),
                     SONDE_EABSENT);
    assert_int_equal(sonde_telemetry_gpu_uint(now, 1, SONDE_GPU_VRGFX, &value), SONDE_EUNSUPPORTED);
    assert_int_equal(sonde_telemetry_gpu_text(now, 0, SONDE_GPU_ID, &text), SONDE_OK);
    assert_string_equal(text, "1f0a2b3c4d5e6f70");
    sonde_capture_close(capture);
}

static void amd_cards_that_are_visible(void **state)
{
    (void)state;
    static const struct {
        const char *list, *first;
        size_t count;
    } cases[] = {{"1", "gpu_1", 1},
                 {"", NULL, 0},
                 {"GPU-2222BBBB3333CCCC", "gpu_1", 1},
                 {"1,0", "gpu_1", 2}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("ROCR_VISIBLE_DEVICES", cases[i].list, 1);
        sonde_capture *capture = open_types(FIXTURES "amdgpu_sysfs", SONDE_CAPTURE_GPU);
        const sonde_telemetry *now = read_now(capture);
        assert_int_equal(sonde_telemetry_gpus(now), cases[i].count);
        if (cases[i].first)
            assert_string_equal(sonde_telemetry_gpu_name(now, 0), cases[i].first);
        sonde_capture_close(capture);
    }
    unsetenv("ROCR_VISIBLE_DEVICES");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(energy_of_two_packages_with_a_wrap, machine_teardown),
        cmocka_unit_test_teardown(energy_that_only_root_may_read, machine_teardown),
        cmocka_unit_test(pressure_and_load),
        cmocka_unit_test(pressure_is_absent_or_in_part),
        cmocka_unit_test(temperatures),
        cmocka_unit_test(amd_cards_without_a_library),
        cmocka_unit_test(amd_cards_that_are_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
