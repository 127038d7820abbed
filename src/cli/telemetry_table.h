/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_CLI_TELEMETRY_TABLE_H
#define SONDE_CLI_TELEMETRY_TABLE_H

#include "base/buf.h"
#include "sonde/capture.h"

/* A reading as people read it: a block per section, a line per object, a table per list. */
void sonde__telemetry_table(const sonde_telemetry *telemetry, sonde__buf *out);

/* One value as text ("21.7 MiB", "/usr/bin/sonde"), or the reason in brackets ("[absent]"). */
void sonde__telemetry_value(const sonde_telemetry *telemetry, sonde_field field, char *out,
                            size_t cap);

#endif
