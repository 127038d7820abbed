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

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The place of the bracket that closes the one at i with nothing in between; 0: there is more. */
static size_t closes_at(const char *json, size_t i, size_t len)
{
    for (i++; i < len && is_space(json[i]); i++)
        ;
    return i < len && (json[i] == '}' || json[i] == ']') ? i : 0;
}

void sonde__json_indent(sonde__buf *out, const char *json, size_t len)
{
    unsigned depth = 0;
    for (size_t i = 0; i < len; i++) {
        char c = json[i];
        size_t close = c == '{' || c == '[' ? closes_at(json, i, len) : 0;
        if (is_space(c)) {
            continue; /* of an earlier layout */
        } else if (c == '"') {
            size_t used = string_length(json + i, len - i);
            sonde__buf_append(out, json + i, used);
            i += used - 1;
        } else if (close > 0) {
            sonde__buf_char(out, c);
            sonde__buf_char(out, json[close]);
            i = close;
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
