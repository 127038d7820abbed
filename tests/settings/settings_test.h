/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of settings share. Include once per test program. */
#ifndef SONDE_TESTS_SETTINGS_H
#define SONDE_TESTS_SETTINGS_H

#include "sonde/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILES SONDE_SOURCE_DIR "/tests/settings/files/"

/* The settings of a text that must be good. */
static inline sonde_settings *parse_good(const char *text)
{
    sonde_settings *settings = NULL;
    sonde_settings_error error = {"no message"};
    sonde_status status = sonde_settings_parse(text, strlen(text), "good.yaml", &settings, &error);
    if (status != SONDE_OK)
        fail_msg("%s\nfor:\n%s", error.text, text);
    return settings;
}

static inline void assert_bool(const sonde_settings *settings, const char *key, int expected)
{
    int value = -1;
    assert_int_equal(sonde_settings_bool(settings, key, &value), SONDE_OK);
    if (value != expected)
        fail_msg("%s is %d, expected %d", key, value, expected);
}

/* expected NULL: the setting is null. */
static inline void assert_text(const sonde_settings *settings, const char *key,
                               const char *expected)
{
    const char *value = "untouched";
    assert_int_equal(sonde_settings_text(settings, key, &value), expected ? SONDE_OK : SONDE_EOFF);
    assert_string_equal(value, expected ? expected : "untouched");
}

/* Elements joined by "|"; NULL: the setting is null. */
static inline void assert_list(const sonde_settings *settings, const char *key,
                               const char *expected)
{
    char joined[8192] = "";
    const char *element;
    sonde_status status = SONDE_OK;
    for (size_t i = 0; (status = sonde_settings_list(settings, key, i, &element)) == SONDE_OK; i++)
        snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", i ? "|" : "",
                 element);
    assert_int_equal(status, expected ? SONDE_EABSENT : SONDE_EOFF);
    assert_string_equal(joined, expected ? expected : "");
}

#endif
