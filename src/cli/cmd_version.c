/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"
#include "cli/command.h"
#include "cli/output.h"
#include "sonde/status.h"

#include <stdio.h>

static bool print_json(void)
{
    sonde__buf out;
    sonde__json json;
    sonde__buf_init(&out, SONDE__OUTPUT_MAX);
    sonde__json_init(&json, &out);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "version");
    sonde__json_string(&json, sonde_version());
    sonde__json_end_object(&json);
    sonde__buf_char(&out, '\n');
    bool ok = sonde__output_write(out.data, out.len);
    sonde__buf_free(&out);
    return ok;
}

static int version_run(const sonde__args *args)
{
    if (sonde__args_has(args, "--json"))
        return print_json() ? SONDE__EXIT_OK : SONDE__EXIT_FAILED;
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
