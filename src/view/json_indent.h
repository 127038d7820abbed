/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_VIEW_JSON_INDENT_H
#define SONDE_VIEW_JSON_INDENT_H

#include "base/buf.h"

/* Appends json, which is valid, with line ends and two blanks per level; a line end closes it. */
void sonde__json_indent(sonde__buf *out, const char *json, size_t len);

#endif
