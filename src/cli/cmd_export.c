/* SPDX-License-Identifier: Apache-2.0 */
/* sonde export: a session in the format of another system. */
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/session_arg.h"
#include "sonde/encode.h"
#include "view/session_view.h"

#include <stdio.h>
#include <string.h>

enum { ERROR_BYTES = 1400 };

typedef struct export
{
    const sonde__args *args;
    sonde_format format;
    sonde_encode_options options;
    bool metrics; /* of the two that a format may have */
    bool history;
}
export;

static int unknown_format(const sonde__args *args, const char *name)
{
    sonde__nearest near;
    sonde__buf list;
    sonde__nearest_init(&near, name, strlen(name));
    sonde__buf_init(&list, ERROR_BYTES);
    for (int i = 0; i < SONDE_FORMAT_COUNT; i++) {
        const char *known = sonde_format_describe((sonde_format)i)->name;
        sonde__nearest_offer(&near, known, strlen(known));
        sonde__buf_text(&list, i ? ", " : "");
        sonde__buf_text(&list, known);
    }
    if (near.best)
        sonde__command_error(args->command,
                             "unknown format \"%s\"; did you mean \"%s\"? There are: %.*s", name,
                             near.best, (int)list.len, list.data);
    else
        sonde__command_error(args->command, "unknown format \"%s\"; there are: %.*s", name,
                             (int)list.len, list.data);
    sonde__buf_free(&list);
    return SONDE__EXIT_USAGE;
}

/* One of two words. False, after a line on stderr, when it is neither. */
static bool one_of(const sonde__args *args, const char *option, const char *first,
                   const char *second, bool *is_second)
{
    const char *value = sonde__args_get(args, option);
    if (!value)
        return true;
    *is_second = strcmp(value, second) == 0;
    if (*is_second || strcmp(value, first) == 0)
        return true;
    sonde__command_error(args->command, "%s is %s or %s, not \"%s\"", option, first, second, value);
    return false;
}

static int read_options(const sonde__args *args, export *out)
{
    const char *format = sonde__args_get(args, "--to");
    if (args->operands == 0 || !format) {
        sonde__command_error(args->command, "%s; see: sonde export --help",
                             args->operands == 0 ? "which session?" : "which format? say --to");
        return SONDE__EXIT_USAGE;
    }
    if (sonde_format_parse(format, &out->format) != SONDE_OK)
        return unknown_format(args, format);
    const sonde_format_info *info = sonde_format_describe(out->format);
    bool pyveda = false;
    out->metrics = !info->records;
    if (!one_of(args, "--signal", "traces", "metrics", &out->metrics) ||
        !one_of(args, "--profile", "sonde", "pyveda", &pyveda))
        return SONDE__EXIT_USAGE;
    out->options.profile = pyveda ? SONDE_PROFILE_PYVEDA : SONDE_PROFILE_SONDE;
    out->history = sonde__args_has(args, "--history");
    if (out->metrics ? !info->metrics : !info->records) {
        sonde__command_error(args->command, "%s has no %s", format,
                             out->metrics ? "metrics" : "traces");
        return SONDE__EXIT_USAGE;
    }
    if (out->history && out->format != SONDE_FORMAT_JSON) {
        sonde__command_error(args->command, "--history goes with --to json");
        return SONDE__EXIT_USAGE;
    }
    bool binary =
        out->format == SONDE_FORMAT_OTLP || out->format == SONDE_FORMAT_PROMETHEUS_PROTOBUF;
    if (binary && sonde__output_is_terminal()) {
        sonde__command_error(args->command,
                             "%s is binary; write it to a file: sonde export ... > FILE", format);
        return SONDE__EXIT_USAGE;
    }
    return SONDE__EXIT_OK;
}

static int put(void *user, const char *data, size_t len)
{
    (void)user;
    return sonde__output_write(data, len);
}

/* Exemplars come from the tasks, so those are read first. */
static sonde_status put_metrics(const export *what, sonde_reader *reader)
{
    sonde_view *view = sonde_view_create();
    if (!view)
        return SONDE_ENOMEM;
    sonde_record record;
    while (sonde_reader_next(reader, &record) == SONDE_OK)
        sonde_view_exemplar(view, &record);
    sonde__session_view session = {0};
    const char *data = NULL;
    size_t len = 0;
    sonde_status status = sonde__session_view_fill(&session, reader, view);
    if (status == SONDE_OK)
        status = sonde_encode(view, what->format, &what->options, &data, &len);
    if (status == SONDE_OK && len > 0 && !put(NULL, data, len))
        status = SONDE_EIO;
    if (sonde_view_skipped(view) > 0)
        sonde__command_error(
            what->args->command,
            "%zu series are left out: their name is not valid, or that of another kind of metric",
            sonde_view_skipped(view));
    sonde__session_view_free(&session);
    sonde_view_destroy(view);
    return status;
}

static sonde_status put_history(sonde_reader *reader)
{
    sonde__buf lines;
    sonde__buf_init(&lines, SONDE__OUTPUT_MAX);
    sonde_status status = sonde__session_history(reader, &lines);
    if (status == SONDE_OK && lines.len > 0 && !put(NULL, lines.data, lines.len))
        status = SONDE_EIO;
    sonde__buf_free(&lines);
    return status;
}

static void warn(const sonde__args *args, const sonde_reader *reader)
{
    sonde_reader_stats stats;
    sonde_reader_stats_get(reader, &stats);
    unsigned long long gone = stats.lost + stats.missing;
    if (gone > 0)
        sonde__command_error(args->command, "%llu records were lost or are missing", gone);
}

static int export_run(const sonde__args *args)
{
    export what = {.args = args, .options = SONDE_ENCODE_OPTIONS_DEFAULT};
    int code = read_options(args, &what);
    if (code != SONDE__EXIT_OK)
        return code;
    sonde_reader *reader = sonde__open_session(args);
    if (!reader)
        return SONDE__EXIT_FAILED;
    sonde_status status;
    if (what.history)
        status = put_history(reader);
    else if (what.metrics)
        status = put_metrics(&what, reader);
    else
        status = sonde_encode_records(reader, what.format, &what.options, put, NULL);
    if (status != SONDE_OK && status != SONDE_EIO) /* that one has been told */
        sonde__command_error(args->command, "%s: %s", args->operand[0], sonde_status_text(status));
    warn(args, reader);
    sonde_reader_close(reader);
    return status == SONDE_OK ? SONDE__EXIT_OK : SONDE__EXIT_FAILED;
}

static const sonde__option export_options[] = {
    {"--to", "FORMAT", "one of those above"},
    {"--signal", "WHICH", "of otlp and otlp-json: traces (default) or metrics"},
    {"--profile", "NAMES", "names of metrics: sonde (default) or pyveda"},
    {"--history", NULL, "with --to json: a line for each interval instead of the end"},
    {NULL, NULL, NULL},
};

static const sonde__example export_examples[] = {
    {"export telemetry/train.sonde --to prometheus", "the metrics at the end of a session"},
    {"export telemetry/train.sonde --to jaeger > trace.json", "a file that the Jaeger UI loads"},
    {"export telemetry/train.sonde --to otlp-json", "its tasks as OpenTelemetry spans"},
    {NULL, NULL},
};

const sonde__command sonde__command_export = {
    .name = "export",
    .operands = "FILE",
    .summary = "print a session in the format of another system",
    .about = "FILE is the NAME.sonde of a session; the files of processes that joined it are read "
             "too.\nFormats of metrics show the last value of every counter, gauge and histogram; "
             "formats of\ntraces and rows show every task. The result is written to stdout.\n\n"
             "Metrics: prometheus, openmetrics, prometheus-protobuf, json, statsd, dogstatsd, "
             "cloudwatch.\nTasks: jaeger, spans, flowcept, csv. Either: otlp, otlp-json.",
    .options = export_options,
    .examples = export_examples,
    .operands_max = 1,
    .run = export_run,
};
