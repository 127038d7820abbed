/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes/record_data.h"

#include "attributes/attribute_table.h"
#include "attributes/record_extract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sonde__data_init(sonde_data *data, const sonde_attributes *table)
{
    *data = (sonde_data){.table = table};
    sonde__buf_init(&data->text, SONDE__DATA_TEXT_MAX);
}

void sonde__data_free(sonde_data *data)
{
    sonde__buf_free(&data->text);
    free(data->items);
}

/* Makes data an independent copy of the table's defaults. */
static sonde_status copy_defaults(sonde_data *data)
{
    const sonde_data *defaults = &data->table->defaults;
    sonde__buf_append(&data->text, defaults->text.data, defaults->text.len);
    if (data->text.status != SONDE_OK)
        return data->text.status;
    if (defaults->item_count > 0) {
        data->items = malloc(defaults->item_count * sizeof *data->items);
        if (!data->items)
            return SONDE_ENOMEM;
        data->item_cap = defaults->item_count;
        memcpy(data->items, defaults->items, defaults->item_count * sizeof *data->items);
    }
    sonde_data_clear(data);
    return SONDE_OK;
}

sonde_status sonde_data_create(sonde_attributes *attributes, sonde_data **out)
{
    if (!attributes)
        attributes = sonde__attributes_builtin();
    sonde_status status = attributes ? sonde__attributes_freeze(attributes) : SONDE_ENOMEM;
    if (status != SONDE_OK)
        return status;
    sonde_data *data = malloc(sizeof *data);
    if (!data)
        return SONDE_ENOMEM;
    sonde__data_init(data, attributes);
    status = copy_defaults(data);
    if (status != SONDE_OK) {
        sonde_data_destroy(data);
        return status;
    }
    *out = data;
    return SONDE_OK;
}

void sonde_data_destroy(sonde_data *data)
{
    if (!data)
        return;
    sonde__data_free(data);
    free(data);
}

void sonde_data_clear(sonde_data *data)
{
    const sonde_data *defaults = &data->table->defaults;
    data->text.len = defaults->text.len;
    data->text.status = SONDE_OK;
    data->item_count = defaults->item_count;
    memcpy(data->values, defaults->values, data->table->count * sizeof data->values[0]);
}

sonde_status sonde__data_put_text(sonde_data *data, size_t index, const char *text, size_t len,
                                  bool sanitize)
{
    if (len > SONDE_ATTRIBUTE_VALUE_BYTES)
        return SONDE_ELIMIT;
    sonde__buf *buf = &data->text;
    if (!sonde__buf_reserve(buf, len + 1))
        return buf->status;
    char *to = buf->data + buf->len;
    size_t kept = len;
    if (sanitize)
        kept = sonde_sanitize_field_value(text, len, 0, to);
    else if (len > 0)
        memcpy(to, text, len);
    to[kept] = '\0';
    data->values[index] = (sonde__datum){.kind = SONDE__DATUM_TEXT,
                                         .truthy = len > 0,
                                         .at = (uint32_t)buf->len,
                                         .len = (uint32_t)kept};
    buf->len += kept + 1;
    return SONDE_OK;
}

void sonde__data_put_number(sonde_data *data, size_t index, sonde__datum_kind kind, int64_t integer,
                            double real)
{
    sonde__datum *datum = &data->values[index];
    *datum = (sonde__datum){.kind = kind};
    if (kind == SONDE__DATUM_DOUBLE) {
        datum->number.real = real;
        datum->truthy = real != 0;
    } else {
        datum->number.integer = integer;
        datum->truthy = integer != 0;
    }
}

void sonde__data_begin_list(sonde_data *data, size_t index)
{
    data->values[index] =
        (sonde__datum){.kind = SONDE__DATUM_LIST, .at = (uint32_t)data->item_count};
}

static bool grow_items(sonde_data *data)
{
    size_t cap = data->item_cap ? data->item_cap * 2 : 16;
    sonde__span *items = realloc(data->items, cap * sizeof *items);
    if (!items)
        return false;
    data->items = items;
    data->item_cap = cap;
    return true;
}

sonde_status sonde__data_add_item(sonde_data *data, size_t index, const char *text, size_t len)
{
    sonde__datum *list = &data->values[index];
    if (len > SONDE_ATTRIBUTE_VALUE_BYTES || data->item_count == SONDE_ATTRIBUTE_ITEMS_MAX)
        return SONDE_ELIMIT;
    if (data->item_count == data->item_cap && !grow_items(data))
        return SONDE_ENOMEM;
    sonde__buf *buf = &data->text;
    if (!sonde__buf_reserve(buf, len + 1))
        return buf->status;
    data->items[data->item_count++] = (sonde__span){(uint32_t)buf->len, (uint32_t)len};
    sonde__buf_append(buf, text, len);
    buf->data[buf->len++] = '\0';
    list->len++;
    list->truthy = true;
    return SONDE_OK;
}

/* Whether index is an attribute of this type. */
static bool is_of_type(const sonde_data *data, int index, sonde_attribute_type type)
{
    return index >= 0 && (size_t)index < data->table->count &&
           data->table->rows[index].view.type == type;
}

sonde_status sonde_data_set_text(sonde_data *data, int attribute, const char *text, size_t len)
{
    if (!is_of_type(data, attribute, SONDE_ATTRIBUTE_STRING))
        return SONDE_EINVAL;
    return sonde__data_put_text(data, (size_t)attribute, text, len, true);
}

sonde_status sonde_data_set_bool(sonde_data *data, int attribute, int value)
{
    if (!is_of_type(data, attribute, SONDE_ATTRIBUTE_BOOLEAN))
        return SONDE_EINVAL;
    sonde__data_put_number(data, (size_t)attribute, SONDE__DATUM_BOOL, value != 0, 0);
    return SONDE_OK;
}

/* The seconds of a job are checked, whoever gives them. */
static bool is_bad_time(const sonde_data *data, int index, double seconds)
{
    return !data->table->compat && index == data->table->roles[SONDE__ROLE_TIME] &&
           sonde__time_lapsed_fault(seconds) != NULL;
}

sonde_status sonde_data_set_int(sonde_data *data, int attribute, int64_t value)
{
    if (!is_of_type(data, attribute, SONDE_ATTRIBUTE_INTEGER) ||
        is_bad_time(data, attribute, (double)value))
        return SONDE_EINVAL;
    sonde__data_put_number(data, (size_t)attribute, SONDE__DATUM_INT, value, 0);
    return SONDE_OK;
}

sonde_status sonde_data_set_double(sonde_data *data, int attribute, double value)
{
    if (!is_of_type(data, attribute, SONDE_ATTRIBUTE_INTEGER) || !isfinite(value) ||
        is_bad_time(data, attribute, value))
        return SONDE_EINVAL;
    sonde__data_put_number(data, (size_t)attribute, SONDE__DATUM_DOUBLE, 0, value);
    return SONDE_OK;
}

sonde_status sonde_data_set_list(sonde_data *data, int attribute, const char *const *items,
                                 size_t count)
{
    if (!is_of_type(data, attribute, SONDE_ATTRIBUTE_LIST))
        return SONDE_EINVAL;
    sonde__data_begin_list(data, (size_t)attribute);
    for (size_t i = 0; i < count; i++) {
        sonde_status status =
            sonde__data_add_item(data, (size_t)attribute, items[i], strlen(items[i]));
        if (status != SONDE_OK)
            return status;
    }
    return SONDE_OK;
}

/* The value of a name; NULL: no such attribute, or null. */
static const sonde__datum *find_value(const sonde_data *data, const char *name)
{
    int index = sonde_attributes_find(data->table, name);
    if (index < 0 || data->values[index].kind == SONDE__DATUM_NULL)
        return NULL;
    return &data->values[index];
}

sonde_status sonde_data_text(const sonde_data *data, const char *name, const char **text,
                             size_t *len)
{
    const sonde__datum *datum = find_value(data, name);
    if (!datum)
        return SONDE_EABSENT;
    if (datum->kind != SONDE__DATUM_TEXT)
        return SONDE_EINVAL;
    *text = sonde__datum_text(data, datum);
    *len = datum->len;
    return SONDE_OK;
}

sonde_status sonde_data_bool(const sonde_data *data, const char *name, int *out)
{
    const sonde__datum *datum = find_value(data, name);
    if (!datum)
        return SONDE_EABSENT;
    if (datum->kind != SONDE__DATUM_BOOL)
        return SONDE_EINVAL;
    *out = datum->truthy;
    return SONDE_OK;
}

sonde_status sonde_data_number(const sonde_data *data, const char *name, double *out)
{
    const sonde__datum *datum = find_value(data, name);
    if (!datum)
        return SONDE_EABSENT;
    if (datum->kind == SONDE__DATUM_DOUBLE)
        *out = datum->number.real;
    else if (datum->kind == SONDE__DATUM_INT)
        *out = (double)datum->number.integer;
    else
        return SONDE_EINVAL;
    return SONDE_OK;
}

size_t sonde_data_list_count(const sonde_data *data, const char *name)
{
    const sonde__datum *datum = find_value(data, name);
    return datum && datum->kind == SONDE__DATUM_LIST ? datum->len : 0;
}

sonde_status sonde_data_list_item(const sonde_data *data, const char *name, size_t index,
                                  const char **text, size_t *len)
{
    const sonde__datum *datum = find_value(data, name);
    if (!datum)
        return SONDE_EABSENT;
    if (datum->kind != SONDE__DATUM_LIST)
        return SONDE_EINVAL;
    if (index >= datum->len)
        return SONDE_EABSENT;
    const sonde__span *item = &data->items[datum->at + index];
    *text = data->text.data + item->at;
    *len = item->len;
    return SONDE_OK;
}
