/* SPDX-License-Identifier: Apache-2.0 */
/* Values as the original takes them: no type is refused, null is a value, a text in place of a list
   is a list of its characters. */
#include "attributes/attribute_table.h"
#include "attributes/python_text.h"
#include "attributes/record_extract.h"
#include "base/utf8.h"

#include <string.h>

enum { STR_BYTES_MAX = 16 * SONDE_ATTRIBUTE_VALUE_BYTES };

/* str() of the value at token as text of an attribute. */
static sonde_status put_str(sonde_data *data, size_t index, sonde__json_reader *reader,
                            sonde__json_token token, bool sanitize)
{
    sonde__buf text;
    bool truthy = false;
    sonde__buf_init(&text, STR_BYTES_MAX);
    sonde_status status = SONDE_EBADDATA;
    if (sonde__python_str(reader, token, &text, &truthy))
        status = text.status == SONDE_OK
                     ? sonde__data_put_text(data, index, text.data, text.len, sanitize)
                     : text.status;
    sonde__buf_free(&text);
    if (status == SONDE_OK) {
        data->values[index].truthy = truthy;
        data->values[index].kind = sanitize ? SONDE__DATUM_TEXT : SONDE__DATUM_OTHER;
    }
    return status;
}

static sonde_status add_str(sonde_data *data, size_t index, sonde__json_reader *reader,
                            sonde__json_token token)
{
    sonde__buf text;
    bool truthy;
    sonde__buf_init(&text, STR_BYTES_MAX);
    sonde_status status = SONDE_EBADDATA;
    if (sonde__python_str(reader, token, &text, &truthy))
        status = text.status == SONDE_OK ? sonde__data_add_item(data, index, text.data, text.len)
                                         : text.status;
    sonde__buf_free(&text);
    return status;
}

static sonde_status add_characters(sonde_data *data, size_t index, sonde__json_reader *reader)
{
    sonde__buf text;
    bool truthy;
    sonde__buf_init(&text, STR_BYTES_MAX);
    sonde__python_str(reader, SONDE__JSON_STRING, &text, &truthy);
    sonde_status status = text.status;
    for (size_t at = 0, size; at < text.len && status == SONDE_OK; at += size) {
        size = sonde__utf8_sequence(text.data + at, text.len - at);
        size = size ? size : 1;
        status = sonde__data_add_item(data, index, text.data + at, size);
    }
    sonde__buf_free(&text);
    return status;
}

/* What Python iterates: elements, keys, characters. */
static sonde_status put_iterable(sonde_data *data, size_t index, sonde__json_reader *reader,
                                 sonde__json_token token)
{
    sonde__data_begin_list(data, index);
    if (token == SONDE__JSON_STRING)
        return add_characters(data, index, reader);
    for (;;) {
        token = sonde__json_next(reader);
        if (token == SONDE__JSON_ARRAY_END || token == SONDE__JSON_OBJECT_END)
            return SONDE_OK;
        bool key = token == SONDE__JSON_KEY;
        sonde_status status = add_str(data, index, reader, key ? SONDE__JSON_STRING : token);
        if (status == SONDE_OK && key && !sonde__json_skip(reader))
            status = SONDE_EBADDATA;
        if (status != SONDE_OK)
            return status;
    }
}

/* Integers beyond 64 bits go on as doubles. */
static sonde_status put_number(sonde_data *data, size_t index, const sonde__json_reader *reader)
{
    int64_t integer = 0;
    double real = 0;
    bool whole = sonde__json_get_int(reader, &integer) == SONDE_OK;
    if (!whole && sonde__json_get_double(reader, &real) != SONDE_OK)
        return SONDE_ELIMIT;
    sonde__data_put_number(data, index, whole ? SONDE__DATUM_INT : SONDE__DATUM_DOUBLE, integer,
                           real);
    return SONDE_OK;
}

sonde_status sonde__extract_compat(sonde_data *data, size_t index, sonde__json_reader *reader,
                                   sonde__json_token token)
{
    sonde_attribute_type type = data->table->rows[index].view.type;
    bool iterable = token == SONDE__JSON_ARRAY_BEGIN || token == SONDE__JSON_OBJECT_BEGIN ||
                    token == SONDE__JSON_STRING;
    if (type == SONDE_ATTRIBUTE_STRING)
        return put_str(data, index, reader, token, true);
    if (type == SONDE_ATTRIBUTE_LIST && iterable)
        return put_iterable(data, index, reader, token);
    switch (token) {
    case SONDE__JSON_NULL:
        data->values[index] = (sonde__datum){.kind = SONDE__DATUM_NULL};
        return SONDE_OK;
    case SONDE__JSON_TRUE:
    case SONDE__JSON_FALSE:
        sonde__data_put_number(data, index, SONDE__DATUM_BOOL, token == SONDE__JSON_TRUE, 0);
        return SONDE_OK;
    case SONDE__JSON_NUMBER:
        return put_number(data, index, reader);
    default:
        return put_str(data, index, reader, token, false);
    }
}
