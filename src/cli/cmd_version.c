/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "sonde/status.h"

#include <stdio.h>

static int version_run(const sonde__args *args)
{
    if (sonde__args_has(args, "--json"))
        printf("{\"version\":\"%s\"}\n", sonde_version());
    else
        printf("sonde %s\n", sonde_version());
    return SONDE__EXIT_OK;
}

static const sonde__option version_options[] = {{"--json", NULL, "as JSON"}, {NULL, NULL, NULL}};
static const sonde__example version_examples[] = {
    {"version", "the version of the program and its library"}, {NULL, NULL}};

const sonde__command sonde__command_version = {
    .name = "version",
    .operands = "",
    .summary = "print the version",
    .options = version_options,
    .examples = version_examples,
    .run = version_run,
};
