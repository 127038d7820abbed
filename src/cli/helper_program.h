/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that need large libraries are programs of their own, as git's are: sonde parses the
   command line and becomes the helper. */
#ifndef SONDE_CLI_HELPER_PROGRAM_H
#define SONDE_CLI_HELPER_PROGRAM_H

#include "cli/command.h"

/* Executes sonde-NAME, which lies beside this program in libexec, with every option that was given
   as --OPTION=VALUE. replaced (may be NULL) returns another value for an option, or NULL. Returns
   only when that fails: the exit code, after a line on stderr. */
int sonde__helper_execute(const sonde__args *args, const char *name,
                          const char *(*replaced)(const char *option));

#endif
