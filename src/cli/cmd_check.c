/* SPDX-License-Identifier: Apache-2.0 */
/* sonde check: validates a settings file. */
#include "base/json_write.h"
#include "base/mask.h"
#include "cli/command.h"
#include "cli/output.h"
#include "sonde/processor.h"
#include "sonde/settings.h"

#include <stdio.h>
#include <stdlib.h>

static void report_json(const sonde_settings *settings, const char *error)
{
    sonde__buf out;
    sonde__json json;
    sonde__buf_init(&out, SONDE__OUTPUT_MAX);
    sonde__json_init(&json, &out);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "valid");
    sonde__json_bool(&json, error == NULL);
    if (error) {
        sonde__buf shown;
        sonde__buf_init(&shown, SONDE__OUTPUT_MAX);
        sonde__mask_text(error, strlen(error), &shown);
        sonde__json_key(&json, "error");
        sonde__json_string_n(&json, shown.data ? shown.data : "", shown.len);
        sonde__buf_free(&shown);
    } else {
        const char *path = sonde_settings_path(settings), *name;
        sonde__json_key(&json, "file");
        path ? sonde__json_string(&json, path) : sonde__json_null(&json);
        sonde__json_key(&json, "ignored");
        sonde__json_begin_array(&json);
        for (size_t i = 0; (name = sonde_settings_ignored(settings, i)) != NULL; i++)
            sonde__json_string(&json, name);
        sonde__json_end_array(&json);
    }
    sonde__json_end_object(&json);
    sonde__buf_char(&out, '\n');
    sonde__output_write(out.data, out.len);
    sonde__buf_free(&out);
}

static void report_text(const sonde_settings *settings)
{
    const char *path = sonde_settings_path(settings), *name;
    if (path)
        printf("%s: ok\n", path);
    else
        printf("no settings file found; the defaults hold (sonde check --print shows them)\n");
    for (size_t i = 0; (name = sonde_settings_ignored(settings, i)) != NULL; i++)
        printf("%s: %s belongs to Flowcept; Sonde does not use it\n", path, name);
}

/* What each key allows by itself may still make no sense together: the table of usage records. */
static bool makes_sense(const sonde_settings *settings, sonde_settings_error *error)
{
    sonde_attributes *table;
    sonde_processor *processor;
    sonde_attributes_error reason = {"out of memory"};
    if (sonde_processor_from_settings(settings, 0, &table, &processor, &reason) == SONDE_OK) {
        sonde_processor_destroy(processor);
        sonde_attributes_destroy(table);
        return true;
    }
    snprintf(error->text, sizeof error->text, "%s", reason.text);
    return false;
}

static int refuse(const sonde_settings_error *error, bool as_json)
{
    if (as_json)
        report_json(NULL, error->text);
    else
        sonde__print_masked(error->text);
    return SONDE__EXIT_USAGE;
}

static int check_run(const sonde__args *args)
{
    sonde_settings *settings;
    sonde_settings_error error;
    const char *path = args->operands > 0 ? args->operand[0] : NULL;
    bool as_json = sonde__args_has(args, "--json");
    if (sonde_settings_load(path, &settings, &error) != SONDE_OK)
        return refuse(&error, as_json);
    if (!makes_sense(settings, &error)) {
        sonde_settings_free(settings);
        return refuse(&error, as_json);
    }
    char *yaml = NULL;
    if (as_json)
        report_json(settings, NULL);
    else if (!sonde__args_has(args, "--print"))
        report_text(settings);
    else if (sonde_settings_to_yaml(settings, &yaml) == SONDE_OK)
        fputs(yaml, stdout);
    free(yaml);
    sonde_settings_free(settings);
    return SONDE__EXIT_OK;
}

static const sonde__option check_options[] = {
    {"--print", NULL, "print the effective settings, with a comment for each key"},
    {"--json", NULL, "the outcome as JSON"},
    {NULL, NULL, NULL},
};

static const sonde__example check_examples[] = {
    {"check settings.yaml", "ok, or the first mistake as file:line:column; exit code 2"},
    {"check --print > settings.yaml", "a settings file with every key, to start from"},
    {NULL, NULL},
};

const sonde__command sonde__command_check = {
    .name = "check",
    .operands = "[FILE]",
    .summary = "validate a settings file",
    .about = "Validates FILE, or the settings that would be used without one: $SONDE_SETTINGS,\n"
             "./settings.yaml, ~/.config/sonde/settings.yaml, the defaults.",
    .options = check_options,
    .examples = check_examples,
    .operands_max = 1,
    .run = check_run,
};
