/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/telemetry_table.h"

#include "cli/gpu_table.h"
#include "cli/output.h"
#include "cli/units.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    LABEL_WIDTH = 28, /* the longest key, num_open_file_descriptors, with its margins */
    NAME_WIDTH = 21,  /* the longest name of a table, netio_per_interface, with its margin */
    CELL_BYTES = 128,
    ROWS_SHOWN = 32, /* of a table; a machine with 256 CPUs still fits a screen or two */
};

static void format_cmd_line(const sonde_telemetry *t, char *out, size_t cap)
{
    size_t used = 0;
    const char *argument;
    for (size_t i = 0;
         sonde_telemetry_text(t, SONDE_FIELD_PROCESS_CMD_LINE, i, &argument) == SONDE_OK; i++) {
        int more = snprintf(out + used, cap - used, "%s%s", i ? " " : "", argument);
        used += more > 0 ? (size_t)more : 0;
        if (used >= cap) {
            memcpy(out + cap - 4, "...", 4);
            break;
        }
    }
    for (char *at = out; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
}

void sonde__telemetry_value(const sonde_telemetry *t, sonde_field field, char *out, size_t cap)
{
    const sonde_field_info *info = sonde_field_describe(field);
    sonde_status status = sonde_telemetry_status(t, field);
    double number = 0;
    const char *text;
    out[0] = '\0';
    if (status != SONDE_OK)
        snprintf(out, cap, "[%s]", sonde_status_name(status));
    else if (info->type == SONDE_FIELD_TYPE_LIST)
        format_cmd_line(t, out, cap);
    else if (info->type == SONDE_FIELD_TYPE_TEXT &&
             sonde_telemetry_text(t, field, 0, &text) == SONDE_OK)
        snprintf(out, cap, "%s", text);
    else if (sonde_telemetry_double(t, field, &number) == SONDE_OK)
        sonde__format_field(info, number, out, cap);
}

/* Adds "key value" to a line, going to the next line at the width of the terminal. */
static void add_cell(sonde__buf *out, size_t *column, const char *key, const char *value)
{
    size_t need = strlen(key) + 1 + strlen(value) + 2;
    if (*column > LABEL_WIDTH && *column + need > sonde__output_columns()) {
        sonde__buf_printf(out, "\n%*s", LABEL_WIDTH, "");
        *column = LABEL_WIDTH;
    } else if (*column > LABEL_WIDTH) {
        sonde__buf_text(out, "  ");
    }
    sonde__buf_printf(out, "%s%s%s", key, *key ? " " : "", value);
    *column += need;
}

static bool is_off(const sonde_telemetry *t, sonde_field field)
{
    return sonde_telemetry_status(t, field) == SONDE_EOFF;
}

/* The line of an object ("memory") or of a field outside any; returns the field after it. */
static unsigned add_line(const sonde_telemetry *t, sonde__buf *out, unsigned field)
{
    const sonde_field_info *first = sonde_field_describe((sonde_field)field);
    bool grouped = *first->object;
    size_t column = LABEL_WIDTH;
    sonde__buf_printf(out, "  %-*s", LABEL_WIDTH - 2, grouped ? first->object : first->key);
    for (; field < SONDE_FIELD_COUNT; field++) {
        const sonde_field_info *info = sonde_field_describe((sonde_field)field);
        if (info->section != first->section || strcmp(info->object, first->object) != 0)
            break;
        char value[CELL_BYTES];
        sonde__telemetry_value(t, (sonde_field)field, value, sizeof value);
        if (!is_off(t, (sonde_field)field))
            add_cell(out, &column, grouped ? info->key : "", value);
        if (!grouped) {
            field++;
            break;
        }
    }
    sonde__buf_char(out, '\n');
    return field;
}

static void cell_text(const sonde_telemetry *t, sonde_table table, size_t row, unsigned field,
                      char *out, size_t cap)
{
    double number;
    sonde_status status = sonde_telemetry_row_double(t, table, row, (sonde_field)field, &number);
    if (status == SONDE_OK)
        sonde__format_field(sonde_field_describe((sonde_field)field), number, out, cap);
    else
        snprintf(out, cap, "[%s]", sonde_status_name(status));
}

/* Width of a column: its heading or its widest value. */
static int column_width(const sonde_telemetry *t, sonde_table table, size_t rows, unsigned field)
{
    size_t width = strlen(sonde_field_describe((sonde_field)field)->key);
    for (size_t row = 0; row < rows; row++) {
        char text[CELL_BYTES];
        cell_text(t, table, row, field, text, sizeof text);
        width = strlen(text) > width ? strlen(text) : width;
    }
    return (int)width;
}

/* Rows of the columns first to last - 1, below their headings. */
static void add_columns(const sonde_telemetry *t, sonde__buf *out, sonde_table table, size_t rows,
                        unsigned first, unsigned last, const int *width)
{
    sonde__buf_printf(out, "  %-*s", NAME_WIDTH - 2, sonde_table_describe(table)->key);
    for (unsigned field = first; field < last; field++)
        sonde__buf_printf(out, "  %*s", width[field],
                          sonde_field_describe((sonde_field)field)->key);
    sonde__buf_char(out, '\n');
    for (size_t row = 0; row < rows; row++) {
        sonde__buf_printf(out, "    %-*s", NAME_WIDTH - 4, sonde_telemetry_row_name(t, table, row));
        for (unsigned field = first; field < last; field++) {
            char text[CELL_BYTES];
            cell_text(t, table, row, field, text, sizeof text);
            sonde__buf_printf(out, "  %*s", width[field], text);
        }
        sonde__buf_char(out, '\n');
    }
}

/* A table, in as many blocks of columns as the width of the terminal asks for. */
static void add_table(const sonde_telemetry *t, sonde__buf *out, sonde_table table)
{
    const sonde_table_info *info = sonde_table_describe(table);
    size_t rows = sonde_telemetry_rows(t, table);
    size_t shown = rows < ROWS_SHOWN ? rows : ROWS_SHOWN;
    int width[SONDE_FIELD_COUNT];
    unsigned first = info->first, end = (unsigned)info->last + 1;
    size_t used = NAME_WIDTH;
    for (unsigned field = first; field < end; field++) {
        width[field] = column_width(t, table, shown, field);
        size_t need = (size_t)width[field] + 2;
        if (field > first && used + need > sonde__output_columns()) {
            add_columns(t, out, table, shown, first, field, width);
            first = field;
            used = NAME_WIDTH;
        }
        used += need;
    }
    add_columns(t, out, table, shown, first, end, width);
    if (shown < rows)
        sonde__buf_printf(out, "    and %zu more; --json has all\n", rows - shown);
}

static bool section_is_on(const sonde_telemetry *t, sonde_section section)
{
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++)
        if (sonde_field_describe((sonde_field)i)->section == section && !is_off(t, (sonde_field)i))
            return true;
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++)
        if (sonde_table_describe((sonde_table)i)->section == section &&
            sonde_telemetry_rows(t, (sonde_table)i) > 0)
            return true;
    return false;
}

/* Whether anything of the object that starts at field is wanted. */
static bool object_is_on(const sonde_telemetry *t, unsigned field)
{
    const sonde_field_info *first = sonde_field_describe((sonde_field)field);
    for (; field < SONDE_FIELD_COUNT; field++) {
        const sonde_field_info *info = sonde_field_describe((sonde_field)field);
        if (info->section != first->section || strcmp(info->object, first->object) != 0)
            return false;
        if (!is_off(t, (sonde_field)field))
            return true;
        if (!*first->object)
            return false;
    }
    return false;
}

static unsigned skip_object(unsigned field)
{
    const sonde_field_info *first = sonde_field_describe((sonde_field)field);
    do
        field++;
    while (*first->object && field < SONDE_FIELD_COUNT &&
           strcmp(sonde_field_describe((sonde_field)field)->object, first->object) == 0);
    return field;
}

static void add_section(const sonde_telemetry *t, sonde__buf *out, sonde_section section)
{
    if (!section_is_on(t, section))
        return;
    sonde__buf_bold(out, sonde_section_name(section));
    sonde__buf_char(out, '\n');
    for (unsigned field = 0; field < SONDE_FIELD_COUNT;) {
        if (sonde_field_describe((sonde_field)field)->section != section)
            field++;
        else if (object_is_on(t, field))
            field = add_line(t, out, field);
        else
            field = skip_object(field);
    }
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++) {
        size_t least = i == SONDE_TABLE_PATHS ? 2 : 1; /* one path is disk_usage itself */
        if (sonde_table_describe((sonde_table)i)->section == section &&
            sonde_telemetry_rows(t, (sonde_table)i) >= least)
            add_table(t, out, (sonde_table)i);
    }
}

void sonde__telemetry_table(const sonde_telemetry *t, sonde__buf *out)
{
    for (unsigned i = 0; i < SONDE_SECTION_COUNT; i++)
        add_section(t, out, (sonde_section)i);
    if (sonde_telemetry_gpus(t) > 0) {
        sonde__buf_bold(out, "gpu");
        sonde__buf_char(out, '\n');
        sonde__gpu_table(t, out);
    }
    char when[32], cost[32], window[32];
    time_t seconds = (time_t)(sonde_telemetry_time_ns(t) / 1000000000u);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
    sonde__format_duration(sonde_telemetry_cost_ns(t), cost, sizeof cost);
    sonde__format_duration(sonde_telemetry_window_ns(t), window, sizeof window);
    sonde__buf_printf(out, "read at %s in %s; percentages over the last %s\n", when, cost, window);
}
