/* SPDX-License-Identifier: Apache-2.0 */
#include "view/json_indent.h"

#include <stdbool.h>

static void new_line(sonde__buf *out, unsigned depth)
{
    sonde__buf_char(out, '\n');
    for (unsigned i = 0; i < depth; i++)
        sonde__buf_append(out, "  ", 2);
}

/* The length of the string that begins at json, with its quotes. */
static size_t string_length(const char *json, size_t len)
{
    size_t i = 1;
    while (i < len && json[i] != '"')
        i += json[i] == '\\' ? 2 : 1;
    return i < len ? i + 1 : len;
}

static bool is_empty(const char *json, size_t i, size_t len)
{
    return i + 1 < len && (json[i + 1] == '}' || json[i + 1] == ']');
}

void sonde__json_indent(sonde__buf *out, const char *json, size_t len)
{
    unsigned depth = 0;
    for (size_t i = 0; i < len; i++) {
        char c = json[i];
        if (c == '"') {
            size_t used = string_length(json + i, len - i);
            sonde__buf_append(out, json + i, used);
            i += used - 1;
        } else if ((c == '{' || c == '[') && is_empty(json, i, len)) {
            sonde__buf_append(out, json + i++, 2);
        } else if (c == '{' || c == '[') {
            sonde__buf_char(out, c);
            new_line(out, ++depth);
        } else if (c == '}' || c == ']') {
            new_line(out, --depth);
            sonde__buf_char(out, c);
        } else if (c == ',') {
            sonde__buf_char(out, c);
            new_line(out, depth);
        } else if (c == ':') {
            sonde__buf_append(out, ": ", 2);
        } else {
            sonde__buf_char(out, c);
        }
    }
    sonde__buf_char(out, '\n');
}
