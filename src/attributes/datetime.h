/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_ATTRIBUTES_DATETIME_H
#define SONDE_ATTRIBUTES_DATETIME_H

#include "sonde/usage_metrics.h"

#include <stdbool.h>

/* Whether a daily sum begins anew: the date is a later one. A clock that was set back goes on
   adding. compat: the day of the month is another one, whatever the month, forward or back. */
bool sonde__datetime_new_day(const sonde_datetime *now, const sonde_datetime *previous,
                             bool compat);

/* Seconds since 1970; without an offset, of this machine's zone. */
double sonde__datetime_unix(const sonde_datetime *time);

#endif
