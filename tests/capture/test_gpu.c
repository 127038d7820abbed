/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs through stand-ins for the vendors' libraries, found by LD_LIBRARY_PATH and loaded as the
   real ones are. Run a second time against old libraries (SONDE_TEST_OLD_LIBRARIES). */
#include "capture_test.h"

#include "../standin/standin.h"
#include "sonde/gpu.h"

#include <dlfcn.h>

static standin_steer_function *nvml, *amd;

static bool is_old(void)
{
    return getenv("SONDE_TEST_OLD_LIBRARIES") != NULL;
}

static void need_new(void)
{
    if (is_old())
        skip();
}

static standin_steer_function *find_steer(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW);
    standin_steer_function *steer = NULL;
    if (handle) {
        void *address = dlsym(handle, name);
        memcpy(&steer, &address, sizeof steer);
    }
    return steer;
}

static int start(void **state)
{
    (void)state;
    nvml = find_steer("libnvidia-ml.so.1", "standin_nvml_steer");
    amd = find_steer("libamd_smi.so", "standin_amdsmi_steer");
    return nvml && amd ? 0 : -1;
}

/* Two devices of each vendor, all well, all visible. */
static int reset(void **state)
{
    (void)state;
    standin_steer_function *all[] = {nvml, amd};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        for (unsigned knob = 0; knob < STANDIN_KNOBS; knob++)
            all[i]((standin_knob)knob, 0);
        all[i](STANDIN_DEVICES, 2);
        all[i](STANDIN_LOST, -1);
        all[i](STANDIN_VERSION, 24);
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("ROCR_VISIBLE_DEVICES");
    return 0;
}

static sonde_capture *open_gpu(const char *const *metrics)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = SONDE_CAPTURE_GPU;
    options.gpu = metrics;
    return open_options(&options);
}

/* Names of the GPUs seen, joined by blanks. */
static const char *names_of(const sonde_telemetry *now)
{
    static char names[512];
    names[0] = '\0';
    for (size_t i = 0; i < sonde_telemetry_gpus(now); i++)
        sprintf(names + strlen(names), "%s%s", i ? " " : "", sonde_telemetry_gpu_name(now, i));
    assert_null(sonde_telemetry_gpu_name(now, sonde_telemetry_gpus(now)));
    return names;
}

static void assert_seen(const char *expected)
{
    sonde_capture *capture = open_gpu(NULL);
    assert_string_equal(names_of(read_now(capture)), expected);
    sonde_capture_close(capture);
}

static void assert_metric(const sonde_telemetry *now, size_t gpu, sonde_gpu_metric metric,
                          sonde_status status, double value)
{
    double got = -1;
    sonde_status answer = sonde_telemetry_gpu_double(now, gpu, metric, &got);
    if (answer != status || (status == SONDE_OK && fabs(got - value) > 1e-9 * value))
        fail_msg("%s of GPU %zu: %s, %f; expected %s, %f", sonde_gpu_describe(metric)->key, gpu,
                 sonde_status_name(answer), got, sonde_status_name(status), value);
}

static void amd_comes_first_nvidia_continues(void **state)
{
    (void)state;
    assert_seen("gpu_0 gpu_1 gpu_2 gpu_3");
    amd(STANDIN_FAIL_INIT, 34);
    assert_seen("gpu_0 gpu_1");
    nvml(STANDIN_FAIL_INIT, 9);
    assert_seen("");
}

static void every_metric_of_nvidia(void **state)
{
    (void)state;
    need_new();
    amd(STANDIN_DEVICES, 0);
    nvml(STANDIN_PID, getpid());
    sonde_capture *capture = open_gpu(NULL);
    const sonde_telemetry *now = read_now(capture);
    assert_metric(now, 1, SONDE_GPU_USED, SONDE_OK, 1234567890);
    assert_metric(now, 1, SONDE_GPU_TOTAL, SONDE_OK, 42949672960);
    assert_metric(now, 1, SONDE_GPU_TEMPERATURE, SONDE_OK, 41);
    assert_metric(now, 1, SONDE_GPU_POWER, SONDE_OK, 56123);
    assert_metric(now, 1, SONDE_GPU_UTILIZATION, SONDE_OK, 97);
    assert_metric(now, 1, SONDE_GPU_MEMORY_UTILIZATION, SONDE_OK, 33);
    assert_metric(now, 1, SONDE_GPU_GRAPHICS_CLOCK, SONDE_OK, 1410);
    assert_metric(now, 1, SONDE_GPU_MEMORY_CLOCK, SONDE_OK, 1215);
    assert_metric(now, 1, SONDE_GPU_ENERGY, SONDE_OK, 98.765);
    assert_metric(now, 1, SONDE_GPU_PROCESS_MEMORY, SONDE_OK, 2000);
    assert_metric(now, 1, SONDE_GPU_EDGE, SONDE_EOFF, 0);
    const char *text = NULL;
    uint64_t number = 7;
    assert_int_equal(sonde_telemetry_gpu_text(now, 1, SONDE_GPU_ID, &text), SONDE_OK);
    assert_string_equal(text, "GPU-1f0a0000-0000-0000-0000-000000000001");
    assert_int_equal(sonde_telemetry_gpu_text(now, 1, SONDE_GPU_NAME, &text), SONDE_OK);
    assert_string_equal(text, "NVIDIA A100-SXM4-40GB");
    assert_int_equal(sonde_telemetry_gpu_text(now, 1, SONDE_GPU_USED, &text), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_gpu_uint(now, 2, SONDE_GPU_USED, &number), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_gpu_uint(now, 1, SONDE_GPU_ENERGY, &number), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_gpu_uint(now, 1, SONDE_GPU_NAME, &number), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_gpu_uint(now, 1, SONDE_GPU_METRIC_COUNT, &number),
                     SONDE_EINVAL);
    assert_int_equal(number, 7);
    sonde_capture_close(capture);
}

static void every_metric_of_amd(void **state)
{
    (void)state;
    need_new();
    nvml(STANDIN_DEVICES, 0);
    static const struct {
        sonde_gpu_metric metric;
        double value;
    } expected[] = {{SONDE_GPU_INDEX, 1},
                    {SONDE_GPU_USED, 10960896},
                    {SONDE_GPU_TOTAL, 68702699520},
                    {SONDE_GPU_GFX_ACTIVITY, 12},
                    {SONDE_GPU_UMC_ACTIVITY, 3},
                    {SONDE_GPU_SOCKET_POWER, 91},
                    {SONDE_GPU_ENERGY_ACCUMULATOR, 123456789},
                    {SONDE_GPU_ENERGY, 123456789 * 15.259e-6},
                    {SONDE_GPU_EDGE, 35},
                    {SONDE_GPU_HOTSPOT, 38},
                    {SONDE_GPU_MEMORY_TEMPERATURE, 40},
                    {SONDE_GPU_VRGFX, 0},
                    {SONDE_GPU_VRMEM, 0},
                    {SONDE_GPU_HBM_0, 40},
                    {SONDE_GPU_HBM_2, 41},
                    {SONDE_GPU_HBM_3, 40},
                    {SONDE_GPU_FAN_SPEED, 0},
                    {SONDE_GPU_GFXCLK, 800},
                    {SONDE_GPU_SOCCLK, 1000},
                    {SONDE_GPU_UCLK, 1600},
                    {SONDE_GPU_VCLK0, 0},
                    {SONDE_GPU_DCLK0, 0},
                    {SONDE_GPU_UTILIZATION, 12},
                    {SONDE_GPU_MEMORY_UTILIZATION, 3},
                    {SONDE_GPU_GRAPHICS_CLOCK, 800},
                    {SONDE_GPU_MEMORY_CLOCK, 1600}};
    static const long versions[] = {23, 24, 25, 26};
    for (size_t v = 0; v < COUNT_OF(versions); v++) {
        amd(STANDIN_VERSION, versions[v]);
        sonde_capture *capture = open_gpu(NULL);
        const sonde_telemetry *now = read_now(capture);
        for (size_t i = 0; i < COUNT_OF(expected); i++)
            assert_metric(now, 1, expected[i].metric, SONDE_OK, expected[i].value);
        assert_metric(now, 1, SONDE_GPU_MM_ACTIVITY, SONDE_EUNSUPPORTED, 0);
        assert_metric(now, 1, SONDE_GPU_TEMPERATURE, SONDE_EOFF, 0);
        sonde_capture_close(capture);
    }
}

/* The structure of an unknown library is not trusted; what does not depend on it still comes. */
static void library_of_another_age_keeps_its_metrics(void **state)
{
    (void)state;
    need_new();
    static const long versions[] = {22, 27, 0};
    for (size_t v = 0; v < COUNT_OF(versions); v++) {
        amd(STANDIN_VERSION, versions[v]);
        sonde_capture *capture = open_gpu(NULL);
        const sonde_telemetry *now = read_now(capture);
        assert_metric(now, 0, SONDE_GPU_EDGE, SONDE_EUNSUPPORTED, 0);
        assert_metric(now, 0, SONDE_GPU_ENERGY, SONDE_EUNSUPPORTED, 0);
        assert_metric(now, 0, SONDE_GPU_USED, SONDE_OK, 10960896);
        assert_metric(now, 0, SONDE_GPU_GFX_ACTIVITY, SONDE_OK, 12);
        sonde_capture_close(capture);
    }
}

static void all_ones_are_missing(void **state)
{
    (void)state;
    need_new();
    amd(STANDIN_NOT_AVAILABLE, 1);
    static const char *const metrics[] = {"power", "temperature.hotspot", "temperature.hbm", NULL};
    sonde_capture *capture = open_gpu(metrics);
    const sonde_telemetry *now = read_now(capture);
    assert_metric(now, 0, SONDE_GPU_HOTSPOT, SONDE_OK, 38);
    assert_metric(now, 0, SONDE_GPU_EDGE, SONDE_EOFF, 0);
    assert_metric(now, 0, SONDE_GPU_SOCKET_POWER, SONDE_EUNSUPPORTED, 0);
    assert_metric(now, 0, SONDE_GPU_ENERGY_ACCUMULATOR, SONDE_EUNSUPPORTED, 0);
    const char *text = NULL;
    size_t len = 0;
    assert_int_equal(sonde_capture_json(capture, &text, &len), SONDE_OK);
    assert_non_null(strstr(text, "\"temperature\":{\"hotspot\":38,\"hbm\":[null,44,null,null]}"));
    assert_non_null(strstr(text, "\"gpu.gpu_0.power.average_socket_power\":\"unsupported\""));
    assert_null(strstr(text, "N/A"));
    sonde_capture_close(capture);
}

static void a_failing_call_costs_its_own_metric(void **state)
{
    (void)state;
    need_new();
    static const struct {
        long call, code;
        sonde_gpu_metric metric;
        sonde_status status;
    } nvidia[] = {{1, 3, SONDE_GPU_USED, SONDE_EUNSUPPORTED},
                  {2, 4, SONDE_GPU_TEMPERATURE, SONDE_EDENIED},
                  {3, 999, SONDE_GPU_POWER, SONDE_EIO},
                  {4, 20, SONDE_GPU_UTILIZATION, SONDE_ENOMEM},
                  {5, 13, SONDE_GPU_GRAPHICS_CLOCK, SONDE_EUNSUPPORTED},
                  {6, 18, SONDE_GPU_ENERGY, SONDE_EUNSUPPORTED},
                  {7, 7, SONDE_GPU_PROCESS_MEMORY, SONDE_ELIMIT}};
    amd(STANDIN_DEVICES, 0);
    nvml(STANDIN_PID, getpid());
    sonde_capture *capture = open_gpu(NULL);
    for (size_t i = 0; i < COUNT_OF(nvidia); i++) {
        nvml(STANDIN_FAIL_CALL, nvidia[i].call);
        nvml(STANDIN_FAIL_CODE, nvidia[i].code);
        const sonde_telemetry *now = read_now(capture);
        unsigned failed = 0;
        for (unsigned metric = 0; metric < SONDE_GPU_METRIC_COUNT; metric++) {
            double value;
            sonde_status status =
                sonde_telemetry_gpu_double(now, 0, (sonde_gpu_metric)metric, &value);
            failed += status != SONDE_OK && status != SONDE_EOFF && status != SONDE_EINVAL;
        }
        assert_metric(now, 0, nvidia[i].metric, nvidia[i].status, 0);
        assert_in_range(failed, 1, 2); /* a call that hands out two values costs both */
    }
    sonde_capture_close(capture);
}

static void a_failing_call_of_amd(void **state)
{
    (void)state;
    need_new();
    amd(STANDIN_FAIL_CALL, 4);
    amd(STANDIN_FAIL_CODE, 10);
    sonde_capture *capture = open_gpu(NULL);
    const sonde_telemetry *now = read_now(capture);
    assert_metric(now, 0, SONDE_GPU_EDGE, SONDE_EDENIED, 0);
    assert_metric(now, 0, SONDE_GPU_USED, SONDE_OK, 10960896);
    amd(STANDIN_FAIL_CALL, 3);
    amd(STANDIN_FAIL_CODE, 2);
    now = read_now(capture);
    assert_metric(now, 0, SONDE_GPU_GFX_ACTIVITY, SONDE_EUNSUPPORTED, 0);
    assert_metric(now, 0, SONDE_GPU_EDGE, SONDE_OK, 35);
    sonde_capture_close(capture);
}

static void a_gpu_is_lost_between_two_readings(void **state)
{
    (void)state;
    sonde_capture *capture = open_gpu(NULL);
    const sonde_telemetry *now = read_now(capture);
    assert_metric(now, 2, SONDE_GPU_USED, SONDE_OK, 1234567890);
    nvml(STANDIN_LOST, 0);
    amd(STANDIN_LOST, 1);
    now = read_now(capture);
    assert_string_equal(names_of(now), "gpu_0 gpu_1 gpu_2 gpu_3");
    assert_metric(now, 2, SONDE_GPU_USED, SONDE_EABSENT, 0);
    assert_metric(now, 2, SONDE_GPU_POWER, SONDE_EABSENT, 0);
    assert_metric(now, 3, SONDE_GPU_USED, SONDE_OK, 1234567890);
    assert_metric(now, 1, SONDE_GPU_USED, SONDE_EABSENT, 0);
    assert_metric(now, 0, SONDE_GPU_USED, SONDE_OK, 10960896);
    nvml(STANDIN_LOST, -1);
    assert_metric(read_now(capture), 2, SONDE_GPU_USED, SONDE_OK, 1234567890);
    sonde_capture_close(capture);
}

static void visible_devices_of_nvidia(void **state)
{
    (void)state;
    need_new();
    static const struct {
        const char *list, *seen;
    } cases[] = {{"2,5", "gpu_2 gpu_5"},
                 {"5, 2", "gpu_5 gpu_2"},
                 {"", ""},
                 {"-1", ""},
                 {"1,-1,2", "gpu_1"},
                 {"7,8,1", "gpu_7"},
                 {"1,1", "gpu_1"},
                 {"GPU-1f0a0001-0000-0000-0000-000000000006", "gpu_6"},
                 {"GPU-1f0a0001,0", "gpu_4 gpu_0"},
                 {"gpu-1F0A0000", "gpu_0"},
                 {"GPU-dead,0", ""},
                 {"MIG-aaaabbbb-0000-0000-0000-000000000000", "gpu_8"},
                 {"MIG-GPU-1f0a0000-0000-0000-0000-000000000000/1/0,3", "gpu_8 gpu_3"},
                 {"MIG-nothing,3", ""},
                 {"nonsense", ""}};
    amd(STANDIN_DEVICES, 0);
    nvml(STANDIN_DEVICES, 8);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("CUDA_VISIBLE_DEVICES", cases[i].list, 1);
        assert_seen(cases[i].seen);
    }
}

static void visible_devices_of_amd(void **state)
{
    (void)state;
    need_new();
    static const struct {
        const char *list, *seen;
    } cases[] = {{"1", "gpu_1 gpu_2 gpu_3"},
                 {"", "gpu_2 gpu_3"},
                 {"1,0", "gpu_1 gpu_0 gpu_2 gpu_3"},
                 {"GPU-d9ff7408000010008 0b2", "gpu_2 gpu_3"},
                 {"GPU-d9ff740800001000", "gpu_0 gpu_2 gpu_3"},
                 {"GPU-d9ff7408-0000-1000-80b2-000000000001", "gpu_1 gpu_2 gpu_3"},
                 {"2,0", "gpu_2 gpu_3"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("ROCR_VISIBLE_DEVICES", cases[i].list, 1);
        assert_seen(cases[i].seen);
    }
}

/* Only what is asked for is asked of the library. */
static void the_list_chooses(void **state)
{
    (void)state;
    need_new();
    static const char *const metrics[] = {"used", "power", "temperature.edge", NULL};
    sonde_capture *capture = open_gpu(metrics);
    const sonde_telemetry *now = read_now(capture);
    assert_metric(now, 0, SONDE_GPU_EDGE, SONDE_OK, 35);
    assert_metric(now, 0, SONDE_GPU_HOTSPOT, SONDE_EOFF, 0);
    assert_metric(now, 0, SONDE_GPU_ENERGY_ACCUMULATOR, SONDE_OK, 123456789);
    assert_metric(now, 2, SONDE_GPU_POWER, SONDE_OK, 56123);
    assert_metric(now, 2, SONDE_GPU_TEMPERATURE, SONDE_EOFF, 0);
    assert_metric(now, 2, SONDE_GPU_TOTAL, SONDE_EOFF, 0);
    nvml(STANDIN_PID, 0);
    read_now(capture);
    assert_int_equal(nvml(STANDIN_PID, 0), 4); /* memory and power of two devices */
    sonde_capture_close(capture);
    static const char *const unknown[] = {"used", "colour", NULL};
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.gpu = unknown;
    assert_int_equal(sonde_capture_open(&options, &capture), SONDE_EINVAL);
    assert_true(sonde_gpu_metric_is_known("power.energy_accumulator"));
    assert_false(sonde_gpu_metric_is_known("power."));
    assert_false(sonde_gpu_metric_is_known(""));
    assert_null(sonde_gpu_describe(SONDE_GPU_METRIC_COUNT));
}

static void old_libraries_have_what_they_have(void **state)
{
    (void)state;
    if (!is_old())
        skip();
    nvml(STANDIN_PID, getpid());
    sonde_capture *capture = open_gpu(NULL);
    const sonde_telemetry *now = read_now(capture);
    assert_metric(now, 0, SONDE_GPU_USED, SONDE_OK, 10960896);
    assert_metric(now, 0, SONDE_GPU_GFX_ACTIVITY, SONDE_EUNSUPPORTED, 0);
    assert_metric(now, 0, SONDE_GPU_EDGE, SONDE_EUNSUPPORTED, 0);
    assert_metric(now, 2, SONDE_GPU_USED, SONDE_OK, 1234567890);
    assert_metric(now, 2, SONDE_GPU_ENERGY, SONDE_EUNSUPPORTED, 0);
    assert_metric(now, 2, SONDE_GPU_UTILIZATION, SONDE_EUNSUPPORTED, 0);
    assert_metric(now, 2, SONDE_GPU_PROCESS_MEMORY, SONDE_OK, 2000); /* by the first form */
    const char *text;
    assert_int_equal(sonde_telemetry_gpu_text(now, 0, SONDE_GPU_ID, &text), SONDE_EUNSUPPORTED);
    sonde_capture_close(capture);
    setenv("CUDA_VISIBLE_DEVICES", "MIG-aaaabbbb-0000-0000-0000-000000000000", 1);
    assert_seen("gpu_0 gpu_1");
}

/* Opened and closed as often, so that a host's own use of the library goes on. */
static void the_library_is_released(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        sonde_capture_close(open_gpu(NULL));
    void *handle = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    int (*count)(unsigned *) = NULL;
    void *address = dlsym(handle, "nvmlDeviceGetCount_v2");
    memcpy(&count, &address, sizeof count);
    unsigned devices;
    assert_int_equal(count(&devices), 1); /* NVML_ERROR_UNINITIALIZED: nobody uses it any more */
}

#define GPU_TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GPU_TEST(amd_comes_first_nvidia_continues),
        GPU_TEST(every_metric_of_nvidia),
        GPU_TEST(every_metric_of_amd),
        GPU_TEST(library_of_another_age_keeps_its_metrics),
        GPU_TEST(all_ones_are_missing),
        GPU_TEST(a_failing_call_costs_its_own_metric),
        GPU_TEST(a_failing_call_of_amd),
        GPU_TEST(a_gpu_is_lost_between_two_readings),
        GPU_TEST(visible_devices_of_nvidia),
        GPU_TEST(visible_devices_of_amd),
        GPU_TEST(the_list_chooses),
        GPU_TEST(old_libraries_have_what_they_have),
        GPU_TEST(the_library_is_released),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
