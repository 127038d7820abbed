/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

void sonde__help_program(void)
{
    printf("sonde: a flight recorder for compute\n\n"
           "usage: sonde COMMAND [OPTIONS]\n\n"
           "commands:\n");
    for (size_t i = 0; sonde__commands[i]; i++)
        printf("  %-10s %s\n", sonde__commands[i]->name, sonde__commands[i]->summary);
    printf("\nsonde COMMAND --help tells more, with examples.\n"
           "exit codes: 0 done, 1 failed, 2 wrong command line or settings\n");
}

static void print_options(const sonde__option *options)
{
    printf("\noptions:\n");
    for (; options->name; options++) {
        char left[48];
        snprintf(left, sizeof left, "%s%s%s", options->name, options->value ? " " : "",
                 options->value ? options->value : "");
        printf("  %-20s %s\n", left, options->help);
    }
    printf("  %-20s %s\n", "--help", "this text");
}

void sonde__help_command(const sonde__command *command)
{
    printf("usage: sonde %s [OPTIONS]%s%s\n\n%s\n", command->name, *command->operands ? " " : "",
           command->operands, command->about ? command->about : command->summary);
    print_options(command->options);
    printf("\nexamples:\n");
    for (const sonde__example *example = command->examples; example->command; example++)
        printf("  sonde %s\n      %s\n", example->command, example->shows);
}
