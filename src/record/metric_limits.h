/* SPDX-License-Identifier: Apache-2.0 */
/* Every limit of metrics, with its cost in bytes and what counts those beyond it. Those marked
   (format) are part of the store's layout. The store takes 54 MiB of addresses; memory is put
   behind what is used. */
#ifndef SONDE_RECORD_METRIC_LIMITS_H
#define SONDE_RECORD_METRIC_LIMITS_H

enum {
    SONDE__COUNTERS_MAX = 8192,           /* (format) series; 8 bytes in each lane: refused */
    SONDE__GAUGES_MAX = 8192,             /* (format) series; 8 bytes: refused */
    SONDE__HISTOGRAMS_MAX = 1024,         /* (format) series; 320 bytes in each lane: refused */
    SONDE__HISTOGRAM_CELL_BYTES = 320,    /* (format) */
    SONDE__METRIC_BLOCKS = 8192,          /* (format) 4 MiB in all: unplaced */
    SONDE__METRIC_BLOCK_BYTES = 512,      /* (format) one octave of one histogram of one lane */
    SONDE__METRIC_BLOCKS_RESERVE = 1024,  /* for the cells that threads share */
    SONDE__METRIC_LANES = 128,            /* threads with cells of their own: shared_cells */
    SONDE__METRIC_SERIES_BYTES = 2 << 20, /* (format) descriptions of all series: refused */
    SONDE__FAMILIES_MAX = 1024,           /* names of metrics: refused */
    SONDE__FAMILY_SERIES_MAX = 2000,      /* label sets of one name: series_over */
    SONDE__LABELS_MAX = 8,                /* keys of one family: refused */
    SONDE__LABEL_VALUE_MAX = 128,         /* bytes; longer values are cut: values_cut */
    SONDE__HELP_MAX = 255,                /* bytes; longer texts are cut */
    SONDE__WINDOW_MAX = 65536,            /* observations kept as they are; 8 bytes each: refused */
};

#endif
