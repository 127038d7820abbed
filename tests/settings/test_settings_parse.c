/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are good, and what they mean. */
#include "settings_test.h"

#include "settings/settings_schema.h"

enum { MACHINE_INFO = 1 << 30 };

/* The types that are on, as bits, with one more for machine_info. */
static unsigned types_of(const char *text)
{
    sonde_settings *settings = parse_good(text);
    unsigned types = sonde_settings_capture(settings)->types;
    int machine = 0;
    assert_int_equal(sonde_settings_bool(settings, "telemetry_capture.machine_info", &machine),
                     SONDE_OK);
    if (machine)
        types |= MACHINE_INFO;
    sonde_settings_free(settings);
    return types;
}

enum { DEFAULT_TYPES = SONDE_CAPTURE_STANDARD | MACHINE_INFO };

static void check_defaults(const sonde_settings *settings)
{
    const sonde_capture_options *capture = sonde_settings_capture(settings);
    assert_int_equal(capture->size, sizeof *capture);
    assert_int_equal(capture->types, SONDE_CAPTURE_STANDARD);
    assert_int_equal(capture->level, SONDE_LEVEL_FULL);
    assert_int_equal(capture->pid, 0);
    assert_int_equal(capture->idle_disks, 0);
    assert_null(capture->root);
    assert_string_equal(capture->paths[0], "/");
    assert_null(capture->paths[1]);
    assert_list(settings, "telemetry_capture.gpu", NULL);
    assert_list(settings, "telemetry_capture.disk_paths", "/");
    assert_bool(settings, "telemetry_capture.machine_info", 1);
    assert_bool(settings, "instrumentation.enabled", 1);
    assert_text(settings, "instrumentation.torch.what", "parent_and_children");
    assert_text(settings, "instrumentation.torch.children_mode", "telemetry_and_tensor_inspection");
    assert_text(settings, "instrumentation.torch.epoch_loop", "lightweight");
    assert_text(settings, "instrumentation.torch.batch_loop", "lightweight");
    assert_bool(settings, "instrumentation.torch.register_workflow", 1);
    long every = 0;
    assert_int_equal(
        sonde_settings_int(settings, "instrumentation.torch.capture_epochs_at_every", &every),
        SONDE_OK);
    assert_int_equal(every, 1);
    assert_null(sonde_settings_ignored(settings, 0));
}

static void nothing_said_means_the_defaults(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "# only\n# comments\n",
                                        "\n\n",
                                        "~\n",
                                        "{}\n",
                                        "---\n...\n",
                                        "\xEF\xBB\xBF# a byte order mark\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sonde_settings *settings = parse_good(texts[i]);
        check_defaults(settings);
        assert_string_equal(sonde_settings_path(settings), "good.yaml");
        sonde_settings_free(settings);
    }
    sonde_settings *settings = NULL;
    assert_int_equal(sonde_settings_parse(NULL, 0, "none", &settings, NULL), SONDE_OK);
    check_defaults(settings);
    sonde_settings_free(settings);
}

/* The block of Flowcept's documentation: all on, and equal to the defaults. */
static void the_documented_blocks_work_as_they_are(void **state)
{
    (void)state;
    sonde_settings *settings = NULL;
    assert_int_equal(sonde_settings_load(FILES "telemetry_capture.yaml", &settings, NULL),
                     SONDE_OK);
    check_defaults(settings);
    assert_string_equal(sonde_settings_path(settings), FILES "telemetry_capture.yaml");
    sonde_settings_free(settings);

    settings = parse_good("telemetry_capture:\n"
                          "  gpu: [\"used\", \"activity\", \"power\", \"temperature\", \"id\"]\n");
    assert_list(settings, "telemetry_capture.gpu", "used|activity|power|temperature|id");
    sonde_settings_free(settings);
    settings = parse_good("telemetry_capture:\n"
                          "  gpu: [\"used\", \"temperature\", \"power\", \"name\", \"id\"]\n");
    assert_list(settings, "telemetry_capture.gpu", "used|temperature|power|name|id");
    sonde_settings_free(settings);
    settings = parse_good("telemetry_capture:\n"
                          "  gpu:\n  - temperature.hotspot\n  - others.current_dclk0\n"
                          "  - power.energy_accumulator\n  - gpu_ix\n");
    assert_list(settings, "telemetry_capture.gpu",
                "temperature.hotspot|others.current_dclk0|power.energy_accumulator|gpu_ix");
    sonde_settings_free(settings);
}

static void a_whole_flowcept_file_works_as_it_is(void **state)
{
    (void)state;
    sonde_settings *settings = NULL;
    sonde_settings_error error = {"no message"};
    if (sonde_settings_load(FILES "flowcept_full.yaml", &settings, &error) != SONDE_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sonde_settings_capture(settings)->types, 0);
    assert_bool(settings, "telemetry_capture.machine_info", 0);
    assert_text(settings, "instrumentation.torch.what", "parent_only");
    assert_text(settings, "instrumentation.torch.children_mode", "telemetry");
    assert_text(settings, "instrumentation.torch.epoch_loop", "default");
    assert_text(settings, "instrumentation.torch.batch_loop", NULL);
    assert_bool(settings, "instrumentation.torch.register_workflow", 0);
    long every = 0;
    assert_int_equal(
        sonde_settings_int(settings, "instrumentation.torch.capture_epochs_at_every", &every),
        SONDE_OK);
    assert_int_equal(every, 5);
    static const char *const ignored[] = {"flowcept_version", "project",      "log",
                                          "experiment",       "mq",           "kv_db",
                                          "web_server",       "sys_metadata", "extra_metadata",
                                          "analytics",        "db_buffer",    "agent",
                                          "databases",        "adapters"};
    size_t count = sizeof ignored / sizeof ignored[0];
    for (size_t i = 0; i < count; i++)
        assert_string_equal(sonde_settings_ignored(settings, i), ignored[i]);
    assert_null(sonde_settings_ignored(settings, count));
    assert_null(sonde_settings_ignored(settings, SIZE_MAX));
    sonde_settings_free(settings);
}

/* Flowcept's meaning where a file says what it wants, the defaults where it only takes away. */
static void types_not_mentioned(void **state)
{
    (void)state;
    assert_int_equal(types_of("mq: {enabled: true}\n"), DEFAULT_TYPES);
    assert_int_equal(types_of("telemetry_capture:\n  level: light\n"), DEFAULT_TYPES);
    assert_int_equal(types_of("telemetry_capture:\n  disk: false\n"),
                     DEFAULT_TYPES & ~SONDE_CAPTURE_DISK);
    assert_int_equal(types_of("telemetry_capture: {gpu: ~, machine_info: ~}\n"),
                     SONDE_CAPTURE_STANDARD);
    assert_int_equal(types_of("telemetry_capture: {gpu: [], mem: off}\n"),
                     DEFAULT_TYPES & ~SONDE_CAPTURE_MEMORY);
    assert_int_equal(types_of("telemetry_capture: {cpu: true}\n"), SONDE_CAPTURE_CPU);
    assert_int_equal(types_of("telemetry_capture: {disk: false, mem: true}\n"),
                     SONDE_CAPTURE_MEMORY);
    assert_int_equal(types_of("telemetry_capture: {machine_info: yes}\n"), MACHINE_INFO);
    assert_int_equal(types_of("telemetry_capture: {gpu: [used]}\n"), SONDE_CAPTURE_GPU);
    assert_int_equal(types_of("telemetry_capture:\n  cpu: true\n  mem: true\n  disk: false\n"
                              "  network: true\n  process_info: true\n  gpu:\n    - used\n"),
                     SONDE_CAPTURE_CPU | SONDE_CAPTURE_MEMORY | SONDE_CAPTURE_NETWORK |
                         SONDE_CAPTURE_PROCESS | SONDE_CAPTURE_GPU);
    /* Sonde's own are added to whatever there is */
    assert_int_equal(types_of("telemetry_capture: {cgroup: true}\n"),
                     DEFAULT_TYPES | SONDE_CAPTURE_CGROUP);
    assert_int_equal(types_of("telemetry_capture: {cpu: true, tree: true}\n"),
                     SONDE_CAPTURE_CPU | SONDE_CAPTURE_TREE);
}

static void other_keys_not_mentioned_keep_their_default(void **state)
{
    (void)state;
    sonde_settings *settings = parse_good("instrumentation:\n  torch:\n    what: ~\n");
    assert_bool(settings, "instrumentation.enabled", 1);
    assert_text(settings, "instrumentation.torch.what", NULL);
    assert_text(settings, "instrumentation.torch.epoch_loop", "lightweight");
    sonde_settings_free(settings);
}

static void switches_are_those_of_yaml_1_1(void **state)
{
    (void)state;
    static const char *const on[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
    static const char *const off[] = {"false", "False", "FALSE", "no",   "No",   "NO",   "off",
                                      "Off",   "OFF",   "~",     "null", "Null", "NULL", ""};
    char text[128];
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
        snprintf(text, sizeof text, "telemetry_capture:\n  idle_disks: %s\n", on[i]);
        sonde_settings *settings = parse_good(text);
        assert_bool(settings, "telemetry_capture.idle_disks", 1);
        assert_int_equal(sonde_settings_capture(settings)->idle_disks, 1);
        sonde_settings_free(settings);
    }
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        snprintf(text, sizeof text, "instrumentation:\n  enabled: %s\n", off[i]);
        sonde_settings *settings = parse_good(text);
        assert_bool(settings, "instrumentation.enabled", 0);
        sonde_settings_free(settings);
    }
    assert_int_equal(types_of("telemetry_capture: {gpu: false}\n"), DEFAULT_TYPES);
}

static void sondes_own_keys_reach_the_capture_options(void **state)
{
    (void)state;
    sonde_settings *settings = parse_good("telemetry_capture:\n  level: regular\n"
                                          "  disk_paths: [/, /home, '/data/a b']\n");
    const sonde_capture_options *capture = sonde_settings_capture(settings);
    assert_int_equal(capture->level, SONDE_LEVEL_REGULAR);
    assert_string_equal(capture->paths[0], "/");
    assert_string_equal(capture->paths[1], "/home");
    assert_string_equal(capture->paths[2], "/data/a b");
    assert_null(capture->paths[3]);
    assert_text(settings, "telemetry_capture.level", "regular");
    sonde_settings_free(settings);
}

static void as_many_paths_as_a_handle_takes(void **state)
{
    (void)state;
    char text[SONDE_PATHS_MAX * (SONDE_PATH_BYTES + 8) + 64] = "telemetry_capture:\n disk_paths:\n";
    for (int i = 0; i < SONDE_PATHS_MAX; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " - /%0*d\n",
                 SONDE_PATH_BYTES - 2, i);
    sonde_settings *settings = parse_good(text);
    const sonde_capture_options *capture = sonde_settings_capture(settings);
    assert_int_equal(strlen(capture->paths[SONDE_PATHS_MAX - 1]), SONDE_PATH_BYTES - 1);
    assert_null(capture->paths[SONDE_PATHS_MAX]);
    sonde_settings_free(settings);
}

static void getters_know_their_types(void **state)
{
    (void)state;
    sonde_settings *settings = parse_good("");
    int flag = 7;
    long number = 7;
    const char *text = "untouched";
    assert_int_equal(sonde_settings_bool(settings, "telemetry_capture.level", &flag), SONDE_EINVAL);
    assert_int_equal(sonde_settings_bool(settings, "telemetry_capture", &flag), SONDE_EINVAL);
    assert_int_equal(sonde_settings_bool(settings, "", &flag), SONDE_EINVAL);
    assert_int_equal(sonde_settings_int(settings, "instrumentation.enabled", &number),
                     SONDE_EINVAL);
    assert_int_equal(sonde_settings_text(settings, "telemetry_capture.gpu", &text), SONDE_EINVAL);
    assert_int_equal(sonde_settings_list(settings, "telemetry_capture.cpu", 0, &text),
                     SONDE_EINVAL);
    assert_int_equal(sonde_settings_list(settings, "telemetry_capture.disk_paths", 1, &text),
                     SONDE_EABSENT);
    assert_int_equal(flag, 7);
    assert_int_equal(number, 7);
    assert_string_equal(text, "untouched");
    sonde_settings_free(settings);
    sonde_settings_free(NULL);
}

/* Equal in every row of the schema. */
static void assert_same(const sonde_settings *a, const sonde_settings *b)
{
    for (size_t i = 0; i < sonde__settings_row_count; i++) {
        const char *key = sonde__settings_rows[i].key;
        int flag[2] = {-1, -1};
        long number[2] = {-1, -1};
        const char *text[2] = {"", ""};
        assert_int_equal(sonde_settings_bool(a, key, &flag[0]),
                         sonde_settings_bool(b, key, &flag[1]));
        assert_int_equal(sonde_settings_int(a, key, &number[0]),
                         sonde_settings_int(b, key, &number[1]));
        assert_int_equal(sonde_settings_text(a, key, &text[0]),
                         sonde_settings_text(b, key, &text[1]));
        assert_int_equal(flag[0], flag[1]);
        assert_int_equal(number[0], number[1]);
        assert_string_equal(text[0], text[1]);
        for (size_t at = 0; at <= SONDE_PATHS_MAX; at++) {
            assert_int_equal(sonde_settings_list(a, key, at, &text[0]),
                             sonde_settings_list(b, key, at, &text[1]));
            assert_string_equal(text[0], text[1]);
        }
    }
}

static void what_is_written_reads_the_same(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "telemetry_capture: {cpu: true, gpu: [used, others.current_uclk], level: light}\n",
        "telemetry_capture: {mem: false, machine_info: false, idle_disks: true}\n",
        "telemetry_capture: {disk_paths: [\"/\\\"\\\\\\t\\n\\x7f\\x85\\xa0\\xe9\", '/a: b # c',"
        " \"/\\u2028\\u2029\\ufeff\\ufffd\\U0001F600\", \"/\xE6\x97\xA5 \", '/~', '/true']}\n",
        "instrumentation:\n  enabled: false\n  torch: {what: ~, children_mode: lightweight,"
        " epoch_loop: ~, batch_loop: default, capture_epochs_at_every: 1000000000,"
        " register_workflow: false}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sonde_settings *first = parse_good(texts[i]);
        char *yaml = NULL;
        assert_int_equal(sonde_settings_to_yaml(first, &yaml), SONDE_OK);
        sonde_settings *second = parse_good(yaml);
        assert_same(first, second);
        assert_int_equal(sonde_settings_capture(first)->types,
                         sonde_settings_capture(second)->types);
        sonde_settings_free(second);
        sonde_settings_free(first);
        free(yaml);
    }
}

static void what_is_written_explains_itself(void **state)
{
    (void)state;
    sonde_settings *settings = parse_good("telemetry_capture: {level: light}\n");
    char *yaml = NULL;
    assert_int_equal(sonde_settings_to_yaml(settings, &yaml), SONDE_OK);
    assert_non_null(strstr(yaml, "\ntelemetry_capture:\n  # Metrics of each GPU"));
    assert_non_null(strstr(yaml, "\n  # How much is read each time: the process only, totals, or "
                                 "every field. Takes light, regular or\n  # full.\n"
                                 "  level: light\n"));
    assert_non_null(strstr(yaml, "\n  torch:\n    # PyTorch: record the model only"));
    assert_non_null(strstr(yaml, "\n    capture_epochs_at_every: 1\n"));
    for (const char *line = yaml; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        assert_true(strcspn(line, "\n") <= 100);
    free(yaml);
    sonde_settings_free(settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_means_the_defaults),
        cmocka_unit_test(the_documented_blocks_work_as_they_are),
        cmocka_unit_test(a_whole_flowcept_file_works_as_it_is),
        cmocka_unit_test(types_not_mentioned),
        cmocka_unit_test(other_keys_not_mentioned_keep_their_default),
        cmocka_unit_test(switches_are_those_of_yaml_1_1),
        cmocka_unit_test(sondes_own_keys_reach_the_capture_options),
        cmocka_unit_test(as_many_paths_as_a_handle_takes),
        cmocka_unit_test(getters_know_their_types),
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(what_is_written_explains_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
