/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_CLI_USAGE_OUTPUT_H
#define SONDE_CLI_USAGE_OUTPUT_H

#include "sonde/usage_metrics.h"

#include <stdbool.h>

typedef enum sonde__usage_format {
    SONDE__USAGE_JSON,
    SONDE__USAGE_PROMETHEUS,
    SONDE__USAGE_TABLE,
} sonde__usage_format;

/* "json", "prometheus", "table". False: none of them. */
bool sonde__usage_format_parse(const char *text, sonde__usage_format *out);

/* Prints the metrics. False, after a line on stderr, when they could not be written. */
bool sonde__usage_print(const sonde_usage *usage, sonde__usage_format format, bool compat);

#endif
