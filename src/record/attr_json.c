/* SPDX-License-Identifier: Apache-2.0 */
#include "record/attr_json.h"

#include "base/json_read.h"

bool sonde__attr_json_scalar(sonde__json *json, const sonde_attr *attr)
{
    switch (attr->type) {
    case SONDE_ATTR_INT:
        sonde__json_int(json, attr->value.i);
        return true;
    case SONDE_ATTR_UINT:
        sonde__json_uint(json, attr->value.u);
        return true;
    case SONDE_ATTR_DOUBLE:
        sonde__json_double(json, attr->value.d);
        return true;
    case SONDE_ATTR_BOOL:
        sonde__json_bool(json, attr->value.b != 0);
        return true;
    default:
        return false;
    }
}

bool sonde__is_json(const char *text, size_t len)
{
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, text, len);
    sonde__json_token token;
    do
        token = sonde__json_next(&reader);
    while (token != SONDE__JSON_ERROR && token != SONDE__JSON_END);
    return token == SONDE__JSON_END;
}

void sonde__attr_json_value(sonde__json *json, const sonde_attr *attr)
{
    if (sonde__attr_json_scalar(json, attr))
        return;
    const char *text = attr->value.s.data;
    size_t len = attr->value.s.len;
    if (attr->type == SONDE_ATTR_JSON && sonde__is_json(text, len))
        sonde__json_raw(json, text, len);
    else
        sonde__json_string_n(json, text, len);
}
