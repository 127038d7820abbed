/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_CLI_MACHINE_TABLE_H
#define SONDE_CLI_MACHINE_TABLE_H

#include "base/buf.h"

/* The description of a machine (a JSON object) as people read it: a block per key at the top, a
   line per value below it. False when the text is not JSON. */
bool sonde__machine_table(const char *json, size_t len, sonde__buf *out);

#endif
