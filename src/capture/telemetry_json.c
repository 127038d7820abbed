/* SPDX-License-Identifier: Apache-2.0 */
/* A reading as JSON in Flowcept's shape, driven by the field table. What Sonde adds (time, cost,
   reasons for what is missing, sections of its own, the calling thread) is under the one key
   "sonde". A missing value has no key; in the list of CPUs, where position counts, it is null. */
#include "capture/telemetry_json.h"

#include "capture/capture_handle.h"
#include "capture/gpu_json.h"

#include <stdio.h>

static void write_value(sonde__json *json, sonde_field_type type, sonde__value value)
{
    if (type == SONDE_FIELD_TYPE_DOUBLE)
        sonde__json_double(json, value.d);
    else
        sonde__json_uint(json, value.u);
}

static void write_field(sonde__json *json, const sonde_telemetry *t, sonde_field field)
{
    const sonde_field_info *info = sonde_field_describe(field);
    sonde__json_key(json, info->key);
    if (info->type == SONDE_FIELD_TYPE_TEXT) {
        sonde__json_string(json, t->executable);
    } else if (info->type == SONDE_FIELD_TYPE_LIST) {
        sonde__json_begin_array(json);
        const char *argument = t->cmd_line;
        for (size_t i = 0; i < t->cmd_line_count; i++) {
            size_t len = strlen(argument);
            sonde__json_string_n(json, argument, len);
            argument += len + 1;
        }
        sonde__json_end_array(json);
    } else {
        write_value(json, info->type, t->value[field]);
    }
}

void sonde__telemetry_write_row(sonde__json *json, const sonde__row *row, sonde_field first,
                                sonde_field last)
{
    sonde__json_begin_object(json);
    for (unsigned field = first; field <= (unsigned)last; field++) {
        const sonde_field_info *info = sonde_field_describe((sonde_field)field);
        unsigned column = field - (unsigned)first;
        if (row->status[column] == SONDE_OK) {
            sonde__json_key(json, info->key);
            write_value(json, info->type, row->value[column]);
        }
    }
    sonde__json_end_object(json);
}

static void write_cpus(sonde__json *json, const sonde__rows *rows)
{
    sonde__json_key(json, "times_per_cpu");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < rows->count; i++)
        sonde__telemetry_write_row(json, &rows->row[i], SONDE_FIELD_CPU_USER,
                                   SONDE_FIELD_CPU_GUEST_NICE);
    sonde__json_end_array(json);
    sonde__json_key(json, "percent_per_cpu");
    sonde__json_begin_array(json);
    const unsigned column = SONDE_FIELD_CPU_PERCENT - SONDE_FIELD_CPU_USER;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i].status[column] == SONDE_OK)
            sonde__json_double(json, rows->row[i].value[column].d);
        else
            sonde__json_null(json);
    }
    sonde__json_end_array(json);
}

static void write_named_rows(sonde__json *json, const sonde_telemetry *t, sonde_table table)
{
    const sonde_table_info *info = sonde_table_describe(table);
    const sonde__rows *rows = &t->table[table];
    sonde__json_key(json, info->key);
    sonde__json_begin_object(json);
    for (size_t i = 0; i < rows->count; i++) {
        sonde__json_key(json, rows->row[i].name);
        sonde__telemetry_write_row(json, &rows->row[i], info->first, info->last);
    }
    sonde__json_end_object(json);
}

static bool has_table(const sonde_telemetry *t, sonde_table table)
{
    return t->table[table].status == SONDE_OK;
}

static void write_tables(sonde__json *json, const sonde_telemetry *t, sonde_section section)
{
    if (section == SONDE_SECTION_CPU && has_table(t, SONDE_TABLE_CPUS))
        write_cpus(json, &t->table[SONDE_TABLE_CPUS]);
    if (section == SONDE_SECTION_DISK && has_table(t, SONDE_TABLE_DISKS))
        write_named_rows(json, t, SONDE_TABLE_DISKS);
    if (section == SONDE_SECTION_NETWORK && has_table(t, SONDE_TABLE_INTERFACES))
        write_named_rows(json, t, SONDE_TABLE_INTERFACES);
    if (section == SONDE_SECTION_THERMAL && has_table(t, SONDE_TABLE_SENSORS))
        write_named_rows(json, t, SONDE_TABLE_SENSORS);
}

static bool section_has_values(const sonde_telemetry *t, sonde_section section)
{
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++)
        if (sonde_field_describe((sonde_field)i)->section == section && t->status[i] == SONDE_OK)
            return true;
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++)
        if (sonde_table_describe((sonde_table)i)->section == section &&
            has_table(t, (sonde_table)i) && t->table[i].count > 0)
            return true;
    return false;
}

void sonde__telemetry_write_section(sonde__json *json, const sonde_telemetry *t,
                                    sonde_section section)
{
    sonde__json_key(json, sonde_section_name(section));
    sonde__json_begin_object(json);
    const char *open = "";
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        const sonde_field_info *info = sonde_field_describe((sonde_field)i);
        if (info->section != section || t->status[i] != SONDE_OK)
            continue;
        if (strcmp(info->object, open) != 0) {
            if (*open)
                sonde__json_end_object(json);
            open = info->object;
            if (*open) {
                sonde__json_key(json, open);
                sonde__json_begin_object(json);
            }
        }
        write_field(json, t, (sonde_field)i);
    }
    if (*open)
        sonde__json_end_object(json);
    write_tables(json, t, section);
    sonde__json_end_object(json);
}

/* Sections first to before last, those that have anything in them. */
static void write_sections(sonde__json *json, const sonde_telemetry *t, unsigned first,
                           unsigned last)
{
    for (unsigned i = first; i < last; i++)
        if (section_has_values(t, (sonde_section)i))
            sonde__telemetry_write_section(json, t, (sonde_section)i);
}

static bool is_missing(sonde_status status)
{
    return status != SONDE_OK && status != SONDE_EOFF;
}

/* The first reason among the columns of a row, or SONDE_OK. */
static sonde_status row_reason(const sonde__row *row, unsigned columns)
{
    for (unsigned i = 0; i < columns; i++)
        if (is_missing((sonde_status)row->status[i]))
            return (sonde_status)row->status[i];
    return SONDE_OK;
}

/* "disk.io_per_disk" for a list that could not be read, "disk.io_per_disk.sda" for one item. */
static void write_missing_rows(sonde__json *json, const sonde_telemetry *t, sonde_table table)
{
    const sonde_table_info *info = sonde_table_describe(table);
    const sonde__rows *rows = &t->table[table];
    char path[SONDE_PATH_BYTES + 64];
    const char *place = info->section >= SONDE_SECTION_CGROUP ? "sonde." : "";
    if (is_missing(rows->status)) {
        snprintf(path, sizeof path, "%s%s.%s", place, sonde_section_name(info->section), info->key);
        sonde__json_key(json, path);
        sonde__json_string(json, sonde_status_name(rows->status));
    }
    for (size_t i = 0; i < rows->count; i++) {
        sonde_status reason = row_reason(&rows->row[i], (unsigned)(info->last - info->first) + 1);
        if (reason == SONDE_OK)
            continue;
        snprintf(path, sizeof path, "%s%s.%s.%s", place, sonde_section_name(info->section),
                 info->key, rows->row[i].name);
        sonde__json_key(json, path);
        sonde__json_string(json, sonde_status_name(reason));
    }
}

void sonde__telemetry_write_missing(sonde__json *json, const sonde_telemetry *t)
{
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        sonde_status status = (sonde_status)t->status[i];
        if (is_missing(status)) {
            sonde__json_key(json, sonde_field_describe((sonde_field)i)->path);
            sonde__json_string(json, sonde_status_name(status));
        }
    }
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++)
        write_missing_rows(json, t, (sonde_table)i);
    sonde__gpu_write_missing(json, t);
}

static void write_thread(sonde__json *json, const sonde__thread_usage *thread)
{
    sonde__json_key(json, "thread");
    sonde__json_begin_object(json);
    sonde__json_key(json, "user_seconds");
    sonde__json_double(json, thread->user_s);
    sonde__json_key(json, "system_seconds");
    sonde__json_double(json, thread->system_s);
    sonde__json_key(json, "minor_faults");
    sonde__json_uint(json, thread->minor_faults);
    sonde__json_key(json, "major_faults");
    sonde__json_uint(json, thread->major_faults);
    sonde__json_key(json, "voluntary_ctx_switches");
    sonde__json_uint(json, thread->voluntary_switches);
    sonde__json_key(json, "involuntary_ctx_switches");
    sonde__json_uint(json, thread->involuntary_switches);
    sonde__json_end_object(json);
}

static void write_own(sonde__json *json, const sonde_telemetry *t)
{
    sonde__json_key(json, "sonde");
    sonde__json_begin_object(json);
    sonde__json_key(json, "captured_at");
    sonde__json_double(json, (double)t->time_ns / 1e9);
    sonde__json_key(json, "window_seconds");
    sonde__json_double(json, (double)t->window_ns / 1e9);
    sonde__json_key(json, "cost_seconds");
    sonde__json_double(json, (double)t->cost_ns / 1e9);
    sonde__json_key(json, "level");
    sonde__json_string(json, sonde_level_name(t->level));
    if (t->thread.known)
        write_thread(json, &t->thread);
    if (t->table[SONDE_TABLE_PATHS].count > 1) {
        sonde__json_key(json, "disk_usage_per_path");
        sonde__json_begin_object(json);
        for (size_t i = 0; i < t->table[SONDE_TABLE_PATHS].count; i++) {
            const sonde__row *row = &t->table[SONDE_TABLE_PATHS].row[i];
            sonde__json_key(json, row->name);
            sonde__telemetry_write_row(json, row, SONDE_FIELD_DISK_TOTAL, SONDE_FIELD_DISK_PERCENT);
        }
        sonde__json_end_object(json);
    }
    sonde__gpu_write_own(json, t);
    write_sections(json, t, SONDE_SECTION_CGROUP, SONDE_SECTION_COUNT);
    sonde__json_key(json, "missing");
    sonde__json_begin_object(json);
    sonde__telemetry_write_missing(json, t);
    sonde__json_end_object(json);
    sonde__json_end_object(json);
}

void sonde__telemetry_json(const sonde_telemetry *t, sonde__json *json)
{
    sonde__json_begin_object(json);
    write_sections(json, t, 0, SONDE_SECTION_CGROUP);
    sonde__gpu_write_section(json, t);
    write_own(json, t);
    sonde__json_end_object(json);
}

sonde_status sonde_capture_json(sonde_capture *capture, const char **text, size_t *len)
{
    sonde__json json;
    sonde__buf_clear(&capture->json);
    sonde__json_init(&json, &capture->json);
    sonde__telemetry_json(&capture->telemetry, &json);
    sonde__buf_char(&capture->json, '\0');
    if (capture->json.status != SONDE_OK)
        return capture->json.status;
    *text = capture->json.data;
    *len = capture->json.len - 1;
    return SONDE_OK;
}
