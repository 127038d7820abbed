/* SPDX-License-Identifier: Apache-2.0 */
/* sonde help: the same tables as text, as manual pages and as shell completion. */
#include "cli/command.h"
#include "cli/manual.h"

#include <stdio.h>

static int help_run(const sonde__args *args)
{
    if (sonde__args_has(args, "--completion")) {
        sonde__completion_bash();
        return SONDE__EXIT_OK;
    }
    bool manual = sonde__args_has(args, "--man");
    if (args->operands == 0) {
        manual ? sonde__manual_program() : sonde__help_program();
        return SONDE__EXIT_OK;
    }
    const sonde__command *topic = sonde__command_find(args->operand[0]);
    if (!topic)
        return sonde__command_unknown(args->operand[0]);
    manual ? sonde__manual_command(topic) : sonde__help_command(topic);
    return SONDE__EXIT_OK;
}

static const sonde__option help_options[] = {
    {"--man", NULL, "as a manual page (roff)"},
    {"--completion", NULL, "completion for bash, to be sourced"},
    {NULL, NULL, NULL},
};

static const sonde__example help_examples[] = {
    {"help capture", "what sonde capture --help prints"},
    {"help capture --man > sonde-capture.1", "the manual page of a command"},
    {NULL, NULL},
};

const sonde__command sonde__command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "explain the program or one of its commands",
    .options = help_options,
    .examples = help_examples,
    .operands_max = 1,
    .run = help_run,
};
