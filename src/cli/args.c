/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "base/mask.h"
#include "base/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ERROR_BYTES = 1024 };

void sonde__print_masked(const char *text)
{
    sonde__buf shown;
    sonde__buf_init(&shown, (size_t)2 * ERROR_BYTES);
    sonde__mask_text(text, strlen(text), &shown);
    fprintf(stderr, "%.*s\n", (int)shown.len, shown.data ? shown.data : "");
    sonde__buf_free(&shown);
}

void sonde__command_error(const sonde__command *command, const char *format, ...)
{
    char text[ERROR_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "sonde%s%s: ", command ? " " : "", command ? command->name : "");
    sonde__print_masked(text);
}

static size_t option_count(const sonde__command *command)
{
    size_t count = 0;
    while (command->options[count].name)
        count++;
    return count;
}

/* The option that name (len bytes) is, or -1. */
static int find_option(const sonde__command *command, const char *name, size_t len)
{
    for (size_t i = 0; i < option_count(command); i++)
        if (strlen(command->options[i].name) == len &&
            memcmp(command->options[i].name, name, len) == 0)
            return (int)i;
    return -1;
}

static void complain_unknown(const sonde__command *command, const char *name, size_t len)
{
    sonde__nearest near;
    sonde__nearest_init(&near, name, len);
    for (size_t i = 0; i < option_count(command); i++)
        sonde__nearest_offer(&near, command->options[i].name, strlen(command->options[i].name));
    sonde__nearest_offer(&near, "--help", 6);
    if (near.best)
        sonde__command_error(command, "unknown option %.*s; did you mean %s?", (int)len, name,
                             near.best);
    else
        sonde__command_error(command, "unknown option %.*s; see: sonde %s --help", (int)len, name,
                             command->name);
}

/* Takes the option at argv[*at] and, where it has one, its value. */
static bool take_option(int argc, char **argv, int *at, sonde__args *out)
{
    const char *text = argv[*at];
    size_t len = strcspn(text, "=");
    int which = find_option(out->command, text, len);
    if (which < 0) {
        complain_unknown(out->command, text, len);
        return false;
    }
    const sonde__option *option = &out->command->options[which];
    const char *value = text[len] == '=' ? text + len + 1 : NULL;
    if (!option->value && value) {
        sonde__command_error(out->command, "%s takes no value", option->name);
        return false;
    }
    if (option->value && !value) {
        if (*at + 1 >= argc) {
            sonde__command_error(out->command, "%s needs a value: %s", option->name, option->value);
            return false;
        }
        value = argv[++*at];
    }
    out->value[which] = value ? value : "";
    return true;
}

static bool take_operand(const char *text, sonde__args *out)
{
    if (out->operands >= out->command->operands_max) {
        sonde__command_error(out->command, "unexpected argument \"%s\"; see: sonde %s --help", text,
                             out->command->name);
        return false;
    }
    out->operand[out->operands++] = text;
    return true;
}

bool sonde__args_parse(const sonde__command *command, int argc, char **argv, sonde__args *out)
{
    *out = (sonde__args){.command = command};
    bool only_operands = false;
    for (int at = 0; at < argc; at++) {
        const char *text = argv[at];
        bool ok = true;
        bool operand = only_operands || text[0] != '-' || strcmp(text, "-") == 0;
        if (operand && command->takes_command) {
            out->rest = argv + at;
            out->rest_count = (size_t)(argc - at);
            return true;
        }
        if (operand)
            ok = take_operand(text, out);
        else if (strcmp(text, "--") == 0)
            only_operands = true;
        else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0)
            out->help = true;
        else
            ok = take_option(argc, argv, &at, out);
        if (!ok)
            return false;
    }
    return true;
}

const char *sonde__args_get(const sonde__args *args, const char *name)
{
    int which = find_option(args->command, name, strlen(name));
    return which < 0 ? NULL : args->value[which];
}

bool sonde__args_has(const sonde__args *args, const char *name)
{
    return sonde__args_get(args, name) != NULL;
}
