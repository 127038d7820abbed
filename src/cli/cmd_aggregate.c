/* SPDX-License-Identifier: Apache-2.0 */
/* sonde aggregate: usage metrics from records. */
#include "base/clock.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/record_input.h"
#include "cli/settings_arg.h"
#include "cli/usage_output.h"
#include "sonde/processor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe may never end: what came through it is committed this often, and progress shown. */
#define COMMIT_INTERVAL_NS   1000000000u
#define PROGRESS_INTERVAL_NS 250000000u
#define PROGRESS_AFTER_NS    1000000000u

typedef struct aggregation {
    const sonde__args *args;
    sonde_settings *settings;
    sonde_attributes *attributes;
    sonde_processor *processor;
    sonde_usage_file *file; /* NULL: no --state */
    sonde_usage *usage;     /* where records go */
    sonde_build_context context;
    sonde__usage_format format;
    bool compat;
    bool strict;
    bool streaming;   /* the input is no regular file: commit as time goes by */
    const char *name; /* of the input, for messages */
    uint64_t counted;
    uint64_t refused;
    bool failed; /* something beyond a record */
    uint64_t started_ns;
    uint64_t committed_ns;
    uint64_t shown_ns; /* 0: no progress on the terminal yet */
    uint64_t bytes;
} aggregation;

static void hide_progress(aggregation *work)
{
    if (work->shown_ns)
        fputs("\r\033[K", stderr);
    work->shown_ns = 0;
}

static void show_progress(aggregation *work, uint64_t now_ns)
{
    bool due = now_ns - work->started_ns > PROGRESS_AFTER_NS &&
               now_ns - work->shown_ns > PROGRESS_INTERVAL_NS;
    if (!due || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K%.1f MB read, %llu records counted, %llu refused",
            (double)work->bytes / 1e6, (unsigned long long)work->counted,
            (unsigned long long)work->refused);
    fflush(stderr);
    work->shown_ns = now_ns;
}

static bool commit(aggregation *work)
{
    sonde_status status = work->file ? sonde_usage_file_commit(work->file) : SONDE_OK;
    if (status == SONDE_OK)
        return true;
    hide_progress(work);
    sonde__command_error(work->args->command, "%s: cannot be written: %s",
                         sonde__args_get(work->args, "--state"), sonde_status_text(status));
    work->failed = true;
    return false;
}

static bool report(void *user, size_t line, const char *reason)
{
    aggregation *work = user;
    hide_progress(work);
    sonde__command_error(work->args->command, "%s:%zu: %s", work->name, line, reason);
    work->refused++;
    return !work->strict;
}

static bool take_record(void *user, const char *text, size_t len, size_t line)
{
    aggregation *work = user;
    sonde_attributes_error error = {"out of memory"};
    sonde_status status = sonde_processor_process_json(work->processor, work->usage, text, len,
                                                       &work->context, &error);
    if (status != SONDE_OK)
        return report(user, line, error.text);
    work->counted++;
    return true;
}

static void take_progress(void *user, uint64_t bytes)
{
    aggregation *work = user;
    uint64_t now_ns = sonde__clock_monotonic_ns();
    work->bytes = bytes;
    show_progress(work, now_ns);
    if (work->streaming && !work->strict && now_ns - work->committed_ns > COMMIT_INTERVAL_NS) {
        commit(work);
        work->committed_ns = now_ns;
    }
}

/* Whether a file is a session that Sonde recorded: it begins with a frame of the journal. */
static bool is_session(int fd)
{
    char magic[4];
    return pread(fd, magic, sizeof magic, 0) == sizeof magic && memcmp(magic, "SNDF", 4) == 0;
}

/* Counts the finished workflows of a session, if the settings want that. */
static void take_session(aggregation *work, const char *path)
{
    int enabled = 0;
    size_t counted = 0;
    sonde_attributes_error error = {"out of memory"};
    sonde_settings_bool(work->settings, "attributes.enabled", &enabled);
    if (!enabled) {
        sonde__command_error(work->args->command,
                             "%s: a session; its workflows are counted with attributes: {enabled: "
                             "true} in the settings",
                             path);
        work->failed = true;
        return;
    }
    sonde_status status = sonde_processor_process_session(work->processor, work->usage, path,
                                                          &work->context, &counted, &error);
    work->counted += counted;
    if (status != SONDE_OK) {
        sonde__command_error(work->args->command, "%s: %s", path, error.text);
        work->refused++;
    }
}

/* Counts the records of one file. False: stop. */
static bool take_file(aggregation *work, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    sonde_status status = SONDE_OK;
    struct stat info;
    work->name = standard ? "stdin" : path;
    if (fd < 0 || fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
        sonde__command_error(work->args->command, "%s: %s", path,
                             strerror(fd < 0 ? errno : EISDIR));
        work->failed = true;
    } else if (is_session(fd)) {
        take_session(work, path);
    } else {
        const sonde__record_sink sink = {work, take_record, report, take_progress};
        work->streaming = !S_ISREG(info.st_mode);
        status = sonde__records_read(fd, &sink);
    }
    hide_progress(work);
    if (status != SONDE_OK) {
        sonde__command_error(work->args->command, "%s: %s", work->name, sonde_status_text(status));
        work->failed = true;
    }
    if (fd >= 0 && !standard)
        close(fd);
    return !work->failed && !(work->strict && work->refused > 0);
}

static bool complain_builder(const aggregation *work, const char *bad, size_t len)
{
    sonde__nearest near;
    const sonde_builder *builder;
    sonde__nearest_init(&near, bad, len);
    for (size_t i = 0; (builder = sonde_builder_get(i)) != NULL; i++)
        sonde__nearest_offer(&near, builder->name, strlen(builder->name));
    sonde__command_error(work->args->command, "--builders: unknown builder \"%.*s\"; %s%s%s",
                         (int)len, bad, near.best ? "did you mean \"" : "known are: ",
                         near.best ? near.best : "legacy comprehensive time labeled",
                         near.best ? "\"?" : "");
    return false;
}

typedef struct builder_list {
    const sonde_builder *builders[SONDE_BUILDERS_MAX + 1];
    size_t count;
} builder_list;

static bool add_named(const aggregation *work, builder_list *list, const char *name, size_t len)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    const sonde_builder *builder = sonde_builder_named(text);
    if (!builder || list->count == SONDE_BUILDERS_MAX)
        return complain_builder(work, name, len);
    list->builders[list->count++] = builder;
    return true;
}

/* What --builders says, else the settings, else the default three; for Prometheus the labeled ones
   too, since that is what it reads. */
static bool choose_builders(const aggregation *work, builder_list *list)
{
    const char *given = sonde__args_get(work->args, "--builders");
    const char *name;
    for (; given; given = *given ? given + 1 : NULL) {
        size_t len = strcspn(given, ",");
        if (!add_named(work, list, given, len))
            return false;
        given += len;
    }
    if (list->count > 0)
        return true;
    for (size_t i = 0;
         sonde_settings_list(work->settings, "attributes.builders", i, &name) == SONDE_OK; i++)
        add_named(work, list, name, strlen(name));
    if (list->count > 0)
        return true;
    for (size_t i = 0; i < 3; i++)
        list->builders[list->count++] = sonde_builder_get(i);
    if (work->format == SONDE__USAGE_PROMETHEUS)
        list->builders[list->count++] = sonde_builder_named("labeled");
    return true;
}

static bool make_processor(aggregation *work)
{
    sonde_attributes_error error = {"out of memory"};
    builder_list list = {{NULL}, 0};
    if (sonde_attributes_from_settings(work->settings, work->compat ? SONDE_ATTRIBUTES_COMPAT : 0,
                                       &work->attributes, &error) != SONDE_OK) {
        sonde__command_error(work->args->command, "%s", error.text);
        return false;
    }
    if (!choose_builders(work, &list))
        return false;
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    options.attributes = work->attributes;
    options.builders = list.builders;
    if (sonde_processor_create(&options, &work->processor, &error) != SONDE_OK) {
        sonde__command_error(work->args->command, "%s", error.text);
        return false;
    }
    return true;
}

static bool take_options(aggregation *work)
{
    const sonde__args *args = work->args;
    const char *to = sonde__args_get(args, "--to");
    const char *now = sonde__args_get(args, "--now");
    const char *text;
    work->strict = sonde__args_has(args, "--strict");
    work->compat = sonde__args_has(args, "--compat") ||
                   sonde_settings_text(work->settings, "attributes.compat", &text) == SONDE_OK;
    work->format = sonde__output_is_terminal() ? SONDE__USAGE_TABLE : SONDE__USAGE_JSON;
    if (to && !sonde__usage_format_parse(to, &work->format)) {
        sonde__command_error(args->command, "--to: \"%s\" is not json, prometheus or table", to);
        return false;
    }
    if (now && sonde_datetime_parse(now, strlen(now), &work->context.now) != SONDE_OK) {
        sonde__command_error(args->command, "--now: \"%s\" is not a time like 2025-03-15T12:34:56",
                             now);
        return false;
    }
    bool import = sonde__args_has(args, "--import");
    if (!import && (sonde__args_has(args, "--replace") || sonde__args_has(args, "--dry-run"))) {
        sonde__command_error(args->command, "--replace and --dry-run go with --import FILE");
        return false;
    }
    if (sonde__args_has(args, "--dry-run") && args->operands > 0) {
        sonde__command_error(args->command, "--dry-run counts no records; leave out the files");
        return false;
    }
    return true;
}

static bool open_usage(aggregation *work)
{
    const char *path = sonde__args_get(work->args, "--state");
    long limit = SONDE_USAGE_METRICS_MAX;
    sonde_settings_int(work->settings, "attributes.max_metrics", &limit);
    sonde_status status = path ? sonde_usage_file_open(path, (size_t)limit, &work->file)
                               : sonde_usage_create((size_t)limit, &work->usage);
    if (status != SONDE_OK) {
        const char *why = status == SONDE_EBADDATA       ? "this is not a file of usage metrics"
                          : status == SONDE_EUNSUPPORTED ? "not on a local file system"
                                                         : sonde_status_text(status);
        sonde__command_error(work->args->command, "%s: %s", path ? path : "metrics", why);
        return false;
    }
    if (work->file)
        work->usage = sonde_usage_file_pending(work->file);
    return true;
}

/* The text of a file; NULL after a line on stderr. */
static char *read_document(const aggregation *work, const char *path, size_t *len)
{
    sonde__buf text;
    sonde__buf_init(&text, SIZE_MAX / 2);
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    size_t got = file ? 1 : 0;
    while (got > 0 && sonde__buf_reserve(&text, 65536)) {
        got = fread(text.data + text.len, 1, 65536, file);
        text.len += got;
    }
    bool good = file && !ferror(file) && text.status == SONDE_OK;
    if (!good)
        sonde__command_error(work->args->command, "%s: %s", path, strerror(errno));
    if (file && file != stdin)
        fclose(file);
    if (!good)
        sonde__buf_free(&text);
    *len = text.len;
    return good ? text.data : NULL;
}

static bool import_document(aggregation *work, const char *path)
{
    bool replace = sonde__args_has(work->args, "--replace");
    bool dry_run = sonde__args_has(work->args, "--dry-run");
    unsigned flags = (replace ? SONDE_IMPORT_REPLACE : 0) | (dry_run ? SONDE_IMPORT_DRY_RUN : 0);
    size_t len = 0;
    char *text = read_document(work, path, &len);
    if (!text)
        return false;
    sonde_usage_import did;
    sonde_attributes_error error = {""};
    sonde_status status =
        work->file ? sonde_usage_file_import(work->file, text, len, flags, &did, &error)
                   : sonde_usage_import_json(work->usage, text, len, flags, &did, &error);
    free(text);
    if (status != SONDE_OK) {
        sonde__command_error(work->args->command, "%s: %s", path,
                             error.text[0] ? error.text : sonde_status_text(status));
        return false;
    }
    if (dry_run)
        printf("%s: would add %zu metrics, change %zu, leave %zu the same, remove %zu\n", path,
               did.added, did.changed, did.same, did.removed);
    return true;
}

static bool print_result(aggregation *work)
{
    const sonde_usage *result = work->usage;
    if (work->file && sonde_usage_file_refresh(work->file, &result) != SONDE_OK) {
        sonde__command_error(work->args->command, "%s: cannot be read",
                             sonde__args_get(work->args, "--state"));
        return false;
    }
    return sonde__usage_print(result, work->format, work->compat);
}

/* Without files: stdin, unless there is something else to show. */
static void take_input(aggregation *work)
{
    const sonde__args *args = work->args;
    bool more = true;
    for (size_t i = 0; more && i < args->operands; i++)
        more = take_file(work, args->operand[i]);
    bool nothing_else = !work->file && !sonde__args_has(args, "--import");
    if (args->operands == 0 && nothing_else)
        take_file(work, "-");
}

static int run_aggregation(aggregation *work)
{
    const char *import = sonde__args_get(work->args, "--import");
    if (!take_options(work) || !make_processor(work))
        return SONDE__EXIT_USAGE;
    if (!open_usage(work) || (import && !import_document(work, import)))
        return SONDE__EXIT_FAILED;
    if (sonde__args_has(work->args, "--dry-run"))
        return SONDE__EXIT_OK;
    work->started_ns = work->committed_ns = sonde__clock_monotonic_ns();
    take_input(work);
    if (work->strict && work->refused > 0) {
        sonde__command_error(work->args->command, "stopped; nothing of this was counted");
        return SONDE__EXIT_FAILED;
    }
    /* half of the input is not added to a file: it would be counted again with the whole */
    if (work->failed || !commit(work) || !print_result(work))
        return SONDE__EXIT_FAILED;
    if (work->refused > 0)
        sonde__command_error(work->args->command, "%llu records counted, %llu refused",
                             (unsigned long long)work->counted, (unsigned long long)work->refused);
    return work->refused > 0 ? SONDE__EXIT_FAILED : SONDE__EXIT_OK;
}

static int aggregate_run(const sonde__args *args)
{
    aggregation work = {.args = args};
    if (!sonde__load_settings(args, &work.settings))
        return SONDE__EXIT_USAGE;
    int code = run_aggregation(&work);
    if (work.file)
        sonde_usage_file_close(work.file);
    else
        sonde_usage_destroy(work.usage);
    sonde_processor_destroy(work.processor);
    sonde_attributes_destroy(work.attributes);
    sonde_settings_free(work.settings);
    return code;
}

static const sonde__option aggregate_options[] = {
    {"--builders", "LIST", "kinds of metrics: legacy,comprehensive,time,labeled"},
    {"--to", "FORMAT", "json, prometheus or table (default: table on a terminal, else json)"},
    {"--state", "FILE", "add to the metrics kept in FILE, and show them all"},
    {"--now", "TIME", "the time to count at, like 2025-03-15T12:34:56 (default: the clock)"},
    {"--strict", NULL, "stop at the first bad record and count nothing"},
    {"--compat", NULL, "results and names as TAO's own code has them"},
    {"--import", "FILE", "take metrics from a JSON document, as --to json writes it"},
    {"--replace", NULL, "with --import: metrics that the document does not have go"},
    {"--dry-run", NULL, "with --import: only say what would change"},
    {"--settings", "FILE", "settings to use instead of those found"},
    {NULL, NULL, NULL},
};

static const sonde__example aggregate_examples[] = {
    {"aggregate jobs.jsonl", "count the records of a file"},
    {"aggregate --state usage.sonde-usage --to prometheus jobs.jsonl",
     "add them to what was counted before, for Prometheus' text file collector"},
    {"aggregate --state usage.sonde-usage --import old.json --dry-run",
     "what taking over metrics from elsewhere would change"},
    {NULL, NULL},
};

const sonde__command sonde__command_aggregate = {
    .name = "aggregate",
    .operands = "[FILE...|-]",
    .summary = "usage metrics from records of jobs",
    .about =
        "Counts records (JSON Lines or a JSON array; - is stdin; or the finished workflows of\n"
        "a session, NAME.sonde, where attributes.enabled is true) into usage metrics, by the\n"
        "attributes in the settings file. A bad record is reported with its line and reason,\n"
        "and the others are counted; the exit code is then 1. With --state the metrics are\n"
        "kept in a file, to which several processes may add at the same time: a file is\n"
        "added as a whole at its end, a pipe every second.",
    .options = aggregate_options,
    .examples = aggregate_examples,
    .operands_max = SONDE__POSITIONALS_MAX,
    .run = aggregate_run,
};
