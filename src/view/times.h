/* SPDX-License-Identifier: Apache-2.0 */
/* Durations in bounded memory: exact count, sum, least and most, and quantiles within 0.8 %. */
#ifndef SONDE_VIEW_TIMES_H
#define SONDE_VIEW_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SONDE__TIMES_SUB_BITS = 6, /* 64 cells per power of two */
    SONDE__TIMES_CELLS = 1 << SONDE__TIMES_SUB_BITS,
    SONDE__TIMES_OCTAVES = 64 - SONDE__TIMES_SUB_BITS + 1,
};

typedef struct sonde__times {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t min_ns; /* UINT64_MAX while empty */
    uint64_t max_ns;
    uint64_t uncounted;                    /* not in a cell, because memory was out */
    uint64_t *cells[SONDE__TIMES_OCTAVES]; /* 512 bytes each, made at first touch */
} sonde__times;

void sonde__times_init(sonde__times *times);
void sonde__times_free(sonde__times *times);
void sonde__times_add(sonde__times *times, uint64_t ns);

/* The value below which the share q (0 to 1) of the values lie; 0 when there are none. */
uint64_t sonde__times_quantile(const sonde__times *times, double q);

#endif
