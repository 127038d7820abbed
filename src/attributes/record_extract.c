/* SPDX-License-Identifier: Apache-2.0 */
/* From JSON text to a normalised record. Known keys are checked by their attribute's type; the
   others are passed over (the reader still validates them). Records of one source have their keys
   in the same order, so the key that followed the last time is tried first. */
#include "attributes/record_extract.h"

#include "attributes/attribute_table.h"

#include <stdio.h>
#include <string.h>

typedef struct extraction {
    sonde_data *data;
    sonde__json_reader reader;
    sonde_attributes_error *error;
    uint32_t seen; /* bit n: attribute n was met */
} extraction;
_Static_assert(SONDE_ATTRIBUTES_MAX <= 32, "bits of seen");

const char *sonde__json_token_words(sonde__json_token token)
{
    switch (token) {
    case SONDE__JSON_OBJECT_BEGIN:
        return "an object";
    case SONDE__JSON_ARRAY_BEGIN:
        return "a list";
    case SONDE__JSON_STRING:
        return "text";
    case SONDE__JSON_NUMBER:
        return "a number";
    case SONDE__JSON_TRUE:
    case SONDE__JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

const char *sonde__time_lapsed_fault(double seconds)
{
    if (seconds < 0)
        return "is negative; expected seconds";
    if (!(seconds <= SONDE__TIME_LAPSED_MAX_S))
        return "is more than three centuries; expected seconds";
    return NULL;
}

static const char *key_of(const extraction *from, size_t index)
{
    return from->data->table->rows[index].raw_key;
}

static sonde_status refuse_type(const extraction *from, size_t index, sonde__json_token token,
                                const char *expected)
{
    return sonde__attributes_complain(from->error, SONDE_EBADDATA, "%s is %s; expected %s",
                                      key_of(from, index), sonde__json_token_words(token),
                                      expected);
}

static sonde_status refuse_syntax(const extraction *from)
{
    return sonde__attributes_complain(from->error, SONDE_EBADDATA, "not valid JSON at byte %zu: %s",
                                      from->reader.pos + 1,
                                      from->reader.error ? from->reader.error : "no value");
}

/* Says why a value could not be stored. */
static sonde_status refuse_store(const extraction *from, size_t index, sonde_status status)
{
    bool list = from->data->values[index].kind == SONDE__DATUM_LIST;
    if (status == SONDE_ENOMEM)
        return sonde__attributes_complain(from->error, status, "out of memory");
    if (list && from->data->item_count == SONDE_ATTRIBUTE_ITEMS_MAX)
        return sonde__attributes_complain(from->error, status, "%s has more than %d elements",
                                          key_of(from, index), SONDE_ATTRIBUTE_ITEMS_MAX);
    return sonde__attributes_complain(from->error, status, "%s has %zu bytes; at most %d are taken",
                                      key_of(from, index), from->reader.slice_len,
                                      SONDE_ATTRIBUTE_VALUE_BYTES);
}

/* Stores the current string, or the text of the current number, as the value or as an item. */
static sonde_status store_text(extraction *from, size_t index, bool item)
{
    const sonde__json_reader *reader = &from->reader;
    const char *text = reader->slice;
    size_t len = reader->slice_len;
    char plain[6 * SONDE_ATTRIBUTE_VALUE_BYTES];
    if (reader->escaped) {
        if (len > sizeof plain)
            return refuse_store(from, index, SONDE_ELIMIT);
        len = sonde__json_unescape(reader, plain);
        text = plain;
    }
    sonde_status status = item ? sonde__data_add_item(from->data, index, text, len)
                               : sonde__data_put_text(from->data, index, text, len, true);
    return status == SONDE_OK ? status : refuse_store(from, index, status);
}

/* Python would write a number its own way (5.30 is 5.3), so names come out the same here. */
static sonde_status store_scalar(extraction *from, size_t index, sonde__json_token token)
{
    sonde_status status = sonde__extract_compat(from->data, index, &from->reader, token);
    return status == SONDE_OK ? status : refuse_store(from, index, status);
}

static sonde_status take_string(extraction *from, size_t index, sonde__json_token token)
{
    if (token == SONDE__JSON_STRING)
        return store_text(from, index, false);
    if (token == SONDE__JSON_OBJECT_BEGIN || token == SONDE__JSON_ARRAY_BEGIN)
        return refuse_type(from, index, token, "text");
    return store_scalar(from, index, token);
}

static sonde_status take_bool(extraction *from, size_t index, sonde__json_token token)
{
    if (token != SONDE__JSON_TRUE && token != SONDE__JSON_FALSE)
        return refuse_type(from, index, token, "true or false");
    sonde__data_put_number(from->data, index, SONDE__DATUM_BOOL, token == SONDE__JSON_TRUE, 0);
    return SONDE_OK;
}

static sonde_status take_integer(extraction *from, size_t index, sonde__json_token token)
{
    bool is_time = (int)index == from->data->table->roles[SONDE__ROLE_TIME];
    int64_t integer = 0;
    double real = 0;
    if (token != SONDE__JSON_NUMBER)
        return refuse_type(from, index, token, is_time ? "seconds" : "a whole number");
    bool whole = sonde__json_get_int(&from->reader, &integer) == SONDE_OK;
    if (!whole && sonde__json_get_double(&from->reader, &real) != SONDE_OK)
        real = SONDE__TIME_LAPSED_MAX_S * 2;
    const char *fault = is_time ? sonde__time_lapsed_fault(whole ? (double)integer : real) : NULL;
    if (!is_time && !whole)
        fault = "is not a whole number of 64 bits";
    if (fault) {
        int shown = from->reader.slice_len < 40 ? (int)from->reader.slice_len : 40;
        return sonde__attributes_complain(from->error, SONDE_EBADDATA, "%s: %.*s %s",
                                          key_of(from, index), shown, from->reader.slice, fault);
    }
    sonde__data_put_number(from->data, index, whole ? SONDE__DATUM_INT : SONDE__DATUM_DOUBLE,
                           integer, real);
    return SONDE_OK;
}

/* A text is a list of one. */
static sonde_status take_list(extraction *from, size_t index, sonde__json_token token)
{
    if (token != SONDE__JSON_STRING && token != SONDE__JSON_ARRAY_BEGIN)
        return refuse_type(from, index, token, "a list of texts");
    sonde__data_begin_list(from->data, index);
    if (token == SONDE__JSON_STRING)
        return store_text(from, index, true);
    while ((token = sonde__json_next(&from->reader)) != SONDE__JSON_ARRAY_END) {
        if (token == SONDE__JSON_ERROR)
            return refuse_syntax(from);
        if (token != SONDE__JSON_STRING)
            return sonde__attributes_complain(from->error, SONDE_EBADDATA,
                                              "%s has %s in it; expected texts only",
                                              key_of(from, index), sonde__json_token_words(token));
        sonde_status status = store_text(from, index, true);
        if (status != SONDE_OK)
            return status;
    }
    return SONDE_OK;
}

static sonde_status take_value(extraction *from, size_t index, sonde__json_token token)
{
    const sonde_attributes *table = from->data->table;
    if (token == SONDE__JSON_ERROR)
        return refuse_syntax(from);
    if (table->compat) {
        sonde_status status = sonde__extract_compat(from->data, index, &from->reader, token);
        if (status == SONDE_EBADDATA)
            return refuse_syntax(from);
        return status == SONDE_OK ? status : refuse_store(from, index, status);
    }
    if (from->seen & 1u << index)
        return sonde__attributes_complain(from->error, SONDE_EBADDATA, "%s is given twice",
                                          key_of(from, index));
    from->seen |= 1u << index;
    if (token == SONDE__JSON_NULL)
        return SONDE_OK;
    switch (table->rows[index].view.type) {
    case SONDE_ATTRIBUTE_BOOLEAN:
        return take_bool(from, index, token);
    case SONDE_ATTRIBUTE_INTEGER:
        return take_integer(from, index, token);
    case SONDE_ATTRIBUTE_LIST:
        return take_list(from, index, token);
    default:
        return take_string(from, index, token);
    }
}

/* The attribute of the current key, -1: none. A key with escapes is compared by its meaning. */
static int find_key(const extraction *from, size_t guess)
{
    const sonde_attributes *table = from->data->table;
    const sonde__json_reader *reader = &from->reader;
    if (!reader->escaped)
        return sonde__attributes_by_key(table, reader->slice, reader->slice_len, guess);
    for (size_t i = 0; i < table->count; i++) {
        if (sonde__json_equals(reader, table->rows[i].raw_key))
            return (int)i;
    }
    return -1;
}

static sonde_status take_members(extraction *from)
{
    uint8_t *follows = from->data->follows;
    size_t last = SONDE_ATTRIBUTES_MAX;
    for (;;) {
        sonde__json_token token = sonde__json_next(&from->reader);
        if (token == SONDE__JSON_OBJECT_END)
            return SONDE_OK;
        if (token != SONDE__JSON_KEY)
            return refuse_syntax(from);
        int index = find_key(from, follows[last]);
        if (index < 0) {
            if (!sonde__json_skip(&from->reader))
                return refuse_syntax(from);
            continue;
        }
        follows[last] = (uint8_t)index;
        last = (size_t)index;
        sonde_status status = take_value(from, last, sonde__json_next(&from->reader));
        if (status != SONDE_OK)
            return status;
    }
}

static sonde_status take_record(extraction *from)
{
    sonde__json_token token = sonde__json_next(&from->reader);
    if (token == SONDE__JSON_ERROR)
        return refuse_syntax(from);
    if (token != SONDE__JSON_OBJECT_BEGIN)
        return sonde__attributes_complain(from->error, SONDE_EBADDATA,
                                          "the record is %s; expected an object",
                                          sonde__json_token_words(token));
    sonde_status status = take_members(from);
    if (status == SONDE_OK && sonde__json_next(&from->reader) != SONDE__JSON_END)
        return refuse_syntax(from);
    return status;
}

sonde_status sonde_extract_telemetry_data(sonde_data *data, const char *json, size_t len,
                                          sonde_attributes_error *error)
{
    extraction from = {.data = data, .error = error};
    sonde_data_clear(data);
    sonde__json_reader_init(&from.reader, json, len);
    sonde_status status = take_record(&from);
    if (status != SONDE_OK)
        sonde_data_clear(data);
    return status;
}
