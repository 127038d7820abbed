/* SPDX-License-Identifier: Apache-2.0 */
/* Families and their series: text to handle, once. Private memory that a forked child inherits;
   indexes are the same in its store, so handles never go stale. */
#ifndef SONDE_RECORD_METRIC_REGISTRY_H
#define SONDE_RECORD_METRIC_REGISTRY_H

#include "record/metric_store.h"
#include "record/metric_window.h"
#include "sonde/metric.h"

/* Histograms with a window go through the slow side: their handle's index has this bit. */
#define SONDE__EXACT 0x80000000u

/* A series as the registry has it; its address is the handle. */
typedef struct sonde__series {
    union {
        sonde_counter counter;
        sonde_gauge gauge;
        sonde_histogram histogram;
    } handle;
    sonde_family *family; /* NULL: does nothing */
    uint64_t hash;
    uint64_t described_at; /* offset of its description in the store, 0: not there */
    sonde__window *window; /* NULL: none */
    bool overflow;
    char values[]; /* each with its NUL */
} sonde__series;

/* The description of a series in the store of now; NULL when it has none. */
sonde__metric_series *sonde__series_description(const sonde__series *series);

/* Describes all series in a store that is new. For the lane that is about to be used in it. */
void sonde__registry_describe_all(void);

/* In a forked child, before anything else: the lock may have been held. */
void sonde__registry_after_fork(void);

/* The window of a histogram's index; NULL: none. */
sonde__window *sonde__registry_window(uint32_t index);

#endif
