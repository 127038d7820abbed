/* SPDX-License-Identifier: Apache-2.0 */
/* The last N observations of a histogram, as they were given. */
#ifndef SONDE_RECORD_METRIC_WINDOW_H
#define SONDE_RECORD_METRIC_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sonde__window {
    _Atomic uint32_t lock;
    size_t size;
    uint64_t put; /* ever */
    double values[];
} sonde__window;

/* NULL without memory. */
sonde__window *sonde__window_create(size_t size);

/* False when the window was in use and the caller must not wait. */
bool sonde__window_put(sonde__window *window, double value, bool may_wait);

/* Copies what is kept, oldest first, into out (window->size of room). Returns how many. */
size_t sonde__window_copy(sonde__window *window, double *out);

/* Element of n ascending values that percentile p is, by PyVeda's rule. n > 0. */
size_t sonde__percentile_index(size_t n, double percent);

#endif
