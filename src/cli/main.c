/* SPDX-License-Identifier: Apache-2.0 */
/* sonde COMMAND ...: finds the command, parses its arguments, runs it. */
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/output.h"

#include <stdio.h>
#include <string.h>

extern const sonde__command sonde__command_analyze;
extern const sonde__command sonde__command_capture;
extern const sonde__command sonde__command_doctor;
extern const sonde__command sonde__command_check;
extern const sonde__command sonde__command_aggregate;
extern const sonde__command sonde__command_run;
extern const sonde__command sonde__command_serve;
extern const sonde__command sonde__command_dump;
extern const sonde__command sonde__command_export;
extern const sonde__command sonde__command_recover;
extern const sonde__command sonde__command_version;
extern const sonde__command sonde__command_help;

const sonde__command *const sonde__commands[] = {
    &sonde__command_run,
    &sonde__command_serve,
    &sonde__command_analyze,
    &sonde__command_capture,
    &sonde__command_doctor,
    &sonde__command_check,
    &sonde__command_dump,
    &sonde__command_export,
    &sonde__command_recover,
    &sonde__command_aggregate,
    &sonde__command_version,
    &sonde__command_help,
    NULL,
};

const sonde__command *sonde__command_find(const char *name)
{
    for (size_t i = 0; sonde__commands[i]; i++)
        if (strcmp(sonde__commands[i]->name, name) == 0)
            return sonde__commands[i];
    return NULL;
}

int sonde__command_unknown(const char *name)
{
    sonde__nearest near;
    sonde__nearest_init(&near, name, strlen(name));
    for (size_t i = 0; sonde__commands[i]; i++)
        sonde__nearest_offer(&near, sonde__commands[i]->name, strlen(sonde__commands[i]->name));
    if (near.best)
        sonde__command_error(NULL, "unknown command \"%s\"; did you mean \"%s\"?", name, near.best);
    else
        sonde__command_error(NULL, "unknown command \"%s\"; see: sonde --help", name);
    return SONDE__EXIT_USAGE;
}

static int run_command(const sonde__command *command, int argc, char **argv)
{
    sonde__args args;
    if (!sonde__args_parse(command, argc, argv, &args))
        return SONDE__EXIT_USAGE;
    if (args.help) {
        sonde__help_command(command);
        return SONDE__EXIT_OK;
    }
    return command->run(&args);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        sonde__help_program();
        return SONDE__EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    const sonde__command *command = sonde__command_find(name);
    return command ? run_command(command, argc - 2, argv + 2) : sonde__command_unknown(name);
}

int main(int argc, char **argv)
{
    int code = run(argc, argv);
    return sonde__output_finish() || code != SONDE__EXIT_OK ? code : SONDE__EXIT_FAILED;
}
