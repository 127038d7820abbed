/* SPDX-License-Identifier: Apache-2.0 */
/* How long something was busy: the union of intervals that arrive roughly in the order of their
   ends, and the gaps between them. Exact while no interval reaches back behind more than
   SONDE__BUSY_KEPT / 2 later ones. */
#ifndef SONDE_VIEW_BUSY_H
#define SONDE_VIEW_BUSY_H

#include <stddef.h>
#include <stdint.h>

enum { SONDE__BUSY_KEPT = 128 }; /* intervals that may still grow together: 2 KiB */

typedef struct sonde__span {
    uint64_t start_ns;
    uint64_t end_ns;
} sonde__span;

typedef struct sonde__busy {
    sonde__span kept[SONDE__BUSY_KEPT]; /* apart from each other, ascending */
    size_t count;
    uint64_t settled_ns;  /* of spans that have left kept */
    uint64_t settled_end; /* where the last of them ended; 0: none */
    uint64_t settled_gaps;
    uint64_t settled_gap_ns;
    sonde__span settled_longest;
} sonde__busy;

/* What a sonde__busy amounts to. */
typedef struct sonde__busy_total {
    uint64_t busy_ns;
    uint64_t gaps;
    uint64_t gap_ns;
    sonde__span longest_gap;
} sonde__busy_total;

/* A zeroed sonde__busy is empty. */
void sonde__busy_add(sonde__busy *busy, uint64_t start_ns, uint64_t end_ns);
sonde__busy_total sonde__busy_sum(const sonde__busy *busy);

#endif
