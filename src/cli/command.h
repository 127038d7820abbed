/* SPDX-License-Identifier: Apache-2.0 */
/* A command of the program: one file, a const descriptor last in it, one row in main.c. The option
   table is what the parser, --help and the documentation come from. */
#ifndef SONDE_CLI_COMMAND_H
#define SONDE_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes of every command. */
enum {
    SONDE__EXIT_OK = 0,
    SONDE__EXIT_FAILED = 1, /* the work could not be done */
    SONDE__EXIT_USAGE = 2,  /* the command line or a settings file is wrong */
};

enum { SONDE__OPTIONS_MAX = 16, SONDE__POSITIONALS_MAX = 64 };

typedef struct sonde__option {
    const char *name;  /* "--types" */
    const char *value; /* "LIST"; NULL: a flag */
    const char *help;
} sonde__option;

typedef struct sonde__args sonde__args;

typedef struct sonde__example {
    const char *command; /* without "sonde " */
    const char *shows;
} sonde__example;

typedef struct sonde__command {
    const char *name;
    const char *operands;           /* "[FILE]"; "" for none */
    const char *summary;            /* one line, for the list of commands */
    const char *about;              /* paragraphs for its own help; NULL: the summary says all */
    const sonde__option *options;   /* ended by a row without name; --help is implied */
    const sonde__example *examples; /* at least one; ended by a row without command */
    size_t operands_max;
    bool takes_command; /* from the first operand on, all is a command of others: args.rest */
    int (*run)(const sonde__args *args); /* returns the exit code */
} sonde__command;

struct sonde__args {
    const sonde__command *command;
    const char *value[SONDE__OPTIONS_MAX]; /* by option; a flag that was given is "" */
    const char *operand[SONDE__POSITIONALS_MAX];
    size_t operands;
    char **rest; /* takes_command: the command, ended by NULL as argv is */
    size_t rest_count;
    bool help;
};

/* All commands, ended by NULL. */
extern const sonde__command *const sonde__commands[];

/* NULL when there is none of that name. */
const sonde__command *sonde__command_find(const char *name);

/* Tells on stderr that there is no such command, with the nearest one; returns the exit code. */
int sonde__command_unknown(const char *name);

/* Parses what follows the command's name. False, after a line on stderr, when it is wrong. */
bool sonde__args_parse(const sonde__command *command, int argc, char **argv, sonde__args *out);

/* The value of an option ("--types"), "" for a flag, NULL when it was not given. */
const char *sonde__args_get(const sonde__args *args, const char *name);
bool sonde__args_has(const sonde__args *args, const char *name);

/* Help on stdout: of the program, of a command. */
void sonde__help_program(void);
void sonde__help_command(const sonde__command *command);

/* One line on stderr, with what looks like a secret in it masked: a message repeats what was typed
   or what stands in a file. */
void sonde__print_masked(const char *text);

/* The same, starting with "sonde COMMAND: ". */
void sonde__command_error(const sonde__command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
