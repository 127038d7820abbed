/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_CLI_SESSION_ARG_H
#define SONDE_CLI_SESSION_ARG_H

#include "cli/command.h"
#include "sonde/reader.h"

/* Opens the session that the first operand names. NULL: an error was printed. */
sonde_reader *sonde__open_session(const sonde__args *args);

#endif
