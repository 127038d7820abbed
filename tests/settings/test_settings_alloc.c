/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once, ours and libyaml's (linked statically here, so that the linker's
   --wrap reaches it): the call must answer ENOMEM with a message, leave *out alone and leak nothing
   (the sanitizer build sees that). */
#include "../refuse_alloc.h"
#include "settings_test.h"

#include <stdbool.h>

/* Allocations that still succeed; below 0: all do. */
static long allowance = -1;

static bool refuse(void)
{
    if (allowance < 0)
        return false;
    if (allowance == 0)
        return true;
    allowance--;
    return false;
}

static const char text[] = "mq: {a: [b, 'c', \"d\"]}\n"
                           "telemetry_capture:\n  gpu: [used, power]\n  level: light\n"
                           "  disk_paths: [/, /home]\n"
                           "instrumentation:\n  torch:\n    what: ~\n"
                           "attributes:\n  builders: [time]\n  table:\n"
                           "    - {name: a, type: list, default: [x, y]}\n    - {name: b}\n";

static sonde_status parse_text(sonde_settings **out, sonde_settings_error *error)
{
    return sonde_settings_parse(text, sizeof text - 1, "a.yaml", out, error);
}

static sonde_status load_file(sonde_settings **out, sonde_settings_error *error)
{
    return sonde_settings_load(FILES "flowcept_full.yaml", out, error);
}

/* By look-up, in a folder without settings.yaml and with a personal one that is not there. */
static sonde_status load_defaults(sonde_settings **out, sonde_settings_error *error)
{
    return sonde_settings_load(NULL, out, error);
}

/* Runs work with 0, 1, 2 ... allocations until it succeeds; returns how many it needed. */
static long sweep(sonde_status (*work)(sonde_settings **, sonde_settings_error *))
{
    for (long count = 0; count < 100000; count++) {
        sonde_settings *settings = NULL;
        sonde_settings_error error = {""};
        allowance = count;
        sonde_status status = work(&settings, &error);
        allowance = -1;
        if (status == SONDE_OK) {
            sonde_settings_free(settings);
            return count;
        }
        assert_int_equal(status, SONDE_ENOMEM);
        assert_null(settings);
        assert_non_null(strstr(error.text, ": "));
        assert_non_null(strstr(error.text, "emory"));
    }
    fail_msg("never succeeded");
    return 0;
}

static void parsing_survives(void **state)
{
    (void)state;
    assert_true(sweep(parse_text) > 30);
}

static void loading_survives(void **state)
{
    (void)state;
    assert_true(sweep(load_file) > 100);
}

static void looking_up_survives(void **state)
{
    (void)state;
    unsetenv("SONDE_SETTINGS");
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    assert_int_equal(sweep(load_defaults), 4); /* the path, the handle, a list, its element */
}

static void writing_survives(void **state)
{
    (void)state;
    sonde_settings *settings = parse_good(text);
    long count = 0;
    for (sonde_status status = SONDE_ENOMEM; status != SONDE_OK; count++) {
        char *yaml = NULL;
        allowance = count;
        status = sonde_settings_to_yaml(settings, &yaml);
        allowance = -1;
        if (status != SONDE_OK) {
            assert_int_equal(status, SONDE_ENOMEM);
            assert_null(yaml);
        }
        free(yaml);
        assert_true(count < 1000);
    }
    assert_true(count > 1);
    sonde_settings_free(settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parsing_survives),
        cmocka_unit_test(loading_survives),
        cmocka_unit_test(looking_up_survives),
        cmocka_unit_test(writing_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
