/* SPDX-License-Identifier: Apache-2.0 */
/* The settings as YAML. Texts out of the schema are plain words; paths are quoted, with escapes for
   what YAML would not take, or would fold, inside quotes. */
#include "base/buf.h"
#include "base/utf8.h"
#include "settings/settings_items.h"
#include "settings/settings_value.h"
#include "sonde/settings.h"

#include <assert.h>
#include <string.h>

enum {
    YAML_BYTES_MAX = 1 << 20,
    INDENT = 2,
    ITEM_INDENT = 4,
    COMMENT_COLUMNS = 96,
    COMMENT_BYTES = 1024
};

/* U+0080 to U+009F, the line breaks U+2028 and U+2029, U+FEFF, U+FFFE and U+FFFF: all of those
   that YAML wants escaped, in UTF-8. */
static bool wants_escape(const unsigned char *c, size_t size)
{
    if (size == 1)
        return c[0] < 0x20 || c[0] == 0x7F;
    if (size == 2)
        return c[0] == 0xC2 && c[1] < 0xA0;
    return (size == 3 && memcmp(c, "\xE2\x80", 2) == 0 && (c[2] == 0xA8 || c[2] == 0xA9)) ||
           (size == 3 && memcmp(c, "\xEF\xBB\xBF", 3) == 0) ||
           (size == 3 && memcmp(c, "\xEF\xBF", 2) == 0 && c[2] >= 0xBE);
}

static unsigned code_point(const unsigned char *c, size_t size)
{
    unsigned code = size == 1 ? c[0] : c[0] & (0x3Fu >> (size - 1));
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (c[i] & 0x3Fu);
    return code;
}

void sonde__yaml_quoted(const char *text, sonde__buf *out)
{
    size_t len = strlen(text);
    sonde__buf_char(out, '"');
    for (size_t at = 0, size; at < len; at += size) {
        const unsigned char *character = (const unsigned char *)text + at;
        size = sonde__utf8_sequence(text + at, len - at);
        size = size ? size : 1;
        if (wants_escape(character, size))
            sonde__buf_printf(out, "\\u%04X", code_point(character, size));
        else if (*character == '"' || *character == '\\')
            sonde__buf_printf(out, "\\%c", *character);
        else
            sonde__buf_append(out, character, size);
    }
    sonde__buf_char(out, '"');
}

static void write_value(const sonde__setting *row, const sonde__value *value, sonde__buf *out)
{
    if (row->type == SONDE__SETTING_BOOL)
        sonde__buf_text(out, value->number ? "true" : "false");
    else if (value->null)
        sonde__buf_char(out, '~');
    else if (row->type == SONDE__SETTING_INT)
        sonde__buf_printf(out, "%ld", value->number);
    else if (row->type == SONDE__SETTING_CHOICE)
        sonde__buf_text(out, row->choices[value->number]);
    else if (row->type == SONDE__SETTING_ITEMS)
        sonde__items_write(value, ITEM_INDENT, out);
    else {
        sonde__buf_char(out, '[');
        for (size_t i = 0; i < value->count; i++) {
            sonde__buf_text(out, i ? ", " : "");
            if (row->type == SONDE__SETTING_PATHS)
                sonde__yaml_quoted(value->items[i], out);
            else
                sonde__buf_text(out, value->items[i]);
        }
        sonde__buf_char(out, ']');
    }
}

static void write_indent(size_t depth, sonde__buf *out)
{
    for (size_t i = 0; i < depth * INDENT; i++)
        sonde__buf_char(out, ' ');
}

/* Text as comment lines of bounded width, broken at spaces. */
static void write_comment(const char *text, size_t depth, sonde__buf *out)
{
    while (*text) {
        size_t room = COMMENT_COLUMNS - depth * INDENT;
        size_t len = strlen(text);
        if (len > room) {
            len = room;
            while (len > 0 && text[len] != ' ')
                len--;
            len = len ? len : strcspn(text, " ");
        }
        write_indent(depth, out);
        sonde__buf_printf(out, "# %.*s\n", (int)len, text);
        text += len;
        text += *text == ' ';
    }
}

/* What a row is for and takes. */
static void write_help(const sonde__setting *row, size_t depth, sonde__buf *out)
{
    char text[COMMENT_BYTES];
    sonde__buf help;
    sonde__buf_init_fixed(&help, text, sizeof text);
    sonde__buf_text(&help, row->summary);
    if (row->type != SONDE__SETTING_BOOL) {
        sonde__buf_text(&help, ". Takes ");
        sonde__schema_expected(row, &help);
    }
    if (row->type == SONDE__SETTING_NAMES) {
        sonde__buf_text(&help, ", out of ");
        sonde__schema_expected_element(row, &help);
    }
    sonde__buf_append(&help, ".", sizeof ".");
    assert(help.status == SONDE_OK);
    write_comment(text, depth, out);
}

/* Lines for the blocks that begin at this row, then the row. */
static void write_row(const sonde_settings *settings, size_t index, sonde__buf *out)
{
    const sonde__setting *row = &sonde__settings_rows[index];
    sonde__block block = {"", 0};
    size_t depth = 0;
    for (const char *dot; (dot = strchr(row->key + block.len, '.')) != NULL; depth++) {
        size_t len;
        if (sonde__schema_child(block, index, &len)) {
            sonde__buf_text(out, depth == 0 ? "\n" : "");
            write_indent(depth, out);
            sonde__buf_printf(out, "%.*s:\n", (int)len, row->key + block.len);
        }
        block = (sonde__block){row->key, (size_t)(dot - row->key) + 1};
    }
    write_help(row, depth, out);
    write_indent(depth, out);
    sonde__buf_printf(out, "%s: ", row->key + block.len);
    write_value(row, &settings->values[index], out);
    sonde__buf_char(out, '\n');
}

sonde_status sonde_settings_to_yaml(const sonde_settings *settings, char **out)
{
    sonde__buf buf;
    sonde__buf_init(&buf, YAML_BYTES_MAX);
    sonde__buf_text(&buf, "# Settings of Sonde. A telemetry type that is not mentioned is off once "
                          "another one is on.\n");
    for (size_t i = 0; i < sonde__settings_row_count; i++)
        write_row(settings, i, &buf);
    sonde__buf_char(&buf, '\0');
    if (buf.status != SONDE_OK) {
        sonde_status status = buf.status;
        sonde__buf_free(&buf);
        return status;
    }
    *out = buf.data;
    return SONDE_OK;
}
