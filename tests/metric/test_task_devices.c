/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs in the readings of tasks, in what they used, and in snapshots: through stand-ins for the
   vendors' libraries, loaded as the real ones are. */
#include "metric_test.h"

#include "../standin/standin.h"
#include "base/buf.h"
#include "capture/telemetry_codec.h"
#include "sonde/gpu.h"
#include "sonde/sonde.h"
#include "view/flowcept_json.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { USED = 1234567890 };

static char dir[] = "/tmp/sonde-devices-XXXXXX";
static standin_steer_function *nvml, *amd;

static standin_steer_function *find_steer(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW);
    standin_steer_function *steer = NULL;
    void *address = handle ? dlsym(handle, name) : NULL;
    memcpy(&steer, &address, sizeof steer);
    return steer;
}

/* One NVIDIA GPU, all well. */
static int reset(void **state)
{
    (void)state;
    for (unsigned knob = 0; knob < STANDIN_KNOBS; knob++) {
        nvml((standin_knob)knob, 0);
        amd((standin_knob)knob, 0);
    }
    nvml(STANDIN_DEVICES, 1);
    nvml(STANDIN_LOST, -1);
    amd(STANDIN_LOST, -1);
    amd(STANDIN_VERSION, 24);
    return 0;
}

static sonde_session *open_session(sonde_options *options)
{
    sonde_session *session;
    options->dir = dir;
    options->overhead_limit = 0;
    assert_int_equal(sonde_open("t", options, &session), SONDE_OK);
    return session;
}

/* Closes the session; its task of that name into *out, with the reader it belongs to. */
static sonde_reader *close_and_find(sonde_session *session, const char *name, sonde_record *out)
{
    char path[sizeof dir + 16];
    sonde_reader *reader;
    snprintf(path, sizeof path, "%s", sonde_session_path(session));
    sonde_close(session);
    assert_int_equal(sonde_reader_open(path, NULL, &reader), SONDE_OK);
    unlink(path);
    while (sonde_reader_next(reader, out) == SONDE_OK)
        if (out->kind == SONDE_RECORD_TASK && out->name_len == strlen(name) &&
            memcmp(out->name, name, out->name_len) == 0)
            return reader;
    fail_msg("no task %s", name);
    return NULL;
}

static void take_text(void *user, const char *text, size_t len)
{
    char *out = user;
    assert_true(len < 60000);
    memcpy(out, text, len);
    out[len] = '\0';
}

static void test_codec_carries_gpus(void **state)
{
    (void)state;
    nvml(STANDIN_DEVICES, 2);
    nvml(STANDIN_PID, getpid());
    amd(STANDIN_DEVICES, 2);
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = SONDE_CAPTURE_ALL;
    sonde_capture *capture;
    const sonde_telemetry *now;
    const char *text;
    size_t len;
    assert_int_equal(sonde_capture_open(&options, &capture), SONDE_OK);
    assert_int_equal(sonde_capture_read(capture, &now), SONDE_OK);
    assert_int_equal(sonde_telemetry_gpus(now), 4);
    assert_int_equal(sonde_capture_json(capture, &text, &len), SONDE_OK);
    static uint8_t bytes[32768];
    static char back[65536];
    uint64_t cut = 0;
    size_t size = sonde__telemetry_encode(now, bytes, sizeof bytes, &cut);
    assert_int_equal(cut, 0);
    assert_int_equal(sonde_reading_json(bytes, size, take_text, back), SONDE_OK);
    assert_string_equal(back, text);
    srand(6);
    for (int i = 0; i < 5000; i++) { /* damaged bytes are refused or read, never more than that */
        static uint8_t bad[32768];
        memcpy(bad, bytes, size);
        bad[(size_t)rand() % size] = (uint8_t)rand();
        sonde_telemetry out = {0};
        sonde__telemetry_decode(bad, rand() % 2 ? size : (size_t)rand() % size, &out);
        sonde__telemetry_free(&out);
    }
    /* little room: what is left out is counted, and the rest is whole */
    size = sonde__telemetry_encode(now, bytes, SONDE__TELEMETRY_BYTES_MIN, &cut);
    assert_true(size <= SONDE__TELEMETRY_BYTES_MIN);
    assert_int_equal(sonde_reading_json(bytes, size, take_text, back), SONDE_OK);
    sonde_capture_close(capture);
}

/* Names of metrics as they stand in journals: no two have one tag. */
static void test_tags_are_different(void **state)
{
    (void)state;
    static const char *const names[] = {
#define NAME(name, ...) "gpu." #name,
        SONDE_GPU_METRIC_MAP(NAME)
#undef NAME
    };
    for (unsigned i = 0; i < SONDE_GPU_METRIC_COUNT; i++)
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(sonde__telemetry_tag(names[i]), sonde__telemetry_tag(names[j]));
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++)
        assert_int_not_equal(sonde__telemetry_tag("gpu"),
                             sonde__telemetry_tag(sonde_table_describe((sonde_table)i)->key));
}

/* A task that takes memory, gives it back, and draws 30 J meanwhile. */
static sonde_reader *run_task(sonde_measure measure, unsigned types, sonde_record *out)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.telemetry_types = SONDE_CAPTURE_STANDARD | types;
    options.sample_interval_ns = 2000000;
    sonde_session *session = open_session(&options);
    sonde_task task = sonde_task_begin_measured(SONDE_NAME("kernel"), measure);
    usleep(60000);
    nvml(STANDIN_USED_MORE, 1000000000);
    usleep(60000);
    nvml(STANDIN_USED_MORE, 0);
    nvml(STANDIN_ENERGY_MORE, 30000);
    usleep(60000);
    sonde_task_end_measured(task, SONDE_FINISHED, NULL, measure);
    return close_and_find(session, "kernel", out);
}

static void test_gpu_peak_and_joules_by_counter(void **state)
{
    (void)state;
    sonde_record record;
    sonde_reader *reader = run_task(SONDE_MEASURE_REGULAR, SONDE_CAPTURE_GPU, &record);
    const sonde_task_usage *usage = record.usage;
    assert_non_null(usage);
    assert_same(usage->gpu_bytes_max, USED + 1e9);
    assert_true(usage->gpu_bytes_mean > USED && usage->gpu_bytes_mean < USED + 1e9);
    assert_true(fabs(usage->gpu_seconds - usage->seconds) < 1e-9);
    assert_true(fabs(usage->gpu_byte_seconds / usage->gpu_seconds - usage->gpu_bytes_mean) < 1);
    assert_true(fabs(usage->gpu_joules - 30) < 1e-6);
    assert_int_equal(usage->gpu_joules_basis, SONDE_JOULES_COUNTER);
    assert_true(fabs(usage->gpu_watts_max - 56.123) < 1e-9);
    assert_int_equal(usage->cpu_joules_basis, SONDE_JOULES_UNKNOWN);
    assert_true(isnan(usage->cpu_joules));
    sonde__buf line;
    sonde__buf_init(&line, 1 << 20);
    sonde__flowcept_json(&record, &line);
    sonde__buf_char(&line, '\0');
    assert_non_null(strstr(line.data, "\"gpu_joules_basis\":\"energy counter\""));
    assert_non_null(strstr(line.data, "\"gpu\":{\"gpu_0\":{\"used_diff\":0"));
    const char *energy = strstr(line.data, "\"energy_diff\":");
    assert_non_null(energy);
    assert_true(fabs(atof(energy + strlen("\"energy_diff\":")) - 30) < 1e-6);
    sonde__buf_free(&line);
    sonde_reader_close(reader);
}

/* Where the driver counts no energy, power is added up over time. */
static void test_joules_by_power(void **state)
{
    (void)state;
    enum { CALL_ENERGY = 6, NOT_SUPPORTED = 3 };
    nvml(STANDIN_FAIL_CALL, CALL_ENERGY);
    nvml(STANDIN_FAIL_CODE, NOT_SUPPORTED);
    sonde_record record;
    sonde_reader *reader = run_task(SONDE_MEASURE_FULL, SONDE_CAPTURE_GPU, &record);
    const sonde_task_usage *usage = record.usage;
    assert_int_equal(usage->gpu_joules_basis, SONDE_JOULES_POWER);
    assert_true(fabs(usage->gpu_joules - 56.123 * usage->gpu_seconds) < 1e-6);
    sonde_reader_close(reader);
}

/* Light readings have no GPU: the samples in between tell, for the time they span. */
static void test_light_readings_use_the_samples(void **state)
{
    (void)state;
    sonde_record record;
    sonde_reader *reader = run_task(SONDE_MEASURE_LIGHT, SONDE_CAPTURE_GPU, &record);
    const sonde_task_usage *usage = record.usage;
    assert_true(usage->samples >= 2);
    assert_same(usage->gpu_bytes_max, USED + 1e9);
    assert_true(usage->gpu_seconds > 0 && usage->gpu_seconds < usage->seconds);
    sonde_reader_close(reader);
}

static void test_nothing_is_known_when_not_asked(void **state)
{
    (void)state;
    sonde_record record;
    sonde_reader *reader = run_task(SONDE_MEASURE_REGULAR, 0, &record);
    assert_true(isnan(record.usage->gpu_bytes_max) && isnan(record.usage->gpu_joules));
    assert_int_equal(record.usage->gpu_joules_basis, SONDE_JOULES_UNKNOWN);
    sonde_reader_close(reader);
}

static void test_snapshot_has_the_gpu(void **state)
{
    (void)state;
    nvml(STANDIN_DEVICES, 2);
    sonde_snapshot_reader *reader;
    sonde_snapshot now;
    assert_int_equal(sonde_snapshot_reader_open(&reader), SONDE_OK);
    assert_int_equal(sonde_snapshot_take(reader, &now), SONDE_OK);
    assert_same(now.gpu_utilization_percent, 97);
    assert_true(fabs(now.gpu_memory_used_mb - 2.0 * USED / 1048576) < 1e-6);
    nvml(STANDIN_LOST, 0);
    nvml(STANDIN_DEVICES, 1);
    assert_int_equal(sonde_snapshot_take(reader, &now), SONDE_OK);
    assert_true(fabs(now.gpu_memory_used_mb - 1.0 * USED / 1048576) < 1e-6);
    sonde_snapshot_reader_close(reader);
}

/* Levels, types and metrics by the settings file, for a program that says nothing. */
static void test_settings_say_what_is_read(void **state)
{
    (void)state;
    static const char yaml[] = "telemetry_capture:\n  gpu: [used]\n  mem: true\n"
                               "instrumentation:\n  telemetry_at_start: light\n"
                               "  telemetry_at_end: regular\n";
    char path[sizeof dir + 32];
    snprintf(path, sizeof path, "%s/settings.yaml", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(yaml, 1, sizeof yaml - 1, file), sizeof yaml - 1);
    fclose(file);
    setenv("SONDE_SETTINGS", path, 1);
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    sonde_session *session = open_session(&options);
    sonde_task_end(sonde_task_begin(SONDE_NAME("plain")));
    sonde_record record;
    sonde_reader *reader = close_and_find(session, "plain", &record);
    unsetenv("SONDE_SETTINGS");
    unlink(path);
    static char text[65536];
    assert_non_null(record.telemetry_start);
    sonde_reading_json(record.telemetry_start, record.telemetry_start_len, take_text, text);
    assert_non_null(strstr(text, "\"level\":\"light\""));
    assert_non_null(record.telemetry_end);
    sonde_reading_json(record.telemetry_end, record.telemetry_end_len, take_text, text);
    assert_non_null(strstr(text, "\"level\":\"regular\""));
    assert_non_null(strstr(text, "\"gpu\":{\"gpu_0\":{\"used\":1234567890}}"));
    assert_non_null(strstr(text, "\"memory\":"));
    assert_null(strstr(text, "\"disk\":"));
    sonde_reader_close(reader);
}

static int set_up(void **state)
{
    (void)state;
    nvml = find_steer("libnvidia-ml.so.1", "standin_nvml_steer");
    amd = find_steer("libamd_smi.so", "standin_amdsmi_steer");
    if (!nvml || !amd || !mkdtemp(dir))
        return -1;
    return setenv("SONDE_JOURNAL_ONLY", "1", 1);
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_codec_carries_gpus, reset),
        cmocka_unit_test_setup(test_tags_are_different, reset),
        cmocka_unit_test_setup(test_gpu_peak_and_joules_by_counter, reset),
        cmocka_unit_test_setup(test_joules_by_power, reset),
        cmocka_unit_test_setup(test_light_readings_use_the_samples, reset),
        cmocka_unit_test_setup(test_nothing_is_known_when_not_asked, reset),
        cmocka_unit_test_setup(test_snapshot_has_the_gpu, reset),
        cmocka_unit_test_setup(test_settings_say_what_is_read, reset),
    };
    return cmocka_run_group_tests_name("task_devices", tests, set_up, tear_down);
}
