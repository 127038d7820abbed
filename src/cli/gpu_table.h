/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_CLI_GPU_TABLE_H
#define SONDE_CLI_GPU_TABLE_H

#include "base/buf.h"
#include "sonde/gpu.h"

/* A line or more per GPU: its metrics with their values, or the reasons in brackets. */
void sonde__gpu_table(const sonde_telemetry *telemetry, sonde__buf *out);

#endif
