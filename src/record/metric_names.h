/* SPDX-License-Identifier: Apache-2.0 */
/* What names, keys and values of metrics may be: Prometheus' rules, which OTLP and StatsD accept.
 */
#ifndef SONDE_RECORD_METRIC_NAMES_H
#define SONDE_RECORD_METRIC_NAMES_H

#include "record/limits.h"
#include "record/metric_limits.h"

#include <stdbool.h>

/* [a-zA-Z_:][a-zA-Z0-9_:]*, at most SONDE__NAME_LEN_MAX bytes. NULL is not valid. */
bool sonde__metric_name_valid(const char *name);

/* [a-zA-Z_][a-zA-Z0-9_]*, none twice, none beginning with "__", at most SONDE__LABELS_MAX. keys is
   ended by NULL; NULL: none. */
bool sonde__label_keys_valid(const char *const *keys, unsigned *count);

/* Copies value; a longer one is cut on a character's boundary and gets "~" and a hash of the whole,
   so that different values stay different. True: it was cut. */
bool sonde__label_value_cut(const char *value, char out[SONDE__LABEL_VALUE_MAX + 1]);

#endif
