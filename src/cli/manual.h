/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages and shell completion from the command tables, on stdout. */
#ifndef SONDE_CLI_MANUAL_H
#define SONDE_CLI_MANUAL_H

#include "cli/command.h"

/* sonde(1), and sonde-COMMAND(1). */
void sonde__manual_program(void);
void sonde__manual_command(const sonde__command *command);

/* Completion of commands and options for bash. */
void sonde__completion_bash(void);

#endif
