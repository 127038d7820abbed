/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV log of a session that is over, made from its journal in one go. */
#ifndef SONDE_VIEW_CSV_LOG_H
#define SONDE_VIEW_CSV_LOG_H

#include "sonde/status.h"

#include <stdbool.h>

/* Replaces csv by all rows that the journal has; a log that is there and longer stays, since the
   journal may be damaged. *wrote: it was replaced. Written beside it and renamed: a reader sees the
   old or the new one whole. What sonde_reader_open returns; EDENIED, ELIMIT (no space), EIO. */
sonde_status sonde__csv_log_complete(const char *journal, const char *csv, bool *wrote);

#endif
