/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes/attribute_table.h"

#include "base/number_parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const sonde__role sonde__roles[SONDE__ROLE_COUNT] = {
    [SONDE__ROLE_VERSION] = {"version", SONDE_ATTRIBUTE_STRING},
    [SONDE__ROLE_ACTION] = {"action", SONDE_ATTRIBUTE_STRING},
    [SONDE__ROLE_NETWORK] = {"network", SONDE_ATTRIBUTE_STRING},
    [SONDE__ROLE_SUCCESS] = {"success", SONDE_ATTRIBUTE_BOOLEAN},
    [SONDE__ROLE_TIME] = {"time_lapsed", SONDE_ATTRIBUTE_INTEGER},
    [SONDE__ROLE_GPUS] = {"gpus", SONDE_ATTRIBUTE_LIST},
};

/* TAO's own table. */
static const sonde_attribute builtin_rows[] = {
    {"version", "version", SONDE_ATTRIBUTE_STRING, "unknown", 3, 1},
    {"action", "action", SONDE_ATTRIBUTE_STRING, "unknown", 2, 1},
    {"network", "network", SONDE_ATTRIBUTE_STRING, "unknown", 1, 1},
    {"success", "success", SONDE_ATTRIBUTE_BOOLEAN, "false", 4, 0},
    {"user_error", "user_error", SONDE_ATTRIBUTE_BOOLEAN, "false", 5, 0},
    {"time_lapsed", "time_lapsed", SONDE_ATTRIBUTE_INTEGER, "0", 100, 0},
    {"gpus", "gpu", SONDE_ATTRIBUTE_LIST, "unknown", 100, 0},
    {"client_type", "client_type", SONDE_ATTRIBUTE_STRING, "container", 6, 0},
    {"automl_triggered", "automl_triggered", SONDE_ATTRIBUTE_BOOLEAN, "false", 100, 0},
};

static const char *const type_names[] = {
#define TYPE_NAME(name, text) text,
    SONDE_ATTRIBUTE_TYPE_MAP(TYPE_NAME)
#undef TYPE_NAME
};

sonde_status sonde__attributes_complain(sonde_attributes_error *error, sonde_status status,
                                        const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return status;
}

const char *sonde_attribute_type_name(sonde_attribute_type type)
{
    return (unsigned)type < SONDE_ATTRIBUTE_TYPE_COUNT ? type_names[type] : NULL;
}

sonde_status sonde_attribute_type_parse(const char *text, sonde_attribute_type *out)
{
    for (unsigned i = 0; i < SONDE_ATTRIBUTE_TYPE_COUNT; i++) {
        if (strcmp(type_names[i], text) == 0) {
            *out = (sonde_attribute_type)i;
            return SONDE_OK;
        }
    }
    return SONDE_EINVAL;
}

sonde_status sonde_attributes_create(unsigned flags, sonde_attributes **out)
{
    if (flags & ~(unsigned)(SONDE_ATTRIBUTES_EMPTY | SONDE_ATTRIBUTES_COMPAT))
        return SONDE_EINVAL;
    sonde_attributes *attributes = calloc(1, sizeof *attributes);
    if (!attributes)
        return SONDE_ENOMEM;
    attributes->compat = (flags & SONDE_ATTRIBUTES_COMPAT) != 0;
    pthread_mutex_init(&attributes->lock, NULL);
    sonde__data_init(&attributes->defaults, attributes);
    size_t count =
        flags & SONDE_ATTRIBUTES_EMPTY ? 0 : sizeof builtin_rows / sizeof builtin_rows[0];
    for (size_t i = 0; i < count; i++) {
        if (sonde_attributes_add(attributes, &builtin_rows[i], NULL) != SONDE_OK) {
            sonde_attributes_destroy(attributes);
            return SONDE_ENOMEM;
        }
    }
    *out = attributes;
    return SONDE_OK;
}

void sonde_attributes_destroy(sonde_attributes *attributes)
{
    if (!attributes)
        return;
    for (size_t i = 0; i < attributes->count; i++)
        free(attributes->rows[i].standard);
    sonde__data_free(&attributes->defaults);
    pthread_mutex_destroy(&attributes->lock);
    free(attributes);
}

static sonde_attributes *shared_table;

static void make_shared_table(void)
{
    sonde_attributes_create(0, &shared_table);
}

sonde_attributes *sonde__attributes_builtin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_shared_table);
    return shared_table;
}

/* Names become part of Prometheus label names. */
static bool is_name(const char *text)
{
    size_t len = strlen(text);
    if (len == 0 || len >= SONDE_ATTRIBUTE_NAME_BYTES || isdigit((unsigned char)text[0]))
        return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

static bool is_reserved(const char *name)
{
    static const char *const reserved[] = {"status", "primary_gpu", "gpu_count", "gpu_type"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (strcmp(reserved[i], name) == 0)
            return true;
    }
    return false;
}

static bool is_whole_number(const char *text)
{
    int64_t value;
    size_t len = strlen(text);
    const char *digits = text + (text[0] == '-');
    size_t digit_count = strlen(digits);
    if (digit_count == 0 || strspn(digits, "0123456789") != digit_count)
        return false;
    return (digits[0] != '0' || digit_count == 1) &&
           sonde__parse_int(text, len, &value) == SONDE_OK;
}

static bool is_default(const sonde_attribute *attribute)
{
    const char *text = attribute->standard;
    if (!text)
        return true;
    if (attribute->type == SONDE_ATTRIBUTE_BOOLEAN)
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    if (attribute->type == SONDE_ATTRIBUTE_INTEGER)
        return is_whole_number(text);
    return strlen(text) <= SONDE_ATTRIBUTE_VALUE_BYTES;
}

static sonde_status check_attribute(const sonde_attribute *attribute, sonde_attributes_error *error)
{
    const char *name = attribute->name;
    const char *key = attribute->raw_key;
    if (!name || !is_name(name))
        return sonde__attributes_complain(
            error, SONDE_EINVAL,
            "attribute name \"%.80s\" is not valid; use a-z, 0-9 and _, at most %d bytes",
            name ? name : "", SONDE_ATTRIBUTE_NAME_BYTES - 1);
    if (is_reserved(name))
        return sonde__attributes_complain(
            error, SONDE_EINVAL, "attribute name \"%s\" is a label of its own; use another", name);
    if (key && (!*key || strlen(key) >= SONDE_ATTRIBUTE_NAME_BYTES))
        return sonde__attributes_complain(error, SONDE_EINVAL,
                                          "attribute %s: a raw_key has 1 to %d bytes", name,
                                          SONDE_ATTRIBUTE_NAME_BYTES - 1);
    if ((unsigned)attribute->type >= SONDE_ATTRIBUTE_TYPE_COUNT)
        return sonde__attributes_complain(error, SONDE_EINVAL, "attribute %s: unknown type", name);
    if (attribute->type == SONDE_ATTRIBUTE_LIST && attribute->include_in_comprehensive)
        return sonde__attributes_complain(
            error, SONDE_EINVAL, "attribute %s: a list cannot be part of a metric's name", name);
    if (!is_default(attribute))
        return sonde__attributes_complain(error, SONDE_EINVAL,
                                          "attribute %s: default \"%.80s\" is not of type %s", name,
                                          attribute->standard, type_names[attribute->type]);
    for (size_t i = 0; i < SONDE__ROLE_COUNT; i++) {
        if (strcmp(sonde__roles[i].name, name) == 0 && sonde__roles[i].type != attribute->type)
            return sonde__attributes_complain(error, SONDE_EINVAL,
                                              "attribute %s is always of type %s", name,
                                              type_names[sonde__roles[i].type]);
    }
    return SONDE_OK;
}

/* Where an attribute of this name is or would go. EINVAL: another one has its raw key. */
static sonde_status find_place(const sonde_attributes *attributes, const char *name,
                               const char *key, size_t *place, sonde_attributes_error *error)
{
    *place = attributes->count;
    for (size_t i = 0; i < attributes->count; i++) {
        if (strcmp(attributes->rows[i].name, name) == 0)
            *place = i;
        else if (strcmp(attributes->rows[i].raw_key, key) == 0)
            return sonde__attributes_complain(error, SONDE_EINVAL,
                                              "attribute %s: the raw_key \"%s\" belongs to %s",
                                              name, key, attributes->rows[i].name);
    }
    if (*place == SONDE_ATTRIBUTES_MAX)
        return sonde__attributes_complain(error, SONDE_ELIMIT, "more than %d attributes",
                                          (int)SONDE_ATTRIBUTES_MAX);
    return SONDE_OK;
}

static const char *standard_of(const sonde_attribute *attribute)
{
    if (attribute->standard)
        return attribute->standard;
    if (attribute->type == SONDE_ATTRIBUTE_BOOLEAN)
        return "false";
    return attribute->type == SONDE_ATTRIBUTE_INTEGER ? "0" : "";
}

sonde_status sonde_attributes_add(sonde_attributes *attributes, const sonde_attribute *attribute,
                                  sonde_attributes_error *error)
{
    sonde_status status = check_attribute(attribute, error);
    if (status != SONDE_OK)
        return status;
    if (attributes->frozen)
        return sonde__attributes_complain(
            error, SONDE_EINVAL, "attribute %s: the table is in use already", attribute->name);
    const char *key = attribute->raw_key ? attribute->raw_key : attribute->name;
    size_t place;
    status = find_place(attributes, attribute->name, key, &place, error);
    if (status != SONDE_OK)
        return status;
    char *standard = strdup(standard_of(attribute));
    if (!standard)
        return sonde__attributes_complain(error, SONDE_ENOMEM, "out of memory");
    sonde__row *row = &attributes->rows[place];
    free(row->standard);
    *row = (sonde__row){.view = *attribute, .standard = standard};
    row->name_len = strlen(attribute->name);
    row->raw_key_len = strlen(key);
    memcpy(row->name, attribute->name, row->name_len);
    memcpy(row->raw_key, key, row->raw_key_len);
    row->view.name = row->name;
    row->view.raw_key = row->raw_key;
    row->view.standard = row->standard;
    attributes->count += place == attributes->count;
    return SONDE_OK;
}

const sonde_attribute *sonde_attributes_get(const sonde_attributes *attributes, size_t index)
{
    return index < attributes->count ? &attributes->rows[index].view : NULL;
}

int sonde_attributes_find(const sonde_attributes *attributes, const char *name)
{
    for (size_t i = 0; i < attributes->count; i++) {
        if (strcmp(attributes->rows[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

int sonde__attributes_by_key(const sonde_attributes *attributes, const char *key, size_t len,
                             size_t guess)
{
    const sonde__row *rows = attributes->rows;
    size_t count = attributes->count;
    if (guess < count && rows[guess].raw_key_len == len &&
        memcmp(rows[guess].raw_key, key, len) == 0)
        return (int)guess;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].raw_key_len == len && memcmp(rows[i].raw_key, key, len) == 0)
            return (int)i;
    }
    return -1;
}
