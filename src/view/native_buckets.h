/* SPDX-License-Identifier: Apache-2.0 */
/* A distribution as base-2 exponential buckets of scale 6, by index: bucket i holds values above
   2^(i / 64) up to 2^((i + 1) / 64). */
#ifndef SONDE_VIEW_NATIVE_BUCKETS_H
#define SONDE_VIEW_NATIVE_BUCKETS_H

#include "sonde/metric.h"

#include <stdbool.h>

enum { SONDE__NATIVE_SCALE = 6 };

/* Below this a value counts as zero: 2^-64. */
#define SONDE__NATIVE_ZERO 0x1p-64

/* Calls each for every bucket that is not empty, lowest first. Values above 2^64, and those whose
   bucket there was no memory for, are in the bucket of the largest value: so the buckets add up. */
void sonde__native_positive(const sonde_distribution *d,
                            void (*each)(void *user, int index, uint64_t count), void *user);

/* The lowest of them. False: all are empty. */
bool sonde__native_first(const sonde_distribution *d, int *index);

/* The one bucket of negative values: that of the smallest. 0: there are none. */
uint64_t sonde__native_negative(const sonde_distribution *d, int *index);

#endif
