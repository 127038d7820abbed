/* SPDX-License-Identifier: Apache-2.0 */
/* sonde analyze: what happened in a session. */
#include "analysis/analysis.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/units.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_DEFAULT = 5 };

static bool take_by(const sonde__args *args, sonde__tally_by *by)
{
    const char *text = sonde__args_get(args, "--by");
    *by = SONDE__BY_ACTIVITY;
    if (!text)
        return true;
    for (int i = 0; i < SONDE__BY_COUNT; i++) {
        if (strcmp(text, sonde__tally_by_name((sonde__tally_by)i)) == 0) {
            *by = (sonde__tally_by)i;
            return true;
        }
    }
    sonde__command_error(args->command,
                         "--by: \"%s\" is none of activity, worker, layer and device", text);
    return false;
}

static bool take_style(const sonde__args *args, sonde__analysis_style *style)
{
    const char *top = sonde__args_get(args, "--top");
    long number = TOP_DEFAULT;
    if (top && !sonde__parse_count(top, 1, SONDE__ANALYSIS_TOP_MAX, &number)) {
        sonde__command_error(args->command, "--top: \"%s\" is not a number from 1 to %d", top,
                             SONDE__ANALYSIS_TOP_MAX);
        return false;
    }
    style->top = (size_t)number;
    setlocale(LC_CTYPE, "");
    style->unicode = sonde__output_is_terminal() && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    return take_by(args, &style->by);
}

/* The file that was named, or the newest session. */
static bool find_file(const sonde__args *args, char *out, size_t size)
{
    if (args->operands > 0) {
        snprintf(out, size, "%s", args->operand[0]);
        return true;
    }
    const char *dir = sonde__args_get(args, "--dir");
    if (!dir)
        dir = getenv("SONDE_DIR");
    if (!dir || !*dir)
        dir = "telemetry";
    sonde_status status = sonde__session_newest(dir, out, size);
    if (status == SONDE_EABSENT)
        sonde__command_error(args->command,
                             "no session in %s/; record one with: sonde run -- COMMAND", dir);
    else if (status != SONDE_OK)
        sonde__command_error(args->command, "%s: %s", dir, sonde_status_text(status));
    return status == SONDE_OK;
}

static bool show(const sonde__args *args, const sonde__analysis *analysis,
                 const sonde__analysis_style *style)
{
    sonde__buf out;
    sonde__buf_init(&out, SONDE__OUTPUT_MAX);
    if (sonde__args_has(args, "--json"))
        sonde__analysis_json(analysis, &out);
    else
        sonde__analysis_text(analysis, style, &out);
    bool ok = out.status == SONDE_OK;
    if (!ok)
        sonde__command_error(args->command, "%s", sonde_status_text(out.status));
    ok = sonde__output_write(out.data, out.len) && ok;
    sonde__buf_free(&out);
    return ok;
}

static int analyze_run(const sonde__args *args)
{
    sonde__analysis_style style;
    char path[PATH_MAX];
    if (!take_style(args, &style))
        return SONDE__EXIT_USAGE;
    if (!find_file(args, path, sizeof path))
        return SONDE__EXIT_FAILED;
    static sonde__analysis analysis;
    sonde_status status = sonde__analyze(path, style.top, &analysis);
    bool ok = status == SONDE_OK;
    if (!ok)
        sonde__command_error(args->command, "%s", analysis.error);
    if (ok || analysis.tally.packets > 0)
        ok = show(args, &analysis, &style) && ok;
    bool wrote = false;
    if (ok && !sonde__args_has(args, "--no-write"))
        (void)sonde__analysis_rebuild(&analysis, &wrote); /* a folder may be read-only */
    if (wrote)
        sonde__command_error(args->command, "%s summary %s",
                             analysis.have_json ? "finished the" : "wrote the missing",
                             analysis.json_path);
    sonde__analysis_free(&analysis);
    return ok ? SONDE__EXIT_OK : SONDE__EXIT_FAILED;
}

static const sonde__option analyze_options[] = {
    {"--top", "N", "how many of the slowest operations (default: 5)"},
    {"--by", "WHAT", "percentiles by activity (default), worker, layer or device"},
    {"--dir", "DIR", "where sessions are (default: $SONDE_DIR, else telemetry)"},
    {"--no-write", NULL, "do not write a summary that is missing"},
    {"--json", NULL, "everything as one JSON object"},
    {NULL, NULL, NULL},
};

static const sonde__example analyze_examples[] = {
    {"analyze", "the newest session in telemetry/"},
    {"analyze telemetry/train.sonde --by layer --top 20",
     "a session by name, percentiles by layer"},
    {"analyze --json | jq .slowest", "for programs"},
    {"analyze log.csv", "any CSV log with those columns, whoever wrote it"},
    {NULL, NULL},
};

const sonde__command sonde__command_analyze = {
    .name = "analyze",
    .operands = "[FILE]",
    .summary = "what happened in a session: totals, percentiles, slowest, failed",
    .about =
        "Reads a session once, from its journal (.sonde) or from a CSV log of the same columns,\n"
        "and prints totals, the time per worker and layer, the slowest and the failed operations,\n"
        "the session's summary, percentiles, how busy each device was, and what the recording\n"
        "itself lost or cost. Without FILE: the newest session. A summary (.json) that is "
        "missing,\n"
        "or was left unfinished by a process that died, is written.",
    .options = analyze_options,
    .examples = analyze_examples,
    .operands_max = 1,
    .run = analyze_run,
};
