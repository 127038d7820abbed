/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/telemetry.h"

#include "capture/capture_limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 16 };

void sonde__set_reason(sonde_telemetry *t, sonde_field first, sonde_field last, sonde_status reason)
{
    for (unsigned field = first; field <= (unsigned)last; field++)
        if (t->status[field] != SONDE_OK && t->status[field] != SONDE_EOFF)
            t->status[field] = (int8_t)reason;
}

sonde__row *sonde__rows_add(sonde__rows *rows, const char *name)
{
    if (rows->count == rows->cap) {
        size_t cap = rows->cap ? rows->cap * 2 : FIRST_ROWS;
        rows->status = cap <= SONDE__ROWS_MAX ? SONDE_ENOMEM : SONDE_ELIMIT;
        sonde__row *grown = cap <= SONDE__ROWS_MAX ? realloc(rows->row, cap * sizeof *grown) : NULL;
        if (!grown)
            return NULL;
        rows->row = grown;
        rows->cap = cap;
    }
    sonde__row *row = &rows->row[rows->count++];
    row->name = name;
    memset(row->status, SONDE_EABSENT, sizeof row->status);
    return row;
}

double sonde__percent(double part, double whole)
{
    return rint(part / whole * 1000.0) / 10.0;
}

static bool field_is_known(sonde_field field)
{
    return (unsigned)field < SONDE_FIELD_COUNT;
}

static sonde_status as_uint(sonde_field field, sonde__value value, sonde_status status,
                            uint64_t *out)
{
    if (sonde_field_describe(field)->type != SONDE_FIELD_TYPE_UINT)
        return SONDE_EINVAL;
    if (status == SONDE_OK)
        *out = value.u;
    return status;
}

static sonde_status as_double(sonde_field field, sonde__value value, sonde_status status,
                              double *out)
{
    sonde_field_type type = sonde_field_describe(field)->type;
    if (type != SONDE_FIELD_TYPE_DOUBLE && type != SONDE_FIELD_TYPE_UINT)
        return SONDE_EINVAL;
    if (status == SONDE_OK)
        *out = type == SONDE_FIELD_TYPE_UINT ? (double)value.u : value.d;
    return status;
}

sonde_status sonde_telemetry_status(const sonde_telemetry *t, sonde_field field)
{
    return field_is_known(field) ? (sonde_status)t->status[field] : SONDE_EINVAL;
}

sonde_status sonde_telemetry_uint(const sonde_telemetry *t, sonde_field field, uint64_t *out)
{
    if (!field_is_known(field))
        return SONDE_EINVAL;
    return as_uint(field, t->value[field], (sonde_status)t->status[field], out);
}

sonde_status sonde_telemetry_double(const sonde_telemetry *t, sonde_field field, double *out)
{
    if (!field_is_known(field))
        return SONDE_EINVAL;
    return as_double(field, t->value[field], (sonde_status)t->status[field], out);
}

sonde_status sonde_telemetry_text(const sonde_telemetry *t, sonde_field field, size_t index,
                                  const char **out)
{
    if (field != SONDE_FIELD_PROCESS_EXECUTABLE && field != SONDE_FIELD_PROCESS_CMD_LINE)
        return SONDE_EINVAL;
    if (t->status[field] != SONDE_OK)
        return (sonde_status)t->status[field];
    if (field == SONDE_FIELD_PROCESS_EXECUTABLE) {
        if (index != 0)
            return SONDE_EINVAL;
        *out = t->executable;
        return SONDE_OK;
    }
    if (index >= t->cmd_line_count)
        return SONDE_EINVAL;
    const char *argument = t->cmd_line;
    while (index-- > 0)
        argument += strlen(argument) + 1;
    *out = argument;
    return SONDE_OK;
}

size_t sonde_telemetry_rows(const sonde_telemetry *t, sonde_table table)
{
    return (unsigned)table < SONDE_TABLE_COUNT ? t->table[table].count : 0;
}

const char *sonde_telemetry_row_name(const sonde_telemetry *t, sonde_table table, size_t row)
{
    return row < sonde_telemetry_rows(t, table) ? t->table[table].row[row].name : NULL;
}

/* The row and the column in it, or NULL when the request is outside the table. */
static const sonde__row *find_cell(const sonde_telemetry *t, sonde_table table, size_t row,
                                   sonde_field field, unsigned *column)
{
    if (row >= sonde_telemetry_rows(t, table))
        return NULL;
    const sonde_table_info *info = sonde_table_describe(table);
    if (field < info->first || field > info->last)
        return NULL;
    *column = (unsigned)field - (unsigned)info->first;
    return &t->table[table].row[row];
}

sonde_status sonde_telemetry_row_uint(const sonde_telemetry *t, sonde_table table, size_t row,
                                      sonde_field field, uint64_t *out)
{
    unsigned column = 0;
    const sonde__row *found = find_cell(t, table, row, field, &column);
    if (!found)
        return SONDE_EINVAL;
    return as_uint(field, found->value[column], (sonde_status)found->status[column], out);
}

sonde_status sonde_telemetry_row_double(const sonde_telemetry *t, sonde_table table, size_t row,
                                        sonde_field field, double *out)
{
    unsigned column = 0;
    const sonde__row *found = find_cell(t, table, row, field, &column);
    if (!found)
        return SONDE_EINVAL;
    return as_double(field, found->value[column], (sonde_status)found->status[column], out);
}

uint64_t sonde_telemetry_time_ns(const sonde_telemetry *t)
{
    return t->time_ns;
}

uint64_t sonde_telemetry_cost_ns(const sonde_telemetry *t)
{
    return t->cost_ns;
}

uint64_t sonde_telemetry_window_ns(const sonde_telemetry *t)
{
    return t->window_ns;
}
