/* SPDX-License-Identifier: Apache-2.0 */
/* What the program writes on stdout. */
#ifndef SONDE_CLI_OUTPUT_H
#define SONDE_CLI_OUTPUT_H

#include "base/buf.h"

enum { SONDE__OUTPUT_MAX = 64 << 20 };

/* Writes text at once, so that a line is never torn. False, after a line on stderr, when it cannot.
 */
bool sonde__output_write(const char *text, size_t len);

/* Flushes stdout. False, after a line on stderr, when something could not be written. */
bool sonde__output_finish(void);

/* Whether stdout is a terminal; and whether it takes colour (NO_COLOR, TERM=dumb). */
bool sonde__output_is_terminal(void);
bool sonde__output_has_colour(void);

/* Columns of the terminal, 100 where there is none. */
size_t sonde__output_columns(void);

/* text in bold where there is colour. */
void sonde__buf_bold(sonde__buf *buf, const char *text);

#endif
