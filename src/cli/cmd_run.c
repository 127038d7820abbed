/* SPDX-License-Identifier: Apache-2.0 */
/* sonde run: runs a program and records it. */
#include "agent/supervise.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/settings_arg.h"
#include "cli/units.h"
#include "view/json_indent.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t default_sample_ns = 1000000000u;
static const uint64_t least_sample_ns = 10000000u;

static bool take_types(const sonde__args *args, sonde_capture_options *capture)
{
    const char *types = sonde__args_get(args, "--types"), *bad;
    size_t bad_len;
    if (!types)
        capture->types |= SONDE_CAPTURE_ENERGY | SONDE_CAPTURE_GPU; /* free where there is none */
    if (!types || sonde_capture_types_parse(types, &capture->types, &bad, &bad_len) == SONDE_OK)
        return true;
    sonde__command_error(args->command, "--types: \"%.*s\" is not a type of telemetry",
                         (int)bad_len, bad);
    return false;
}

static bool take_options(const sonde__args *args, sonde_capture_options *capture,
                         sonde__supervise_options *options)
{
    const char *sample = sonde__args_get(args, "--sample");
    options->sample_ns = default_sample_ns;
    if (sample && (!sonde__parse_duration(sample, &options->sample_ns) ||
                   options->sample_ns < least_sample_ns)) {
        sonde__command_error(args->command, "--sample: \"%s\" is not a time from 10ms", sample);
        return false;
    }
    if (args->rest_count == 0) {
        sonde__command_error(args->command,
                             "what should run? for instance: sonde run -- python3 train.py");
        return false;
    }
    options->session = sonde__args_get(args, "--session");
    options->dir = sonde__args_get(args, "--dir");
    options->host = !sonde__args_has(args, "--no-host");
    options->group = !sonde__args_has(args, "--no-cgroup");
    options->capture = capture;
    options->argv = args->rest;
    return take_types(args, capture);
}

/* On stderr, at once: the command's own output goes to stdout. */
static void tell(const sonde__run_report *report, bool as_json)
{
    sonde__buf out;
    sonde__buf_init(&out, SONDE__OUTPUT_MAX);
    if (!as_json) {
        sonde__run_report_text(report, &out);
    } else {
        char text[4096];
        int fd = open(report->json, O_RDONLY | O_CLOEXEC);
        ssize_t got;
        while (fd >= 0 && (got = read(fd, text, sizeof text)) > 0)
            sonde__buf_append(&out, text, (size_t)got);
        if (fd >= 0)
            close(fd);
    }
    fwrite(out.data, 1, out.len, stderr);
    sonde__buf_free(&out);
}

static int run_run(const sonde__args *args)
{
    sonde_settings *settings;
    if (!sonde__load_settings(args, &settings))
        return SONDE__EXIT_USAGE;
    sonde_capture_options capture = *sonde_settings_capture(settings);
    capture.level = SONDE_LEVEL_REGULAR;
    sonde__supervise_options options = {0};
    int code = SONDE__EXIT_USAGE;
    if (take_options(args, &capture, &options)) {
        static sonde__run_report report;
        sonde__supervise(&options, &report);
        code = report.exit_code;
        if (report.error[0])
            sonde__command_error(args->command, "%s", report.error);
        if (report.launch_error)
            sonde__command_error(args->command, "%s: %s", options.argv[0],
                                 strerror(report.launch_error));
        if (!report.error[0] && !report.launch_error && !sonde__args_has(args, "--quiet"))
            tell(&report, sonde__args_has(args, "--json"));
    }
    sonde_settings_free(settings);
    return code;
}

static const sonde__option run_options[] = {
    {"--session", "NAME", "name of the session (default: session_YYYY-MM-DD_HH-MM-SS)"},
    {"--dir", "DIR", "where its files go (default: $SONDE_DIR, else telemetry)"},
    {"--sample", "TIME", "how often to look at the processes and the machine (default: 1s)"},
    {"--types", "LIST",
     "what of the machine: cpu,mem,gpu,... (default: settings, and energy and gpu)"},
    {"--no-host", NULL, "do not sample the machine, only the command's processes"},
    {"--no-cgroup", NULL, "do not make a control group for the command"},
    {"--quiet", NULL, "no summary on stderr"},
    {"--json", NULL, "the summary on stderr as JSON"},
    {"--settings", "FILE", "settings to use instead of those found"},
    {NULL, NULL, NULL},
};

static const sonde__example run_examples[] = {
    {"run -- python3 train.py", "run a program as it is, and print what it used"},
    {"run --session nightly --sample 250ms -- make -j8", "a name, and four samples a second"},
    {"run --quiet -- sh -c 'seq 1000 | sort -n | tail -n 1'", "a pipeline, without a summary"},
    {NULL, NULL},
};

const sonde__command sonde__command_run = {
    .name = "run",
    .operands = "-- COMMAND [ARGUMENTS]",
    .summary = "run any program and record what it does and uses",
    .about =
        "Runs COMMAND with its input, output and terminal untouched, and records it: all "
        "processes\n"
        "it starts, also those that become daemons, the machine, and the tasks of programs that "
        "use\n"
        "libsonde, which join the session by themselves. Files: DIR/NAME.sonde (everything),\n"
        "NAME.csv (one row per task), NAME.json (the summary, refreshed while it runs). When "
        "COMMAND\n"
        "ends, a summary goes to stderr; what it left running is listed and not waited for.\n"
        "\n"
        "Keys on the terminal reach COMMAND as without sonde; other signals are passed on to it.\n"
        "Exit code: that of COMMAND; 128 + N when signal N killed it; 127 when there is no such\n"
        "command, 126 when it cannot be executed; 125 when the session cannot be recorded "
        "(COMMAND\n"
        "is then not started); 2 for a wrong command line.",
    .options = run_options,
    .examples = run_examples,
    .takes_command = true,
    .run = run_run,
};
