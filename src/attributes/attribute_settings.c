/* SPDX-License-Identifier: Apache-2.0 */
/* The `attributes` block of a settings file as a table. */
#include "attributes/attribute_table.h"
#include "sonde/processor.h"
#include "sonde/settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *field_of(const sonde_settings *settings, size_t index, const char *name)
{
    const char *text = NULL;
    sonde_settings_item(settings, "attributes.table", index, name, &text);
    return text;
}

/* YAML's other words for true. */
static int is_true(const char *text)
{
    static const char letters[] = "tTyY";
    return strchr(letters, text[0]) != NULL || strcasecmp(text, "on") == 0;
}

/* A switch as an attribute's default is written: true or false. */
static const char *standard_of(sonde_attribute_type type, const char *text)
{
    if (!text || type != SONDE_ATTRIBUTE_BOOLEAN)
        return text;
    static const char *const words[] = {"true", "yes", "on", "false", "no", "off"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i]) == 0)
            return i < 3 ? "true" : "false";
    }
    return text;
}

static sonde_status add_row(const sonde_settings *settings, size_t index,
                            sonde_attributes *attributes, sonde_attributes_error *error)
{
    const char *type = field_of(settings, index, "type");
    const char *order = field_of(settings, index, "metric_order");
    const char *include = field_of(settings, index, "include_in_comprehensive");
    sonde_attribute attribute = {
        .name = field_of(settings, index, "name"),
        .raw_key = field_of(settings, index, "raw_key"),
        .metric_order = order ? (int)strtol(order, NULL, 10) : 100,
    };
    if (type)
        sonde_attribute_type_parse(type, &attribute.type);
    attribute.include_in_comprehensive =
        include ? is_true(include) : attribute.type != SONDE_ATTRIBUTE_LIST;
    attribute.standard = standard_of(attribute.type, field_of(settings, index, "default"));
    return sonde_attributes_add(attributes, &attribute, error);
}

/* The reason, behind the place of the block in the file. */
static sonde_status complain_of_row(const sonde_settings *settings, size_t index,
                                    const sonde_attributes_error *reason, sonde_status status,
                                    sonde_attributes_error *error)
{
    size_t line = 0;
    size_t column = 0;
    const char *path = sonde_settings_path(settings);
    sonde_settings_item_place(settings, "attributes.table", index, &line, &column);
    return sonde__attributes_complain(error, status, "%s:%zu:%zu: attributes.table: %s",
                                      path ? path : "settings", line, column, reason->text);
}

sonde_status sonde_attributes_from_settings(const struct sonde_settings *settings, unsigned flags,
                                            sonde_attributes **out, sonde_attributes_error *error)
{
    int builtin = 1;
    const char *compat;
    sonde_settings_bool(settings, "attributes.builtin", &builtin);
    if (!builtin)
        flags |= SONDE_ATTRIBUTES_EMPTY;
    if (sonde_settings_text(settings, "attributes.compat", &compat) == SONDE_OK)
        flags |= SONDE_ATTRIBUTES_COMPAT;
    sonde_attributes *attributes;
    sonde_status status = sonde_attributes_create(flags, &attributes);
    if (status != SONDE_OK)
        return sonde__attributes_complain(error, status, "%s", sonde_status_text(status));
    sonde_attributes_error reason = {""};
    for (size_t i = 0; status == SONDE_OK && field_of(settings, i, "name"); i++) {
        status = add_row(settings, i, attributes, &reason);
        if (status != SONDE_OK)
            complain_of_row(settings, i, &reason, status, error);
    }
    if (status != SONDE_OK) {
        sonde_attributes_destroy(attributes);
        return status;
    }
    *out = attributes;
    return SONDE_OK;
}

/* The builders that the settings name, NULL-terminated; none: the default set. */
static size_t builders_of(const sonde_settings *settings,
                          const sonde_builder *out[SONDE_BUILDERS_MAX + 1])
{
    size_t count = 0;
    const char *name;
    for (size_t i = 0; count < SONDE_BUILDERS_MAX &&
                       sonde_settings_list(settings, "attributes.builders", i, &name) == SONDE_OK;
         i++) {
        const sonde_builder *builder = sonde_builder_named(name);
        if (builder)
            out[count++] = builder;
    }
    out[count] = NULL;
    return count;
}

sonde_status sonde_processor_from_settings(const struct sonde_settings *settings, unsigned flags,
                                           sonde_attributes **table, sonde_processor **out,
                                           sonde_attributes_error *error)
{
    const sonde_builder *builders[SONDE_BUILDERS_MAX + 1];
    sonde_attributes *attributes = NULL;
    sonde_status status = sonde_attributes_from_settings(settings, flags, &attributes, error);
    if (status != SONDE_OK)
        return status;
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    options.attributes = attributes;
    options.builders = builders_of(settings, builders) ? builders : NULL;
    sonde_attributes_error reason = {"out of memory"};
    status = sonde_processor_create(&options, out, &reason);
    if (status != SONDE_OK) {
        const char *path = sonde_settings_path(settings);
        sonde_attributes_destroy(attributes);
        return sonde__attributes_complain(error, status, "%s: attributes: %s",
                                          path ? path : "settings", reason.text);
    }
    *table = attributes;
    return SONDE_OK;
}
