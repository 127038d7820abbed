/* SPDX-License-Identifier: Apache-2.0 */
/* Values out of a store, or out of a copy of one: the sum over its lanes. Nothing in a copy is
   believed. */
#ifndef SONDE_RECORD_METRIC_READ_H
#define SONDE_RECORD_METRIC_READ_H

#include "record/metric_store.h"
#include "sonde/metric.h"

/* A histogram being added up, one place for each octave. */
typedef struct sonde__merged {
    sonde_distribution all; /* octaves and window are not set */
    unsigned touched;       /* octaves that hold anything */
    uint8_t list[SONDE_OCTAVES];
    uint64_t count[SONDE_OCTAVES];
    uint64_t bucket[SONDE_OCTAVES][SONDE_OCTAVE_BUCKETS];
} sonde__merged;

uint64_t sonde__metric_read_counter(const sonde__metric_view *view, uint32_t index);
double sonde__metric_read_gauge(const sonde__metric_view *view, uint32_t index);

/* Several histograms into one: begin, add, end. merged is zero before its first use. */
void sonde__merged_begin(sonde__merged *merged);
void sonde__metric_add_histogram(const sonde__metric_view *view, uint32_t index,
                                 sonde__merged *merged);
void sonde__merged_end(sonde__merged *merged);

/* The octaves of merged, lowest first, into out (room for touched). */
void sonde__merged_octaves(const sonde__merged *merged, sonde_octave *out);

#endif
