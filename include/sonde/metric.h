/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, gauges and histograms. A handle is looked up once, by name and labels; using it needs
   no lock, no allocation, no look-up and cannot fail:

     sonde_counter *steps = sonde_counter_get("steps_total", "Steps done",
                                              SONDE_LABELS("phase", "train"));
     sonde_counter_add(steps, 1);

   Metrics belong to the process, not to a session: they count with and without one. While a session
   is open, other processes can read them and the journal gets their values each interval. A forked
   child has the same handles and starts from 0. All calls: any thread; add, set and observe also
   from signal handlers. */
#ifndef SONDE_METRIC_H
#define SONDE_METRIC_H

#include "sonde/lane_abi.h"
#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Handles live until the process ends. The first bytes are ABI. */
typedef struct sonde_counter {
    uint32_t index;
    int32_t status;
} sonde_counter;

typedef struct sonde_gauge {
    uint32_t index;
    int32_t status;
} sonde_gauge;

typedef struct sonde_histogram {
    uint32_t index;
    int32_t status;
} sonde_histogram;

/* Keys and values in turn; NULL where there are none. */
#define SONDE_LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Label keys of a family, or the values of one of its series, in the same order. */
#define SONDE_KEYS(...)   ((const char *const[]){__VA_ARGS__, NULL})
#define SONDE_VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The metric with this name and these labels, made when it is new; help may be NULL. Never NULL:
   where it cannot be made, the handle does nothing and its status says why. EINVAL: a name that is
   not [a-zA-Z_:][a-zA-Z0-9_:]*, a key that is not [a-zA-Z_][a-zA-Z0-9_]* or begins with "__", or
   the name is in use for another kind or other keys. ELIMIT: too many metrics; for one family
   beyond 2000 series it is the handle of the family's overflow series, which counts. ENOMEM. Values
   longer than 128 bytes are cut, with a hash of the whole. */
SONDE_API sonde_counter *sonde_counter_get(const char *name, const char *help,
                                           const char *const *labels);
SONDE_API sonde_gauge *sonde_gauge_get(const char *name, const char *help,
                                       const char *const *labels);
SONDE_API sonde_histogram *sonde_histogram_get(const char *name, const char *help,
                                               const char *const *labels);

/* A histogram that also keeps its last `window` observations (1 ... 65536) as they are: its
   percentiles are then exact, by PyVeda's rule, over these. One lock per observation. */
SONDE_API sonde_histogram *sonde_histogram_get_exact(const char *name, const char *help,
                                                     const char *const *labels, size_t window);

/* All series of one name. Look-up by label values is one hash, without a lock, for series that
   exist. Borrowed until the process ends; never NULL. keys NULL: none. */
typedef struct sonde_family sonde_family;
SONDE_API sonde_family *sonde_counter_family(const char *name, const char *help,
                                             const char *const *keys);
SONDE_API sonde_family *sonde_gauge_family(const char *name, const char *help,
                                           const char *const *keys);
SONDE_API sonde_family *sonde_histogram_family(const char *name, const char *help,
                                               const char *const *keys);

/* A missing value (a list that is too short) is "". */
SONDE_API sonde_counter *sonde_counter_with(sonde_family *family, const char *const *values);
SONDE_API sonde_gauge *sonde_gauge_with(sonde_family *family, const char *const *values);
SONDE_API sonde_histogram *sonde_histogram_with(sonde_family *family, const char *const *values);

/* --- the hot path --- */

SONDE_API void sonde_counter_add_slow(sonde_counter *counter, int64_t step);
SONDE_API void sonde_histogram_observe_slow(sonde_histogram *histogram, double value);

/* One read-modify-write instruction without a lock: the cell is this thread's, and a signal handler
   on it comes before or after, never in between. */
static inline void sonde_cell_add(uint64_t *cell, uint64_t step)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*cell) : "er"(step) : "cc");
#else
    __atomic_fetch_add(cell, step, __ATOMIC_RELAXED);
#endif
}

/* A negative step is not added, and counted. */
static inline void sonde_counter_add(sonde_counter *counter, int64_t step)
{
    sonde_lane *lane = sonde__lane;
    if (__builtin_expect(counter->index < lane->counter_limit && step >= 0, 1))
        sonde_cell_add(&lane->counters[counter->index], (uint64_t)step);
    else
        sonde_counter_add_slow(counter, step);
}

static inline void sonde_counter_inc(sonde_counter *counter)
{
    sonde_counter_add(counter, 1);
}

/* NaN is not stored, and counted. */
SONDE_API void sonde_gauge_set(sonde_gauge *gauge, double value);
SONDE_API void sonde_gauge_add(sonde_gauge *gauge, double step);

static inline void sonde_gauge_inc(sonde_gauge *gauge)
{
    sonde_gauge_add(gauge, 1);
}

static inline void sonde_gauge_dec(sonde_gauge *gauge)
{
    sonde_gauge_add(gauge, -1);
}

static inline void sonde_observe_rest(sonde_histogram_cell *cell, double value)
{
    double sum;
    double low;
    double high;
    __atomic_load(&cell->sum, &sum, __ATOMIC_RELAXED);
    __atomic_load(&cell->min, &low, __ATOMIC_RELAXED);
    __atomic_load(&cell->max, &high, __ATOMIC_RELAXED);
    sum += value;
    __atomic_store(&cell->sum, &sum, __ATOMIC_RELAXED);
    if (__builtin_expect(value < low, 0))
        __atomic_store(&cell->min, &value, __ATOMIC_RELAXED);
    if (__builtin_expect(value > high, 0))
        __atomic_store(&cell->max, &value, __ATOMIC_RELAXED);
}

/* NaN is not stored, and counted. Zero, negative values and those outside 2^-64 ... 2^64 have cells
   of their own. */
static inline void sonde_histogram_observe(sonde_histogram *histogram, double value)
{
    sonde_lane *lane = sonde__lane;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits--; /* upper bounds belong to the bucket below; 0 becomes out of range */
    uint64_t octave = (bits >> 52) - (uint64_t)(1023 + SONDE_OCTAVE_FIRST);
    if (__builtin_expect(histogram->index < lane->histogram_limit && octave < SONDE_OCTAVES &&
                             __atomic_load_n(&lane->observing, __ATOMIC_RELAXED) == 0,
                         1)) {
        sonde_histogram_cell *cell = &lane->histograms[histogram->index];
        uint64_t block = __atomic_load_n(&cell->block[octave], __ATOMIC_RELAXED);
        if (__builtin_expect(block != 0, 1)) {
            uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
            uint64_t bucket = lane->table->guess[mantissa >> 45];
            bucket += mantissa >= lane->table->bound[bucket];
            __atomic_store_n(&lane->observing, 1, __ATOMIC_RELAXED);
            __asm__ volatile("" : : : "memory");
            sonde_cell_add(&lane->blocks[block * SONDE_OCTAVE_BUCKETS + bucket], 1);
            sonde_observe_rest(cell, value);
            __asm__ volatile("" : : : "memory");
            __atomic_store_n(&lane->observing, 0, __ATOMIC_RELAXED);
            return;
        }
    }
    sonde_histogram_observe_slow(histogram, value);
}

/* --- reading --- */

/* What all threads added, since the last reset. */
SONDE_API uint64_t sonde_counter_value(const sonde_counter *counter);

/* Counts from 0 again, here and for other readers. What others add meanwhile is kept or not. */
SONDE_API void sonde_counter_reset(sonde_counter *counter);

SONDE_API double sonde_gauge_value(const sonde_gauge *gauge);

/* 64 buckets between 2^exponent and 2^(exponent + 1). */
typedef struct sonde_octave {
    int exponent;
    uint64_t count;
    uint64_t bucket[SONDE_OCTAVE_BUCKETS];
} sonde_octave;

/* A histogram of all threads, at one moment. count, min and max are exact; count is the sum of all
   cells. */
typedef struct sonde_distribution {
    uint64_t count;
    double sum;
    double min; /* 0 when there is nothing */
    double max;
    uint64_t zero, negative, under, over, unplaced;
    size_t octave_count;
    const sonde_octave *octaves; /* lowest first */
    size_t window_count;
    const double *window; /* ascending; exact histograms only */
    double window_sum;
} sonde_distribution;

/* What sonde_histogram_read fills, with its memory. NULL without memory. */
typedef struct sonde_histogram_reading sonde_histogram_reading;
SONDE_API sonde_histogram_reading *sonde_histogram_reading_create(void);
SONDE_API void sonde_histogram_reading_destroy(sonde_histogram_reading *reading);

/* Never NULL; borrowed until the next read with, or the end of, this reading. */
SONDE_API const sonde_distribution *sonde_histogram_read(const sonde_histogram *histogram,
                                                         sonde_histogram_reading *reading);

/* Percentile 0 ... 100 (below: 0, above: 100) by PyVeda's rule: element number int(n * (p / 100))
   of the ascending values, the last one at most. Exact where there is a window, else within 0.55 %.
   0 when there is nothing. */
SONDE_API double sonde_distribution_percentile(const sonde_distribution *distribution,
                                               double percent);

/* Sum by count; 0 when there is nothing. Of the window where there is one, as in PyVeda. */
SONDE_API double sonde_distribution_mean(const sonde_distribution *distribution);

/* The upper bound of a bucket, 0 ... 63, of an octave. */
SONDE_API double sonde_bucket_bound(int exponent, unsigned bucket);

/* The same in one call, for a look now and then. */
SONDE_API double sonde_histogram_percentile(const sonde_histogram *histogram, double percent);
SONDE_API double sonde_histogram_mean(const sonde_histogram *histogram);
SONDE_API uint64_t sonde_histogram_count(const sonde_histogram *histogram);

/* What could not be done as asked. */
typedef struct sonde_metric_stats {
    uint64_t negative_steps; /* of counters */
    uint64_t not_numbers;    /* NaN given to gauges and histograms */
    uint64_t series_over;    /* label sets that became the overflow series */
    uint64_t refused;        /* metrics that could not be made */
    uint64_t values_cut;     /* label values shortened */
    uint64_t window_skipped; /* observations a signal handler could not put into a window */
    uint64_t no_store;       /* steps that found no memory at all */
    uint64_t shared_cells;   /* slow steps into the cells that threads share */
    uint32_t counters, gauges, histograms; /* in use */
    uint32_t lanes;
    uint32_t blocks;     /* of 512 bytes, in use */
    uint64_t bytes;      /* of memory, backed */
    int shared_memory;   /* 0: other processes cannot read them */
    sonde_status reason; /* why not */
} sonde_metric_stats;

SONDE_API void sonde_metric_stats_get(sonde_metric_stats *out);

#ifdef __cplusplus
}
#endif

#endif
