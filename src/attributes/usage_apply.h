/* SPDX-License-Identifier: Apache-2.0 */
/* Applying the updates of a record to a map: all of them or none. */
#ifndef SONDE_ATTRIBUTES_USAGE_APPLY_H
#define SONDE_ATTRIBUTES_USAGE_APPLY_H

#include "attributes/updates.h"
#include "attributes/usage_map.h"

typedef struct sonde__application {
    sonde__number time;      /* the record's time_lapsed */
    sonde_datetime now;      /* becomes last_updated, unless alone */
    sonde_datetime previous; /* year 0: the map's last_updated, or now */
    bool compat;             /* what came before a failure stays, as in the original */
    bool alone;              /* of one builder: not a record, last_updated stays */
} sonde__application;

/* On failure *bad (may be NULL) is the update that could not be applied: EBADDATA, the metric is no
   number; EINVAL, it is aggregated in another way; ENOMEM. Fills in the cells of updates. */
sonde_status sonde__usage_apply(sonde_usage *usage, sonde_updates *updates,
                                const sonde__application *how, const sonde__update **bad);

/* One amount to one cell. new_day: a daily sum begins anew. */
void sonde__cell_apply(sonde__cell *cell, sonde__operation operation, sonde__number amount,
                       bool new_day);

/* Whether a daily sum begins anew. The caller holds the lock. */
bool sonde__usage_new_day(const sonde_usage *usage, const sonde__application *how);

/* Counts the record as applied. The caller holds the lock. */
void sonde__usage_counted(sonde_usage *usage, const sonde__application *how);

#endif
