/* SPDX-License-Identifier: Apache-2.0 */
/* sonde doctor: what can be measured here, and why not. Reads every source at level full twice and
   tells for each source its cost and for each field its value or its reason, with a remedy. */
#include "base/json_write.h"
#include "capture/capture_handle.h"
#include "cli/command.h"
#include "cli/gpu_table.h"
#include "cli/output.h"
#include "cli/settings_arg.h"
#include "cli/telemetry_table.h"
#include "cli/units.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { VALUE_BYTES = 64, PATH_WIDTH = 40 };

static bool source_is_off(const sonde__active_source *active)
{
    return active->open_status == SONDE_EOFF;
}

static bool source_has_field(const sonde__source *source, sonde_field field)
{
    for (unsigned i = 0; i < SONDE__SOURCE_RANGES && source->fields[i].last > 0; i++)
        if (field >= source->fields[i].first && field <= source->fields[i].last)
            return true;
    return false;
}

/* Whether a field is told under this source: the first that is on and has it. */
static bool is_listed(const sonde_capture *capture, const sonde__source *source, sonde_field field)
{
    if (sonde_telemetry_status(&capture->telemetry, field) == SONDE_EOFF)
        return false;
    for (unsigned i = 0; i < SONDE__SOURCE_COUNT; i++)
        if (!source_is_off(&capture->source[i]) &&
            source_has_field(capture->source[i].source, field))
            return capture->source[i].source == source;
    return false;
}

static void table_fields(const sonde_capture *capture, const sonde__source *source, sonde__buf *out)
{
    const sonde_telemetry *t = &capture->telemetry;
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        sonde_field field = (sonde_field)i;
        if (!is_listed(capture, source, field))
            continue;
        char value[VALUE_BYTES];
        sonde_status status = sonde_telemetry_status(t, field);
        sonde__telemetry_value(t, field, value, sizeof value);
        sonde__buf_printf(out, "  %-*s %s", PATH_WIDTH, sonde_field_describe(field)->path, value);
        if (status != SONDE_OK)
            sonde__buf_printf(out, " %s%s%s", sonde_status_text(status), source->remedy ? "; " : "",
                              source->remedy ? source->remedy : "");
        sonde__buf_char(out, '\n');
    }
}

static void table_source(const sonde_capture *capture, const sonde__active_source *active,
                         sonde__buf *out)
{
    char head[64], cost[32];
    snprintf(head, sizeof head, "%-18s", active->source->name);
    sonde__buf_bold(out, head);
    if (active->read_status == SONDE_OK) {
        sonde__format_duration(active->cost_ns, cost, sizeof cost);
        sonde__buf_printf(out, " ok       %9s  %s\n", cost, active->source->summary);
    } else {
        sonde__buf_printf(out, " %-8s %9s  %s: %s%s%s\n", sonde_status_name(active->read_status),
                          "", active->source->summary, sonde_status_text(active->read_status),
                          active->source->remedy ? "; " : "",
                          active->source->remedy ? active->source->remedy : "");
    }
    table_fields(capture, active->source, out);
    if (active->source->types & SONDE_CAPTURE_GPU)
        sonde__gpu_table(&capture->telemetry, out);
}

static void write_table(const sonde_capture *capture, sonde__buf *out)
{
    unsigned fields = 0, missing = 0;
    for (unsigned i = 0; i < SONDE__SOURCE_COUNT; i++)
        if (!source_is_off(&capture->source[i]))
            table_source(capture, &capture->source[i], out);
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        sonde_status status = sonde_telemetry_status(&capture->telemetry, (sonde_field)i);
        fields += status != SONDE_EOFF;
        missing += status != SONDE_OK && status != SONDE_EOFF;
    }
    char cost[32];
    sonde__format_duration(capture->telemetry.cost_ns, cost, sizeof cost);
    sonde__buf_printf(out, "%u of %u fields can be read here; a full reading took %s\n",
                      fields - missing, fields, cost);
}

static void json_status(sonde__json *json, sonde_status status, const char *remedy)
{
    sonde__json_key(json, "status");
    sonde__json_string(json, sonde_status_name(status));
    if (status == SONDE_OK)
        return;
    sonde__json_key(json, "reason");
    sonde__json_string(json, sonde_status_text(status));
    if (remedy) {
        sonde__json_key(json, "remedy");
        sonde__json_string(json, remedy);
    }
}

static void json_value(sonde__json *json, const sonde_telemetry *t, sonde_field field)
{
    uint64_t count;
    double number;
    const char *text;
    if (sonde_telemetry_status(t, field) != SONDE_OK) {
        sonde__json_null(json);
    } else if (sonde_field_describe(field)->type == SONDE_FIELD_TYPE_LIST) {
        sonde__json_begin_array(json);
        for (size_t i = 0; sonde_telemetry_text(t, field, i, &text) == SONDE_OK; i++)
            sonde__json_string(json, text);
        sonde__json_end_array(json);
    } else if (sonde_telemetry_text(t, field, 0, &text) == SONDE_OK) {
        sonde__json_string(json, text);
    } else if (sonde_telemetry_uint(t, field, &count) == SONDE_OK) {
        sonde__json_uint(json, count);
    } else if (sonde_telemetry_double(t, field, &number) == SONDE_OK) {
        sonde__json_double(json, number);
    }
}

static void json_field(sonde__json *json, const sonde_telemetry *t, sonde_field field,
                       const char *remedy)
{
    const sonde_field_info *info = sonde_field_describe(field);
    sonde__json_key(json, info->path);
    sonde__json_begin_object(json);
    json_status(json, sonde_telemetry_status(t, field), remedy);
    sonde__json_key(json, "unit");
    sonde__json_string(json, info->unit);
    sonde__json_key(json, "value");
    json_value(json, t, field);
    sonde__json_end_object(json);
}

static void json_source(sonde__json *json, const sonde_capture *capture,
                        const sonde__active_source *active)
{
    const sonde__source *source = active->source;
    sonde__json_key(json, source->name);
    sonde__json_begin_object(json);
    json_status(json, active->read_status, source->remedy);
    sonde__json_key(json, "summary");
    sonde__json_string(json, source->summary);
    sonde__json_key(json, "cost_seconds");
    sonde__json_double(json, (double)active->cost_ns / 1e9);
    sonde__json_key(json, "fields");
    sonde__json_begin_object(json);
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++)
        if (is_listed(capture, source, (sonde_field)i))
            json_field(json, &capture->telemetry, (sonde_field)i, source->remedy);
    sonde__json_end_object(json);
    sonde__json_end_object(json);
}

static void write_json(const sonde_capture *capture, sonde__buf *out)
{
    sonde__json json;
    sonde__json_init(&json, out);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "cost_seconds");
    sonde__json_double(&json, (double)capture->telemetry.cost_ns / 1e9);
    sonde__json_key(&json, "sources");
    sonde__json_begin_object(&json);
    for (unsigned i = 0; i < SONDE__SOURCE_COUNT; i++)
        if (!source_is_off(&capture->source[i]))
            json_source(&json, capture, &capture->source[i]);
    sonde__json_end_object(&json);
    sonde__json_end_object(&json);
    sonde__buf_char(out, '\n');
}

static int examine(const sonde__args *args, const sonde_capture_options *options)
{
    sonde_capture *capture;
    sonde_status status = sonde_capture_open(options, &capture);
    if (status == SONDE_EGONE)
        sonde__command_error(args->command, "--pid: there is no process %d", options->pid);
    else if (status != SONDE_OK)
        sonde__command_error(args->command, "%s", sonde_status_text(status));
    if (status != SONDE_OK)
        return SONDE__EXIT_FAILED;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    const sonde_telemetry *now;
    sonde_capture_read(capture, &now);
    sonde__buf out;
    sonde__buf_init(&out, SONDE__OUTPUT_MAX);
    if (sonde__args_has(args, "--json"))
        write_json(capture, &out);
    else
        write_table(capture, &out);
    bool ok = sonde__output_write(out.data, out.len);
    sonde__buf_free(&out);
    sonde_capture_close(capture);
    return ok ? SONDE__EXIT_OK : SONDE__EXIT_FAILED;
}

static int doctor_run(const sonde__args *args)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    const char *pid = sonde__args_get(args, "--pid");
    long number = 0;
    if (pid && !sonde__parse_count(pid, 1, INT_MAX, &number)) {
        sonde__command_error(args->command, "--pid: \"%s\" is not a process id", pid);
        return SONDE__EXIT_USAGE;
    }
    options.pid = (int)number;
    options.types = SONDE_CAPTURE_ALL;
    return examine(args, &options);
}

static const sonde__option doctor_options[] = {
    {"--pid", "N", "examine what can be read of another process"},
    {"--json", NULL, "as JSON"},
    {NULL, NULL, NULL},
};

static const sonde__example doctor_examples[] = {
    {"doctor", "every source and field: its value, or why there is none and what to do"},
    {"doctor --pid 1", "what this user may see of process 1"},
    {NULL, NULL},
};

const sonde__command sonde__command_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "tell what can be measured here, and why not",
    .about = "Reads every source once and prints, for each, what it cost, and for each of its "
             "fields the\n"
             "value, or the reason why there is none and what to do about it.",
    .options = doctor_options,
    .examples = doctor_examples,
    .run = doctor_run,
};
