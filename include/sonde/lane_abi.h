/* SPDX-License-Identifier: Apache-2.0 */
/* What the inline hot paths of task.h and metric.h read: the first bytes of a thread's lane and of
   a histogram's cell. Layout is ABI; nothing here is meant to be used by hand. */
#ifndef SONDE_LANE_ABI_H
#define SONDE_LANE_ABI_H

#include "sonde/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Histograms: octaves 2^-64 ... 2^64 of 64 buckets each, so that a bucket's upper bound is
   2^(1/64) times its lower one. Upper bounds are inclusive, as in Prometheus and OTLP (scale 6). */
enum {
    SONDE_OCTAVE_FIRST = -64,
    SONDE_OCTAVES = 128,
    SONDE_OCTAVE_BUCKETS = 64,
};

/* One thread's part of a histogram; the counts are in blocks of 64, found by octave. */
typedef struct sonde_histogram_cell {
    double sum;
    double min; /* +infinity when nothing was observed */
    double max;
    uint64_t zero;
    uint64_t negative;
    uint64_t under;    /* above 0, at most 2^-64 */
    uint64_t over;     /* above 2^64 */
    uint64_t unplaced; /* in range, but there was no block left: not part of percentiles */
    uint16_t block[SONDE_OCTAVES]; /* 0: none yet */
} sonde_histogram_cell;

/* From the upper 7 bits of a mantissa to a bucket, at most one too low; the mantissa at which the
   next bucket begins. */
typedef struct sonde_histogram_table {
    uint8_t guess[128];
    uint64_t bound[SONDE_OCTAVE_BUCKETS];
} sonde_histogram_table;

typedef struct sonde_lane {
    uint32_t state;
    uint32_t busy;            /* a call is inside */
    uint32_t counter_limit;   /* counters below this can be added to at once */
    uint32_t histogram_limit; /* the same of histograms */
    uint64_t *counters;
    sonde_histogram_cell *histograms;
    uint64_t *blocks; /* SONDE_OCTAVE_BUCKETS counts each */
    const sonde_histogram_table *table;
    uint32_t observing; /* inside an observation: a signal handler must go another way */
    uint32_t reserved;
    uint64_t reserved2;
} sonde_lane;

enum { SONDE_LANE_ASK = 0, SONDE_LANE_OFF = 1, SONDE_LANE_ON = 2, SONDE_LANE_PAUSED = 3 };

extern __attribute__((tls_model("initial-exec"))) SONDE_API __thread sonde_lane *sonde__lane;

#ifdef __cplusplus
}
#endif

#endif
