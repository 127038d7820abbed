/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/settings_items.h"
#include "settings/settings_value.h"
#include "sonde/settings.h"

#include <string.h>

/* The value of a key of this type; NULL when there is none. */
static const sonde__value *find(const sonde_settings *settings, const char *key,
                                sonde__setting_type type)
{
    const sonde__setting *row = sonde__schema_row(key);
    return row && row->type == type ? &settings->values[row - sonde__settings_rows] : NULL;
}

const char *sonde_settings_path(const sonde_settings *settings)
{
    return settings->path;
}

const char *sonde_settings_ignored(const sonde_settings *settings, size_t index)
{
    return index < settings->foreign_count ? settings->foreign[index] : NULL;
}

const sonde_capture_options *sonde_settings_capture(const sonde_settings *settings)
{
    return &settings->capture;
}

sonde_status sonde_settings_bool(const sonde_settings *settings, const char *key, int *out)
{
    const sonde__value *value = find(settings, key, SONDE__SETTING_BOOL);
    if (!value)
        return SONDE_EINVAL;
    *out = value->number != 0;
    return SONDE_OK;
}

sonde_status sonde_settings_int(const sonde_settings *settings, const char *key, long *out)
{
    const sonde__value *value = find(settings, key, SONDE__SETTING_INT);
    if (!value)
        return SONDE_EINVAL;
    *out = value->number;
    return SONDE_OK;
}

sonde_status sonde_settings_text(const sonde_settings *settings, const char *key, const char **out)
{
    const sonde__value *value = find(settings, key, SONDE__SETTING_CHOICE);
    if (!value)
        return SONDE_EINVAL;
    if (value->null)
        return SONDE_EOFF;
    *out = sonde__schema_row(key)->choices[value->number];
    return SONDE_OK;
}

sonde_status sonde_settings_item(const sonde_settings *settings, const char *key, size_t index,
                                 const char *field, const char **out)
{
    const sonde__value *value = find(settings, key, SONDE__SETTING_ITEMS);
    for (size_t i = 0; value && sonde__item_names[i]; i++) {
        if (strcmp(sonde__item_names[i], field) != 0)
            continue;
        if (index >= value->block_count)
            return SONDE_EABSENT;
        if (!value->blocks[index].field[i])
            return SONDE_EOFF;
        *out = value->blocks[index].field[i];
        return SONDE_OK;
    }
    return SONDE_EINVAL;
}

sonde_status sonde_settings_item_place(const sonde_settings *settings, const char *key,
                                       size_t index, size_t *line, size_t *column)
{
    const sonde__value *value = find(settings, key, SONDE__SETTING_ITEMS);
    if (!value)
        return SONDE_EINVAL;
    if (index >= value->block_count)
        return SONDE_EABSENT;
    *line = value->blocks[index].place.line;
    *column = value->blocks[index].place.column;
    return SONDE_OK;
}

sonde_status sonde_settings_list(const sonde_settings *settings, const char *key, size_t index,
                                 const char **out)
{
    const sonde__value *value = find(settings, key, SONDE__SETTING_NAMES);
    if (!value)
        value = find(settings, key, SONDE__SETTING_PATHS);
    if (!value)
        return SONDE_EINVAL;
    if (value->null)
        return SONDE_EOFF;
    if (index >= value->count)
        return SONDE_EABSENT;
    *out = value->items[index];
    return SONDE_OK;
}
