/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/usage_output.h"

#include "attributes/usage_map.h"
#include "base/number_format.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_COLUMNS = 14 };

bool sonde__usage_format_parse(const char *text, sonde__usage_format *out)
{
    static const char *const names[] = {"json", "prometheus", "table"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = (sonde__usage_format)i;
            return true;
        }
    }
    return false;
}

/* Names can hold anything: what a terminal would act on is shown as a question mark. */
static void write_name(const sonde__cell *cell, sonde__buf *out)
{
    for (size_t at = 0, size; at < cell->key_len; at += size) {
        size = sonde__utf8_sequence(cell->key + at, cell->key_len - at);
        unsigned char c = (unsigned char)cell->key[at];
        bool shown = size > 0 && c >= 0x20 && c != 0x7F && (c != 0xC2 || size < 2);
        size = size ? size : 1;
        if (shown)
            sonde__buf_append(out, cell->key + at, size);
        else
            sonde__buf_char(out, '?');
    }
}

static void write_row(const sonde__cell *cell, sonde__buf *out)
{
    char number[SONDE__DOUBLE_TEXT_MAX + 1];
    const char *text = number;
    if (cell->operation == SONDE__OP_RAW)
        text = "(text)";
    else if (cell->is_real)
        number[sonde__format_double(cell->value.real, number)] = '\0';
    else
        number[sonde__format_int(cell->value.integer, number)] = '\0';
    sonde__buf_printf(out, "%*s  ", VALUE_COLUMNS, text);
    write_name(cell, out);
    sonde__buf_char(out, '\n');
}

static bool print_table(const sonde_usage *usage)
{
    sonde__buf out;
    sonde__buf_init(&out, SIZE_MAX / 2);
    sonde__buf_printf(&out, "%*s  ", VALUE_COLUMNS, "value");
    sonde__buf_bold(&out, "metric");
    sonde__buf_char(&out, '\n');
    sonde__usage_lock(usage);
    for (size_t i = 0; i < usage->count; i++)
        write_row(sonde__usage_cell(usage, i), &out);
    if (usage->overflow > 0)
        sonde__buf_printf(&out, "%*llu  (updates of metrics beyond the limit)\n", VALUE_COLUMNS,
                          (unsigned long long)usage->overflow);
    sonde__usage_unlock(usage);
    sonde_datetime last;
    if (sonde_usage_last_updated(usage, &last) == SONDE_OK) {
        char text[SONDE_DATETIME_BYTES];
        sonde_datetime_format(&last, text);
        sonde__buf_printf(&out, "last updated %s\n", text);
    }
    bool ok = out.status == SONDE_OK && sonde__output_write(out.data, out.len);
    sonde__buf_free(&out);
    return ok;
}

bool sonde__usage_print(const sonde_usage *usage, sonde__usage_format format, bool compat)
{
    char *text = NULL;
    size_t len = 0;
    sonde_status status = SONDE_OK;
    if (format == SONDE__USAGE_TABLE)
        return print_table(usage);
    if (format == SONDE__USAGE_JSON)
        status = sonde_usage_to_json(usage, &text, &len);
    else
        status = sonde_usage_to_prometheus(
            usage, compat ? SONDE_USAGE_NAMES_COMPAT : SONDE_USAGE_NAMES_BASE, &text, &len);
    if (status != SONDE_OK) {
        sonde__command_error(NULL, "cannot write the metrics: %s", sonde_status_text(status));
        return false;
    }
    if (format == SONDE__USAGE_JSON)
        text[len++] = '\n'; /* in place of its NUL */
    bool ok = sonde__output_write(text, len);
    free(text);
    return ok;
}
