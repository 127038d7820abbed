/* SPDX-License-Identifier: Apache-2.0 */
/* Scalars are read as YAML 1.1 readers do (PyYAML, which reads these files for Flowcept): yes, no,
   on and off are switches, in three spellings of case each. Numbers are decimal only: 010 would be
   eight to some readers and ten to others. */
#include "settings/settings_value.h"

#include "settings/settings_items.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool is_text(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

bool sonde__text_is_null(const char *text, size_t len)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (is_text(text, len, words[i]))
            return true;
    }
    return false;
}

static bool parse_bool(const char *text, size_t len, long *out)
{
    static const char *const words[][2] = {
        {"false", "true"}, {"False", "True"}, {"FALSE", "TRUE"}, {"no", "yes"}, {"No", "Yes"},
        {"NO", "YES"},     {"off", "on"},     {"Off", "On"},     {"OFF", "ON"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        for (int on = 0; on < 2; on++) {
            if (is_text(text, len, words[i][on])) {
                *out = on;
                return true;
            }
        }
    }
    return false;
}

static bool parse_int(const sonde__setting *row, const char *text, size_t len, long *out)
{
    long number = 0;
    if (len == 0 || (len > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || number > (row->max - (text[i] - '0')) / 10)
            return false;
        number = number * 10 + (text[i] - '0');
    }
    if (number < row->min)
        return false;
    *out = number;
    return true;
}

static bool parse_choice(const sonde__setting *row, const char *text, size_t len, long *out)
{
    for (long i = 0; row->choices[i]; i++) {
        if (is_text(text, len, row->choices[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

bool sonde__value_parse(const sonde__setting *row, const char *text, size_t len, bool plain,
                        sonde__value *out)
{
    bool null = plain && sonde__text_is_null(text, len);
    bool nullable = (row->flags & SONDE__SETTING_NULLABLE) != 0;
    if (null && nullable) {
        *out = (sonde__value){.null = true};
        return true;
    }
    long number = 0;
    bool good = false;
    if (row->type == SONDE__SETTING_NAMES)
        good = nullable && plain && parse_bool(text, len, &number) && number == 0;
    else if (row->type == SONDE__SETTING_BOOL)
        good = null || (plain && parse_bool(text, len, &number));
    else if (row->type == SONDE__SETTING_INT)
        good = plain && parse_int(row, text, len, &number);
    else if (row->type == SONDE__SETTING_CHOICE)
        good = parse_choice(row, text, len, &number);
    else if (row->type == SONDE__SETTING_TEXT)
        good = len >= (size_t)row->min && len <= (size_t)row->max;
    if (good)
        *out = (sonde__value){.null = row->type == SONDE__SETTING_NAMES, .number = number};
    return good;
}

sonde_status sonde__value_add(sonde__value *value, const char *text, size_t len)
{
    if (value->count == SONDE__SETTINGS_LIST)
        return SONDE_ELIMIT;
    if (!value->items)
        value->items = calloc(SONDE__SETTINGS_LIST + 1, sizeof value->items[0]);
    char *item = value->items ? malloc(len + 1) : NULL;
    if (!item)
        return SONDE_ENOMEM;
    memcpy(item, text, len);
    item[len] = '\0';
    value->items[value->count++] = item;
    value->null = false;
    return SONDE_OK;
}

void sonde__value_clear(sonde__value *value)
{
    for (size_t i = 0; i < value->count; i++)
        free(value->items[i]);
    free(value->items);
    sonde__items_free(value);
    *value = (sonde__value){.null = true};
}

static sonde_status set_default(const sonde__setting *row, sonde__value *value)
{
    size_t len = strlen(row->standard);
    if (sonde__schema_is_list(row)) {
        value->null = true;
        return sonde__text_is_null(row->standard, len)
                   ? SONDE_OK
                   : sonde__value_add(value, row->standard, len);
    }
    bool good = sonde__value_parse(row, row->standard, len, true, value);
    assert(good);
    (void)good;
    return SONDE_OK;
}

sonde_settings *sonde__settings_create(void)
{
    sonde_settings *settings = calloc(1, sizeof *settings);
    if (!settings)
        return NULL;
    for (size_t i = 0; i < sonde__settings_row_count; i++) {
        if (set_default(&sonde__settings_rows[i], &settings->values[i]) != SONDE_OK) {
            sonde_settings_free(settings);
            return NULL;
        }
    }
    sonde__settings_derive_capture(settings);
    return settings;
}

void sonde_settings_free(sonde_settings *settings)
{
    if (!settings)
        return;
    for (size_t i = 0; i < sonde__settings_row_count; i++)
        sonde__value_clear(&settings->values[i]);
    free(settings->path);
    free(settings);
}

static const sonde__value *value_of(const sonde_settings *settings, const char *key)
{
    const sonde__setting *row = sonde__schema_row(key);
    assert(row);
    return &settings->values[row - sonde__settings_rows];
}

void sonde__settings_derive_capture(sonde_settings *settings)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = 0;
#define ADD_TYPE(name, bit, setting, section)                       \
    if (value_of(settings, "telemetry_capture." setting)->number || \
        value_of(settings, "telemetry_capture." setting)->count)    \
        options.types |= (bit);
    SONDE_CAPTURE_TYPE_MAP(ADD_TYPE)
#undef ADD_TYPE
    options.level = (sonde_level)value_of(settings, "telemetry_capture.level")->number;
    options.idle_disks = (int)value_of(settings, "telemetry_capture.idle_disks")->number;
    options.gpu = (const char *const *)value_of(settings, "telemetry_capture.gpu")->items;
    options.paths = (const char *const *)value_of(settings, "telemetry_capture.disk_paths")->items;
    settings->capture = options;
}
