/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are not good: the exact line a user sees, and its position. */
#include "settings_test.h"

#include "settings/settings_limits.h"

#include <time.h>

#define CAPTURE_KEYS                                                                        \
    "gpu, cpu, per_cpu, process_info, mem, disk, network, machine_info, cgroup, pressure, " \
    "energy, load, thermal, tree, environment, level, disk_paths, idle_disks"
#define TOP_KEYS      "telemetry_capture, instrumentation, session, attributes"
#define TEXT(literal) literal, sizeof(literal) - 1

typedef struct bad {
    const char *text;
    size_t len;
    const char *message; /* after the name of the file */
} bad;

static void check_message(const char *text, size_t len, sonde_status expected, const char *message)
{
    sonde_settings *settings = NULL;
    sonde_settings_error error = {"no message"};
    char line[1024];
    snprintf(line, sizeof line, "bad.yaml:%s", message);
    sonde_status status = sonde_settings_parse(text, len, "bad.yaml", &settings, &error);
    if (status != expected || strcmp(error.text, line) != 0)
        fail_msg("\n  text     %.80s\n  expected %d %s\n  got      %d %s", text, expected, line,
                 status, error.text);
    assert_null(settings);
    assert_int_equal(sonde_settings_parse(text, len, "bad.yaml", &settings, NULL), expected);
    assert_null(settings);
}

static void check_all(const bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_message(cases[i].text, cases[i].len, SONDE_EBADDATA, cases[i].message);
}

static void unknown_keys(void **state)
{
    (void)state;
    static const bad cases[] = {
        {TEXT("telemetry_capture:\n  cpu: true\n  per_cpus: true\n"),
         "3:3: unknown key \"per_cpus\" in telemetry_capture; did you mean \"per_cpu\"?"},
        {TEXT("telemetry_capture: {memory: true}\n"),
         "1:21: unknown key \"memory\" in telemetry_capture; did you mean \"mem\"?"},
        {TEXT("telemetrycapture:\n  cpu: true\n"),
         "1:1: unknown key \"telemetrycapture\" at the top; did you mean \"telemetry_capture\"?"},
        {TEXT("mq: 1\nkvdb: 1\n"), "2:1: unknown key \"kvdb\" at the top; did you mean \"kv_db\"?"},
        {TEXT("instrumentation:\n  torhc:\n    what: ~\n"),
         "2:3: unknown key \"torhc\" in instrumentation; did you mean \"torch\"?"},
        {TEXT("instrumentation:\n  torch:\n    batch-loop: ~\n"),
         "3:5: unknown key \"batch-loop\" in instrumentation.torch; "
         "did you mean \"batch_loop\"?"},
        {TEXT("cpu: true\n"),
         "1:1: unknown key \"cpu\" at the top; it is known under telemetry_capture"},
        {TEXT("instrumentation:\n  epoch_loop: ~\n"),
         "2:3: unknown key \"epoch_loop\" in instrumentation; "
         "it is known under instrumentation.torch"},
        {TEXT("colour: red\n"),
         "1:1: unknown key \"colour\" at the top; expected one of " TOP_KEYS},
        {TEXT("telemetry_capture:\n  colour: red\n"),
         "2:3: unknown key \"colour\" in telemetry_capture; expected one of " CAPTURE_KEYS},
        {TEXT("'': 1\n"), "1:1: unknown key \"\" at the top; expected one of " TOP_KEYS},
        {TEXT("telemetry_capture.cpu: true\n"),
         "1:1: unknown key \"telemetry_capture.cpu\" at the top; "
         "did you mean \"telemetry_capture\"?"},
        {TEXT("? [a]\n: b\n"), "1:3: a key that is a list or a block; expected a name"},
        {TEXT("? {a: b}\n: b\n"), "1:3: a key that is a list or a block; expected a name"},
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void keys_given_twice(void **state)
{
    (void)state;
    static const bad cases[] = {
        {TEXT("telemetry_capture:\n  cpu: true\n  mem: true\n  cpu: true\n"),
         "4:3: \"cpu\" is given twice, first in line 2; remove one"},
        {TEXT("telemetry_capture:\n  gpu: ~\ninstrumentation:\n  enabled: on\n"
              "telemetry_capture:\n  cpu: true\n"),
         "5:1: \"telemetry_capture\" is given twice, first in line 1; remove one"},
        {TEXT("instrumentation: {torch: {what: ~}, torch: {what: ~}}\n"),
         "1:37: \"torch\" is given twice, first in line 1; remove one"},
        {TEXT("mq: 1\nlog: 2\nmq: 3\n"), "3:1: \"mq\" is given twice, first in line 1; remove one"},
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void wrong_values(void **state)
{
    (void)state;
    static const bad cases[] = {
        {TEXT("telemetry_capture:\n  cpu: maybe\n"),
         "2:8: telemetry_capture.cpu is \"maybe\"; expected true or false"},
        {TEXT("telemetry_capture:\n  cpu: \"true\"\n"),
         "2:8: telemetry_capture.cpu is \"true\" in quotes; expected true or false"},
        {TEXT("telemetry_capture:\n  cpu: y\n"),
         "2:8: telemetry_capture.cpu is \"y\"; expected true or false"},
        {TEXT("telemetry_capture:\n  cpu: [true]\n"),
         "2:8: telemetry_capture.cpu is a list; expected true or false"},
        {TEXT("telemetry_capture:\n  cpu:\n    on: true\n"),
         "3:5: telemetry_capture.cpu is a block; expected true or false"},
        {TEXT("telemetry_capture:\n  level: ful\n"),
         "2:10: telemetry_capture.level is \"ful\"; did you mean \"full\"?"},
        {TEXT("telemetry_capture:\n  level: much\n"),
         "2:10: telemetry_capture.level is \"much\"; expected light, regular or full"},
        {TEXT("telemetry_capture:\n  level: ~\n"),
         "2:10: telemetry_capture.level is null; expected light, regular or full"},
        {TEXT("instrumentation: {torch: {what: \"~\"}}\n"),
         "1:33: instrumentation.torch.what is \"~\"; "
         "expected parent_only, parent_and_children or ~"},
        {TEXT("instrumentation: {torch: {what: [parent_only]}}\n"),
         "1:33: instrumentation.torch.what is a list; "
         "expected parent_only, parent_and_children or ~"},
        {TEXT("telemetry_capture: no\n"),
         "1:20: telemetry_capture is \"no\"; expected a block of keys: " CAPTURE_KEYS},
        {TEXT("telemetry_capture: [cpu]\n"),
         "1:20: telemetry_capture is a list; expected a block of keys: " CAPTURE_KEYS},
        {TEXT("telemetry_capture:\n"),
         "1:19: telemetry_capture is empty; expected a block of keys: " CAPTURE_KEYS
         "; or leave it out for the defaults"},
        {TEXT("telemetry_capture: {}\n"),
         "1:20: telemetry_capture is empty; expected a block of keys: " CAPTURE_KEYS
         "; or leave it out for the defaults"},
        {TEXT("- cpu\n- mem\n"), "1:1: the file is a list; expected a block of keys: " TOP_KEYS},
        {TEXT("telemetry\n"),
         "1:1: the file is \"telemetry\"; expected a block of keys: " TOP_KEYS},
        {TEXT("\"\"\n"), "1:1: the file is \"\"; expected a block of keys: " TOP_KEYS},
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void wrong_numbers(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "+1",
                                          "1.0",
                                          "010",
                                          "0x10",
                                          "1_000",
                                          "many",
                                          "1e3",
                                          "1000000001",
                                          "9999999999999999999999"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[128];
        char message[256];
        snprintf(text, sizeof text, "instrumentation:\n  torch: {capture_epochs_at_every: %s}\n",
                 numbers[i]);
        snprintf(message, sizeof message,
                 "2:36: instrumentation.torch.capture_epochs_at_every is \"%s\"; "
                 "expected a whole number from 1 to 1000000000",
                 numbers[i]);
        check_message(text, strlen(text), SONDE_EBADDATA, message);
    }
    static const bad cases[] = {
        {TEXT("instrumentation:\n  torch: {capture_epochs_at_every: '1'}\n"),
         "2:36: instrumentation.torch.capture_epochs_at_every is \"1\" in quotes; "
         "expected a whole number from 1 to 1000000000"},
        {TEXT("instrumentation:\n  torch: {capture_epochs_at_every: }\n"),
         "2:36: instrumentation.torch.capture_epochs_at_every is null; "
         "expected a whole number from 1 to 1000000000"},
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void wrong_lists(void **state)
{
    (void)state;
    static const bad cases[] = {
        {TEXT("telemetry_capture:\n  gpu: true\n"),
         "2:8: telemetry_capture.gpu is \"true\"; expected ~ or a list such as "
         "[used, temperature]"},
        {TEXT("telemetry_capture:\n  gpu: used\n"),
         "2:8: telemetry_capture.gpu is \"used\"; expected ~ or a list such as "
         "[used, temperature]"},
        {TEXT("telemetry_capture:\n  gpu: [used, powr]\n"),
         "2:15: telemetry_capture.gpu has \"powr\"; did you mean \"power\"?"},
        {TEXT("telemetry_capture:\n  gpu:\n    - used\n    - temperature.hot\n"),
         "4:7: telemetry_capture.gpu has \"temperature.hot\"; "
         "did you mean \"temperature.hotspot\"?"},
        {TEXT("telemetry_capture:\n  gpu: [used, power, used]\n"),
         "2:22: telemetry_capture.gpu has \"used\" twice; remove one"},
        {TEXT("telemetry_capture:\n  disk_paths: /\n"),
         "2:15: telemetry_capture.disk_paths is \"/\"; expected a list of 1 to 16 absolute paths"},
        {TEXT("telemetry_capture:\n  disk_paths: ~\n"),
         "2:15: telemetry_capture.disk_paths is null; expected a list of 1 to 16 absolute paths"},
        {TEXT("telemetry_capture:\n  disk_paths: []\n"),
         "2:15: telemetry_capture.disk_paths is an empty list; "
         "expected a list of 1 to 16 absolute paths"},
        {TEXT("telemetry_capture:\n  disk_paths: [/, home]\n"),
         "2:19: telemetry_capture.disk_paths has \"home\"; "
         "expected an absolute path of at most 255 bytes"},
        {TEXT("telemetry_capture:\n  disk_paths: ['']\n"),
         "2:16: telemetry_capture.disk_paths has \"\"; "
         "expected an absolute path of at most 255 bytes"},
        {TEXT("telemetry_capture:\n  disk_paths: [[/]]\n"),
         "2:16: telemetry_capture.disk_paths has a list; "
         "expected an absolute path of at most 255 bytes"},
        {TEXT("telemetry_capture:\n  disk_paths: [/, /home, /]\n"),
         "2:26: telemetry_capture.disk_paths has \"/\" twice; remove one"},
        {TEXT("telemetry_capture:\n  disk_paths: [\"/a\\0b\"]\n"),
         "2:16: telemetry_capture.disk_paths has a path with a NUL in it; expected a path"},
        {TEXT("telemetry_capture:\n  disk_paths: [/1, /2, /3, /4, /5, /6, /7, /8, /9, /10, /11, "
              "/12, /13, /14, /15, /16, /17]\n"),
         "2:87: telemetry_capture.disk_paths has more than 16 paths; remove some"},
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
    char text[512];
    snprintf(text, sizeof text, "telemetry_capture:\n  disk_paths: [/%0*d]\n", SONDE_PATH_BYTES - 1,
             0);
    check_message(text, strlen(text), SONDE_EBADDATA,
                  "2:16: telemetry_capture.disk_paths has a path of 256 bytes; "
                  "expected at most 255");
}

static void not_yaml(void **state)
{
    (void)state;
    static const bad cases[] = {
        {TEXT("telemetry_capture:\n\tcpu: true\n"), "2:1: a tab cannot indent YAML; use spaces"},
        {TEXT("telemetry_capture:\n  cpu: true\n\tmem: true\n"),
         "3:1: a tab cannot indent YAML; use spaces"},
        {TEXT("telemetry_capture:\n  \tcpu: true\n"), "2:3: a tab cannot indent YAML; use spaces"},
        {TEXT("# \xC3\xA9\nlog: \xC3\xA9\xC3\xA9\n\tx: y\n"),
         "3:1: a tab cannot indent YAML; use spaces"},
        {TEXT("mq: |\n\ttext\n"), "2:1: a tab cannot indent YAML; use spaces"},
        {TEXT("telemetry_capture:\n  cpu: true\n mem: true\n"),
         "3:2: expected a key here; check the indentation against the lines above"},
        {TEXT(": 1\n"), "1:1: expected a key here; check the indentation against the lines above"},
        {TEXT("mq: a: b\n"),
         "1:6: a \":\" cannot stand here; check the indentation, or put the value in quotes"},
        {TEXT("mq: 1\nlog\nkv_db: 1\n"), "2:1: a key without a value; expected \"key: value\""},
        {TEXT("telemetry_capture:\n  gpu: [used\n"), "2:8: a list is not closed; expected \"]\""},
        {TEXT("mq: {a: b\n"), "1:5: a block is not closed; expected \"}\""},
        {TEXT("telemetry_capture:\n  level: \"full\n"),
         "2:10: a quoted text is not closed; expected a quote"},
        {TEXT("mq: 'a\n---\n"), "1:5: a quoted text is not closed; expected a quote"},
        {TEXT("mq: @a\n"), "1:5: this character cannot start a value; put the value in quotes"},
        {TEXT("%YAML 3.0\n---\nmq: 1\n"), "1:1: not valid YAML: found incompatible YAML document"},
        {TEXT("mq: \"\\q\"\n"), "1:6: not valid YAML: found unknown escape character, "
                                "while parsing a quoted scalar"},
        {TEXT("mq: 1\n---\nlog: 1\n"), "2:1: a second document starts; a settings file is one"},
        {TEXT("mq: 1\n...\nlog: 1\n"),
         "3:1: the file goes on after its end; expected one block of keys"},
        {TEXT("mq: &a 1\n"), "1:5: anchors (&) are not accepted; write the value out"},
        {TEXT("mq: &a [1]\n"), "1:5: anchors (&) are not accepted; write the value out"},
        {TEXT("mq:\n  &a {x: 1}\n"), "2:3: anchors (&) are not accepted; write the value out"},
        {TEXT("telemetry_capture:\n  cpu: *a\n"),
         "2:8: aliases (*) are not accepted; write the value out"},
        {TEXT("telemetry_capture:\n  cpu: !!bool true\n"),
         "2:8: tags (!) are not accepted; remove it"},
        {TEXT("mq: !python/object [1]\n"), "1:5: tags (!) are not accepted; remove it"},
        {TEXT("mq: !a {x: 1}\n"), "1:5: tags (!) are not accepted; remove it"},
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void not_text(void **state)
{
    (void)state;
    static const bad cases[] = {
        {TEXT("mq: 1\n  \0: 2\n"), "2:3: a control character (U+0000); expected a text file"},
        {TEXT("mq: \x1B[31m\n"), "1:5: a control character (U+001B); expected a text file"},
        {TEXT("mq: 1\r\nlog: \xC3\xA9\xFF\n"),
         "2:7: a byte that is not UTF-8; save the file as UTF-8"},
        {TEXT("mq: 1\rlog: \xC3"), "2:6: a byte that is not UTF-8; save the file as UTF-8"},
        {TEXT("mq: \xED\xA0\x80\n"), "1:5: a byte that is not UTF-8; save the file as UTF-8"},
        {TEXT("\xFF\xFEm\0q\0:\0"), "1:1: the file is UTF-16; save it as UTF-8"},
        {TEXT("\xFE\xFF\0m\0q\0:"), "1:1: the file is UTF-16; save it as UTF-8"},
        {TEXT("\x7F"
              "ELF\x02\x01\x01"),
         "1:1: a control character (U+007F); expected a text file"},
        {TEXT("\xEF\xBB\xBFmq: 1\ncpus: 1\n"),
         "2:1: unknown key \"cpus\" at the top; expected one of " TOP_KEYS},
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void what_is_quoted_is_printable_and_short(void **state)
{
    (void)state;
    static const bad cases[] = {
        {TEXT("\"te\\nx\\e[31m\\x9b\\0\\\"\\\\\": 1\n"),
         "1:1: unknown key \"te\\x0Ax\\x1B[31m\\u009B\\x00\\\"\\\\\" at the top; "
         "expected one of " TOP_KEYS},
        {TEXT("\xE6\x97\xA5\xE6\x9C\xAC: 1\n"), "1:1: unknown key \"\xE6\x97\xA5\xE6\x9C\xAC\" at "
                                                "the top; expected one of " TOP_KEYS},
        {TEXT("abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij: 1\n"),
         "1:1: unknown key \"abcdefghijabcdefghijabcdefghijabcdefghijabcdefg...\" at the top; "
         "expected one of " TOP_KEYS},
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void names_of_files_are_made_fit(void **state)
{
    (void)state;
    sonde_settings *settings = NULL;
    sonde_settings_error error;
    assert_int_equal(sonde_settings_parse("x: 1", 4, "a\nb\x1B\xFF\"\\.yaml", &settings, &error),
                     SONDE_EBADDATA);
    assert_string_equal(error.text, "a\\x0Ab\\x1B\\xFF\"\\.yaml:1:1: unknown key \"x\" at the top; "
                                    "expected one of " TOP_KEYS);
    char name[1000];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(
        sonde_settings_parse("telemetry_capture: {gpu: [\xC3\xA9]}", 29, name, &settings, &error),
        SONDE_EBADDATA);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_memory_equal(error.text, "...nnn", 6);
    assert_non_null(
        strstr(error.text, "n:1:27: telemetry_capture.gpu has \"\xC3\xA9\"; expected "));
    assert_string_equal(error.text + strlen(error.text) - 3, "...");
    assert_null(settings);
}

/* A text of prefix, then count times item, then suffix; the caller frees it. */
static char *repeated(const char *prefix, const char *item, size_t count, const char *suffix)
{
    size_t len = strlen(item);
    char *text = malloc(strlen(prefix) + count * len + strlen(suffix) + 1);
    assert_non_null(text);
    char *at = stpcpy(text, prefix);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, item);
    stpcpy(at, suffix);
    return text;
}

static void check_repeated(const char *prefix, const char *item, size_t count, const char *suffix,
                           sonde_status expected, const char *message)
{
    char *text = repeated(prefix, item, count, suffix);
    if (expected == SONDE_OK)
        sonde_settings_free(parse_good(text));
    else
        check_message(text, strlen(text), expected, message);
    free(text);
}

static void limits_hold(void **state)
{
    (void)state;
    /* the block at the top counts: 15 lists inside it are 16 levels */
    check_repeated("mq: ", "[", 15, "]]]]]]]]]]]]]]]\n", SONDE_OK, NULL);
    check_repeated("mq: ", "[", 16, "]]]]]]]]]]]]]]]]\n", SONDE_ELIMIT,
                   "1:20: nested deeper than 16 levels, too deep for settings");
    check_repeated("mq: ", "{a: ", 1000, "", SONDE_ELIMIT,
                   "1:65: nested deeper than 16 levels, too deep for settings");
    check_repeated("mq:\n", "- ", 200000, "", SONDE_ELIMIT,
                   "2:31: nested deeper than 16 levels, too deep for settings");
    check_repeated("mq: ", "[", SONDE__SETTINGS_FILE_BYTES - 4, "", SONDE_ELIMIT,
                   "1:20: nested deeper than 16 levels, too deep for settings");
    /* the block, its key and the list are three nodes */
    check_repeated("mq: [", "1,", SONDE__SETTINGS_NODES - 3, "]\n", SONDE_OK, NULL);
    check_repeated("mq: [", "1,", SONDE__SETTINGS_NODES - 2, "]\n", SONDE_ELIMIT,
                   "1:20000: more than 10000 keys and values, too many for settings");
    check_repeated("", "#", SONDE__SETTINGS_FILE_BYTES, "", SONDE_OK, NULL);
    check_repeated("", "#", SONDE__SETTINGS_FILE_BYTES + 1, "", SONDE_ELIMIT,
                   "1:1: the file has more than 1048576 bytes, too many for settings");
}

/* Ten levels of ten aliases each would be 10^10 nodes: refused at the first anchor. */
static void an_alias_bomb_is_refused(void **state)
{
    (void)state;
    char text[2048] = "mq:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 10; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "  a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "*a%d,", i - 1);
        snprintf(text + strlen(text), sizeof text - strlen(text), "]\n");
    }
    check_message(text, strlen(text), SONDE_EBADDATA,
                  "2:7: anchors (&) are not accepted; write the value out");
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Texts of the largest size on which a careless reader takes minutes; here each takes well under a
   second, and 20 leave room for sanitizers and busy machines. */
static void hostile_texts_end_soon(void **state)
{
    (void)state;
    static const char *const items[][2] = {
        {"mq: ", "["},       {"", "{"},           {"", "? "},        {"", "- "},
        {"", "&a"},          {"mq: ", "'\n"},     {"", "a:\n "},     {"", "%A B\n"},
        {"mq: |\n", " x\n"}, {"mq: \"", "\\x41"}, {"", "!"},         {"mq: ", "a\n  "},
        {"mq: [", "a,"},     {"", "\t"},          {"mq: {", "? a "}, {"", "---\n"},
        {"mq: >\n", " \n"},
    };
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        size_t count = (SONDE__SETTINGS_FILE_BYTES - strlen(items[i][0])) / strlen(items[i][1]);
        char *text = repeated(items[i][0], items[i][1], count, "");
        sonde_settings *settings = NULL;
        double start = seconds();
        if (sonde_settings_parse(text, strlen(text), "hostile.yaml", &settings, NULL) == SONDE_OK)
            sonde_settings_free(settings);
        double took = seconds() - start;
        if (took > 20)
            fail_msg("%s%s... took %.1f s", items[i][0], items[i][1], took);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_keys),
        cmocka_unit_test(keys_given_twice),
        cmocka_unit_test(wrong_values),
        cmocka_unit_test(wrong_numbers),
        cmocka_unit_test(wrong_lists),
        cmocka_unit_test(not_yaml),
        cmocka_unit_test(not_text),
        cmocka_unit_test(what_is_quoted_is_printable_and_short),
        cmocka_unit_test(names_of_files_are_made_fit),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(an_alias_bomb_is_refused),
        cmocka_unit_test(hostile_texts_end_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
