/* SPDX-License-Identifier: Apache-2.0 */
/* sonde capture: telemetry now, once or at an interval. */
#include "base/clock.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/machine_table.h"
#include "cli/output.h"
#include "cli/settings_arg.h"
#include "cli/telemetry_table.h"
#include "cli/units.h"
#include "sonde/capture.h"
#include "sonde/machine.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Percentages need two readings; a single capture waits this long for the second. */
#define FIRST_WINDOW_NS 100000000u

typedef struct capture_plan {
    sonde_capture_options options;
    uint64_t interval_ns; /* 0: once */
    long count;           /* 0: until interrupted */
    bool table;
} capture_plan;

static bool complain_type(const sonde__args *args, const char *bad, size_t len)
{
    sonde__nearest near;
    sonde__nearest_init(&near, bad, len);
#define OFFER(name, bit, setting, section)                 \
    sonde__nearest_offer(&near, section, strlen(section)); \
    sonde__nearest_offer(&near, setting, strlen(setting));
    SONDE_CAPTURE_TYPE_MAP(OFFER)
#undef OFFER
#define LIST(name, bit, setting, section) " " setting
    static const char known[] = SONDE_CAPTURE_TYPE_MAP(LIST);
#undef LIST
    if (near.best)
        sonde__command_error(args->command, "--types: unknown type \"%.*s\"; did you mean \"%s\"?",
                             (int)len, bad, near.best);
    else
        sonde__command_error(args->command, "--types: unknown type \"%.*s\"; known are:%s",
                             (int)len, bad, known);
    return false;
}

static bool take_what(const sonde__args *args, sonde_capture_options *options)
{
    const char *types = sonde__args_get(args, "--types");
    const char *level = sonde__args_get(args, "--level");
    const char *pid = sonde__args_get(args, "--pid");
    const char *bad;
    size_t bad_len;
    if (types && sonde_capture_types_parse(types, &options->types, &bad, &bad_len) != SONDE_OK)
        return complain_type(args, bad, bad_len);
    if (level && sonde_level_parse(level, &options->level) != SONDE_OK) {
        sonde__command_error(args->command, "--level: \"%s\" is not light, regular or full", level);
        return false;
    }
    long number;
    if (pid && !sonde__parse_count(pid, 1, INT_MAX, &number)) {
        sonde__command_error(args->command, "--pid: \"%s\" is not a process id", pid);
        return false;
    }
    if (pid)
        options->pid = (int)number;
    if (sonde__args_has(args, "--idle-disks"))
        options->idle_disks = 1;
    return true;
}

static bool take_when(const sonde__args *args, capture_plan *plan)
{
    const char *interval = sonde__args_get(args, "--interval");
    const char *count = sonde__args_get(args, "--count");
    if (interval && !sonde__parse_duration(interval, &plan->interval_ns)) {
        sonde__command_error(args->command, "--interval: \"%s\" is not a duration like 1s or 250ms",
                             interval);
        return false;
    }
    plan->count = interval ? 0 : 1;
    if (count && !sonde__parse_count(count, 1, INT_MAX, &plan->count)) {
        sonde__command_error(args->command, "--count: \"%s\" is not a number from 1", count);
        return false;
    }
    if (count && !interval)
        plan->interval_ns = 1000000000u;
    return true;
}

static void sleep_until(uint64_t deadline_ns)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                             .tv_nsec = (long)(deadline_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static bool show(sonde_capture *capture, const sonde_telemetry *now, bool table)
{
    sonde__buf out;
    sonde__buf_init(&out, SONDE__OUTPUT_MAX);
    if (table) {
        sonde__telemetry_table(now, &out);
    } else {
        const char *text;
        size_t len;
        if (sonde_capture_json(capture, &text, &len) == SONDE_OK)
            sonde__buf_append(&out, text, len);
        sonde__buf_char(&out, '\n');
    }
    bool ok = sonde__output_write(out.data, out.len);
    sonde__buf_free(&out);
    return ok;
}

/* Readings at fixed times, so that what a reading costs does not add up. */
static int capture_all(const sonde__args *args, sonde_capture *capture, const capture_plan *plan)
{
    uint64_t due_ns = sonde__clock_monotonic_ns() + FIRST_WINDOW_NS;
    for (long taken = 0; plan->count == 0 || taken < plan->count; taken++) {
        sleep_until(due_ns);
        due_ns += plan->interval_ns;
        const sonde_telemetry *now;
        sonde_status status = sonde_capture_read(capture, &now);
        if (status != SONDE_OK) {
            sonde__command_error(args->command, "process %d: %s", plan->options.pid,
                                 sonde_status_text(status));
            return SONDE__EXIT_FAILED;
        }
        if (!show(capture, now, plan->table))
            return SONDE__EXIT_FAILED;
    }
    return SONDE__EXIT_OK;
}

/* The names that the settings give, or those of --environment. */
static bool take_environment(const sonde__args *args, const sonde_settings *settings,
                             sonde_environment *out)
{
    static const char *const names[] = {
#define NAME(name, key) key,
        SONDE_ENVIRONMENT_MAP(NAME)
#undef NAME
    };
    const char *wanted = sonde__args_get(args, "--environment");
    if (!wanted &&
        sonde_settings_text(settings, "telemetry_capture.environment", &wanted) != SONDE_OK)
        return true;
    for (unsigned i = 0; i < SONDE_ENVIRONMENT_COUNT; i++) {
        if (strcmp(names[i], wanted) != 0)
            continue;
        *out = (sonde_environment)i;
        return true;
    }
    sonde__command_error(args->command, "--environment: \"%s\" is not listed, all or none", wanted);
    return false;
}

static int describe_machine(const sonde__args *args, const sonde_settings *settings, bool table)
{
    const sonde_capture_options *capture = sonde_settings_capture(settings);
    sonde_machine_options options = SONDE_MACHINE_OPTIONS_DEFAULT;
    char *text;
    size_t len;
    if (!take_environment(args, settings, &options.environment))
        return SONDE__EXIT_USAGE;
    options.gpus = (capture->types & SONDE_CAPTURE_GPU) != 0;
    options.gpu = capture->gpu;
    sonde_status status = sonde_machine_json(&options, &text, &len);
    if (status != SONDE_OK) {
        sonde__command_error(args->command, "%s", sonde_status_text(status));
        return SONDE__EXIT_FAILED;
    }
    sonde__buf out;
    sonde__buf_init(&out, SONDE__OUTPUT_MAX);
    if (!table || !sonde__machine_table(text, len, &out)) {
        sonde__buf_clear(&out);
        sonde__buf_append(&out, text, len);
        sonde__buf_char(&out, '\n');
    }
    bool ok = sonde__output_write(out.data, out.len);
    sonde__buf_free(&out);
    free(text);
    return ok ? SONDE__EXIT_OK : SONDE__EXIT_FAILED;
}

static int capture_run(const sonde__args *args)
{
    sonde_settings *settings;
    if (!sonde__load_settings(args, &settings))
        return SONDE__EXIT_USAGE;
    capture_plan plan = {.options = *sonde_settings_capture(settings)};
    plan.table = !sonde__args_has(args, "--json") &&
                 (sonde__args_has(args, "--table") || sonde__output_is_terminal());
    int code = SONDE__EXIT_USAGE;
    if (sonde__args_has(args, "--machine")) {
        code = describe_machine(args, settings, plan.table);
    } else if (take_what(args, &plan.options) && take_when(args, &plan)) {
        sonde_capture *capture;
        sonde_status status = sonde_capture_open(&plan.options, &capture);
        if (status == SONDE_EGONE) {
            sonde__command_error(args->command, "--pid: there is no process %d", plan.options.pid);
            code = SONDE__EXIT_FAILED;
        } else if (status != SONDE_OK) {
            sonde__command_error(args->command, "%s", sonde_status_text(status));
            code = SONDE__EXIT_FAILED;
        } else {
            code = capture_all(args, capture, &plan);
            sonde_capture_close(capture);
        }
    }
    sonde_settings_free(settings);
    return code;
}

static const sonde__option capture_options[] = {
    {"--types", "LIST", "what to read: cpu,per_cpu,process_info,mem,disk,network (see below)"},
    {"--level", "LEVEL", "how much: light, regular or full (default)"},
    {"--pid", "N", "the process to look at (default: sonde itself)"},
    {"--interval", "TIME", "repeat: 1s, 250ms, 2m"},
    {"--count", "N", "stop after N readings (default: 1, or no end with --interval)"},
    {"--idle-disks", NULL, "list idle loop, ram and zram devices too"},
    {"--machine", NULL, "describe the machine instead: CPU, addresses, environment, rank"},
    {"--environment", "WHICH",
     "with --machine, values of variables: listed (default), all or none"},
    {"--table", NULL, "a table even when the output is no terminal"},
    {"--json", NULL, "JSON even on a terminal; JSON Lines when repeated"},
    {"--settings", "FILE", "settings to use instead of those found"},
    {NULL, NULL, NULL},
};

static const sonde__example capture_examples[] = {
    {"capture", "this machine now, as a table on a terminal and as JSON otherwise"},
    {"capture --types cpu,mem --interval 1s --count 3", "three readings of CPU and memory"},
    {"capture --pid 1 --types process --json", "one process as JSON"},
    {"capture --types cgroup,tree", "limits of this container, and the whole process tree"},
    {"capture --machine --json", "what Flowcept stores of the machine with each workflow"},
    {NULL, NULL},
};

const sonde__command sonde__command_capture = {
    .name = "capture",
    .operands = "",
    .summary = "read telemetry of this machine and of a process",
    .about =
        "Reads CPU, memory, disk, network and process telemetry from the kernel and prints it: a\n"
        "table on a terminal, JSON otherwise. Percentages are over the time since the previous\n"
        "reading; the first one is taken 0.1 s after the start. Types and level not given come\n"
        "from the settings file. Further types, off unless asked for: gpu, cgroup, pressure,\n"
        "energy, load, thermal, tree.",
    .options = capture_options,
    .examples = capture_examples,
    .run = capture_run,
};
