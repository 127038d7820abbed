/* SPDX-License-Identifier: Apache-2.0 */
#include "view/otlp_value.h"

#include "base/base64.h"
#include "base/number_format.h"
#include "view/view_utf8.h"

#include <math.h>

enum { VALUE_STRING = 1, VALUE_BOOL = 2, VALUE_INT = 3, VALUE_DOUBLE = 4, VALUE_BYTES = 7 };

static void put_value(sonde__buf *out, const sonde_attr *attr)
{
    switch (attr->type) {
    case SONDE_ATTR_INT:
        sonde__pb_uint(out, VALUE_INT, (uint64_t)attr->value.i);
        break;
    case SONDE_ATTR_UINT: /* beyond what AnyValue has: as a number, not as a wrong one */
        if (attr->value.u <= INT64_MAX)
            sonde__pb_uint(out, VALUE_INT, attr->value.u);
        else
            sonde__pb_double(out, VALUE_DOUBLE, (double)attr->value.u);
        break;
    case SONDE_ATTR_DOUBLE:
        sonde__pb_double(out, VALUE_DOUBLE, attr->value.d);
        break;
    case SONDE_ATTR_BOOL:
        sonde__pb_uint(out, VALUE_BOOL, attr->value.b != 0);
        break;
    case SONDE_ATTR_BYTES:
        sonde__pb_bytes(out, VALUE_BYTES, attr->value.s.data, attr->value.s.len);
        break;
    case SONDE_ATTR_STRING:
    case SONDE_ATTR_JSON:
        sonde__pb_text(out, VALUE_STRING, attr->value.s.data, attr->value.s.len);
        break;
    }
}

void sonde__otlp_attr(sonde__buf *out, unsigned field, const char *prefix, const sonde_attr *attr)
{
    size_t pair = sonde__pb_begin_short(out, field);
    size_t key = sonde__pb_begin_short(out, 1);
    sonde__buf_text(out, prefix);
    sonde__utf8_append(out, attr->key, attr->key_len);
    sonde__pb_end_short(out, key);
    size_t value = sonde__pb_begin_short(out, 2);
    put_value(out, attr);
    sonde__pb_end_short(out, value);
    sonde__pb_end_short(out, pair);
}

void sonde__otlp_resource_attr(void *buf, const char *prefix, const sonde_attr *attr)
{
    sonde__otlp_attr(buf, 1, prefix, attr);
}

void sonde__otlp_scope(sonde__buf *out)
{
    size_t scope = sonde__pb_begin_short(out, 1);
    sonde__pb_bytes(out, 1, "sonde", 5);
    sonde__pb_bytes(out, 2, sonde_version(), strlen(sonde_version()));
    sonde__pb_end_short(out, scope);
}

/* --- JSON --- */

void sonde__otlp_json_uint(sonde__json *json, uint64_t value)
{
    char text[SONDE__UINT_TEXT_MAX];
    sonde__json_string_n(json, text, sonde__format_uint(value, text));
}

void sonde__otlp_json_int(sonde__json *json, int64_t value)
{
    char text[SONDE__INT_TEXT_MAX];
    sonde__json_string_n(json, text, sonde__format_int(value, text));
}

void sonde__otlp_json_double(sonde__json *json, double value)
{
    if (isnan(value))
        sonde__json_string(json, "NaN");
    else if (isinf(value))
        sonde__json_string(json, value > 0 ? "Infinity" : "-Infinity");
    else
        sonde__json_double(json, value);
}

static void json_bytes(sonde__json *json, const sonde_attr *attr)
{
    sonde__buf text;
    sonde__buf_init(&text, 2 * attr->value.s.len + 16);
    sonde__base64(&text, attr->value.s.data, attr->value.s.len);
    sonde__json_string_n(json, text.data, text.len);
    sonde__buf_free(&text);
}

static void json_value(sonde__json *json, const sonde_attr *attr)
{
    switch (attr->type) {
    case SONDE_ATTR_INT:
        sonde__json_key(json, "intValue");
        sonde__otlp_json_int(json, attr->value.i);
        break;
    case SONDE_ATTR_UINT:
        sonde__json_key(json, attr->value.u <= INT64_MAX ? "intValue" : "doubleValue");
        if (attr->value.u <= INT64_MAX)
            sonde__otlp_json_uint(json, attr->value.u);
        else
            sonde__json_double(json, (double)attr->value.u);
        break;
    case SONDE_ATTR_DOUBLE:
        sonde__json_key(json, "doubleValue");
        sonde__otlp_json_double(json, attr->value.d);
        break;
    case SONDE_ATTR_BOOL:
        sonde__json_key(json, "boolValue");
        sonde__json_bool(json, attr->value.b != 0);
        break;
    case SONDE_ATTR_BYTES:
        sonde__json_key(json, "bytesValue");
        json_bytes(json, attr);
        break;
    case SONDE_ATTR_STRING:
    case SONDE_ATTR_JSON:
        sonde__json_key(json, "stringValue");
        sonde__json_string_n(json, attr->value.s.data, attr->value.s.len);
        break;
    }
}

void sonde__otlp_json_attr(sonde__json *json, const char *prefix, const sonde_attr *attr)
{
    sonde__json_begin_object(json);
    sonde__json_key(json, "key");
    if (prefix[0]) {
        sonde__buf key;
        sonde__buf_init(&key, attr->key_len + 64);
        sonde__buf_text(&key, prefix);
        sonde__buf_append(&key, attr->key, attr->key_len);
        sonde__json_string_n(json, key.data, key.len);
        sonde__buf_free(&key);
    } else {
        sonde__json_string_n(json, attr->key, attr->key_len);
    }
    sonde__json_key(json, "value");
    sonde__json_begin_object(json);
    json_value(json, attr);
    sonde__json_end_object(json);
    sonde__json_end_object(json);
}

void sonde__otlp_json_each(void *json, const char *prefix, const sonde_attr *attr)
{
    sonde__otlp_json_attr(json, prefix, attr);
}

void sonde__otlp_json_scope(sonde__json *json)
{
    sonde__json_key(json, "scope");
    sonde__json_begin_object(json);
    sonde__json_key(json, "name");
    sonde__json_string(json, "sonde");
    sonde__json_key(json, "version");
    sonde__json_string(json, sonde_version());
    sonde__json_end_object(json);
}
