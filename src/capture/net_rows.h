/* SPDX-License-Identifier: Apache-2.0 */
/* What the two sources of network counters share: the sum and the rows. */
#ifndef SONDE_CAPTURE_NET_ROWS_H
#define SONDE_CAPTURE_NET_ROWS_H

#include "capture/parsers.h"
#include "capture/source.h"

typedef struct sonde__net_sum {
    size_t interfaces;
    bool garbled; /* one of them could not be read, so there is no sum */
    uint64_t counter[SONDE__NET_COUNTERS];
} sonde__net_sum;

void sonde__net_sum_add(sonde__net_sum *sum, const uint64_t *counter);

/* Sets netio_sum; without any interface the fields stay absent. */
void sonde__net_sum_store(const sonde__net_sum *sum, sonde_telemetry *out);

/* Whether an interface has seen any traffic, error or drop. */
bool sonde__net_is_used(const uint64_t *counter);

/* Appends a row with these counters. */
sonde_status sonde__net_row_add(sonde__rows *rows, const char *name, const uint64_t *counter,
                                sonde_status status);

#endif
