/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manual.h"

#include "sonde/status.h"

#include <ctype.h>
#include <stdio.h>

/* Text for roff: a hyphen is a minus sign, and a line must not start with a control character. */
static void put_text(const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
        line_start = *text == '\n';
    }
}

static void put_title(const char *name)
{
    fputs(".TH ", stdout);
    for (; *name; name++)
        putchar(toupper((unsigned char)*name));
    printf(" 1 \"\" \"sonde %s\" \"User Commands\"\n", sonde_version());
}

static void put_term(const char *term, const char *value, const char *text)
{
    fputs(".TP\n.B ", stdout);
    put_text(term);
    if (value)
        printf(" \\fI%s\\fR", value);
    putchar('\n');
    put_text(text);
    putchar('\n');
}

static void put_exit_codes(void)
{
    puts(".SH EXIT STATUS");
    put_term("0", NULL, "done");
    put_term("1", NULL, "the work could not be done");
    put_term("2", NULL, "the command line or a settings file is wrong");
}

void sonde__manual_program(void)
{
    put_title("sonde");
    puts(".SH NAME\nsonde \\- a flight recorder for compute\n.SH SYNOPSIS\n.B sonde\n"
         "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS");
    for (size_t i = 0; sonde__commands[i]; i++)
        put_term(sonde__commands[i]->name, NULL, sonde__commands[i]->summary);
    put_exit_codes();
    puts(".SH SEE ALSO");
    for (size_t i = 0; sonde__commands[i]; i++)
        printf(".BR sonde\\-%s (1)%s\n", sonde__commands[i]->name,
               sonde__commands[i + 1] ? "," : "");
}

void sonde__manual_command(const sonde__command *command)
{
    char title[64];
    snprintf(title, sizeof title, "sonde-%s", command->name);
    put_title(title);
    printf(".SH NAME\nsonde\\-%s \\- %s\n", command->name, command->summary);
    printf(".SH SYNOPSIS\n.B sonde %s\n[\\fIOPTIONS\\fR] %s\n.SH DESCRIPTION\n", command->name,
           command->operands);
    put_text(command->about ? command->about : command->summary);
    puts("\n.SH OPTIONS");
    for (const sonde__option *option = command->options; option->name; option++)
        put_term(option->name, option->value, option->help);
    put_term("--help", NULL, "a short form of this text");
    puts(".SH EXAMPLES");
    for (const sonde__example *example = command->examples; example->command; example++) {
        char line[256];
        snprintf(line, sizeof line, "sonde %s", example->command);
        put_term(line, NULL, example->shows);
    }
    put_exit_codes();
    puts(".SH SEE ALSO\n.BR sonde (1)");
}

void sonde__completion_bash(void)
{
    puts("_sonde() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} words\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        words=\"", stdout);
    for (size_t i = 0; sonde__commands[i]; i++)
        printf("%s ", sonde__commands[i]->name);
    puts("--help --version\"\n    else\n        case ${COMP_WORDS[1]} in");
    for (size_t i = 0; sonde__commands[i]; i++) {
        printf("            %s) words=\"", sonde__commands[i]->name);
        for (const sonde__option *option = sonde__commands[i]->options; option->name; option++)
            printf("%s ", option->name);
        puts("--help\" ;;");
    }
    puts("        esac\n"
         "    fi\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o default -F _sonde sonde");
}
