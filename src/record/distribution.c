/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a histogram. A percentile is looked for octave by octave, then within one: at most
   192 steps, however many observations there were. */
#include "record/metric_read.h"
#include "record/metric_registry.h"
#include "record/metric_store.h"
#include "sonde/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The middle of a bucket, in the geometric sense: at most 0.55 % from anything in it. */
static double middle_of(int exponent, unsigned bucket)
{
    return sonde_bucket_bound(exponent, bucket) * 0x1.fd3c22b8f71f1p-1; /* 2^(-1/128) */
}

static double within(const sonde_distribution *d, double value)
{
    return value < d->min ? d->min : value > d->max ? d->max : value;
}

/* Element number rank, from 0, of the ascending values. */
static double element(const sonde_distribution *d, uint64_t rank)
{
    if (rank < d->negative)
        return d->min;
    rank -= d->negative;
    if (rank < d->zero)
        return within(d, 0);
    rank -= d->zero;
    if (rank < d->under)
        return within(d, sonde_bucket_bound(SONDE_OCTAVE_FIRST - 1, SONDE_OCTAVE_BUCKETS - 1));
    rank -= d->under;
    for (size_t i = 0; i < d->octave_count; rank -= d->octaves[i++].count) {
        const sonde_octave *octave = &d->octaves[i];
        if (rank >= octave->count)
            continue;
        for (unsigned bucket = 0; bucket < SONDE_OCTAVE_BUCKETS; bucket++) {
            if (rank < octave->bucket[bucket])
                return within(d, middle_of(octave->exponent, bucket));
            rank -= octave->bucket[bucket];
        }
    }
    return d->max;
}

double sonde_distribution_percentile(const sonde_distribution *d, double percent)
{
    if (d->window_count > 0)
        return d->window[sonde__percentile_index(d->window_count, percent)];
    uint64_t placed = d->count - d->unplaced;
    if (placed == 0)
        return 0;
    uint64_t rank = sonde__percentile_index(placed, percent);
    if (rank == 0)
        return d->min;
    return rank == placed - 1 ? d->max : element(d, rank);
}

double sonde_distribution_mean(const sonde_distribution *d)
{
    if (d->window_count > 0)
        return d->window_sum / (double)d->window_count;
    return d->count > 0 ? d->sum / (double)d->count : 0;
}

/* --- one histogram --- */

struct sonde_histogram_reading {
    sonde__merged merged;
    sonde_octave octaves[SONDE_OCTAVES];
    double *window;
    size_t window_cap;
};

sonde_histogram_reading *sonde_histogram_reading_create(void)
{
    return calloc(1, sizeof(sonde_histogram_reading));
}

void sonde_histogram_reading_destroy(sonde_histogram_reading *reading)
{
    if (reading)
        free(reading->window);
    free(reading);
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* Summed up in the order it came, as in PyVeda: the last bits of a sum depend on it. */
static void read_window(sonde_histogram_reading *reading, sonde__window *window)
{
    sonde_distribution *all = &reading->merged.all;
    if (reading->window_cap < window->size) {
        double *larger = realloc(reading->window, window->size * sizeof *larger);
        if (!larger)
            return;
        reading->window = larger;
        reading->window_cap = window->size;
    }
    size_t count = sonde__window_copy(window, reading->window);
    for (size_t i = 0; i < count; i++)
        all->window_sum += reading->window[i];
    qsort(reading->window, count, sizeof *reading->window, compare_doubles);
    all->window = reading->window;
    all->window_count = count;
}

const sonde_distribution *sonde_histogram_read(const sonde_histogram *histogram,
                                               sonde_histogram_reading *reading)
{
    sonde_distribution *all = &reading->merged.all;
    uint32_t index = histogram->index & ~SONDE__EXACT;
    const sonde__metric_view *view = sonde__metric_store_in_use();
    if (!view || index >= SONDE__HISTOGRAMS_MAX) {
        *all = (sonde_distribution){0};
        return all;
    }
    sonde__merged_begin(&reading->merged);
    sonde__metric_add_histogram(view, index, &reading->merged);
    sonde__merged_end(&reading->merged);
    sonde__merged_octaves(&reading->merged, reading->octaves);
    all->octaves = reading->octaves;
    all->octave_count = reading->merged.touched;
    sonde__window *window = histogram->index & SONDE__EXACT ? sonde__registry_window(index) : NULL;
    if (window)
        read_window(reading, window);
    return all;
}

double sonde_histogram_percentile(const sonde_histogram *histogram, double percent)
{
    sonde_histogram_reading *reading = sonde_histogram_reading_create();
    if (!reading)
        return 0;
    double value = sonde_distribution_percentile(sonde_histogram_read(histogram, reading), percent);
    sonde_histogram_reading_destroy(reading);
    return value;
}

double sonde_histogram_mean(const sonde_histogram *histogram)
{
    sonde_histogram_reading *reading = sonde_histogram_reading_create();
    if (!reading)
        return 0;
    double value = sonde_distribution_mean(sonde_histogram_read(histogram, reading));
    sonde_histogram_reading_destroy(reading);
    return value;
}

uint64_t sonde_histogram_count(const sonde_histogram *histogram)
{
    sonde_histogram_reading *reading = sonde_histogram_reading_create();
    if (!reading)
        return 0;
    uint64_t count = sonde_histogram_read(histogram, reading)->count;
    sonde_histogram_reading_destroy(reading);
    return count;
}

/* --- one counter --- */

uint64_t sonde_counter_value(const sonde_counter *counter)
{
    const sonde__metric_view *view = sonde__metric_store_in_use();
    if (!view || counter->index >= SONDE__COUNTERS_MAX)
        return 0;
    const sonde__metric_series *series =
        sonde__series_description((const sonde__series *)(const void *)counter);
    uint64_t base = series ? atomic_load(&series->base) : 0;
    uint64_t sum = sonde__metric_read_counter(view, counter->index);
    return sum > base ? sum - base : 0;
}

void sonde_counter_reset(sonde_counter *counter)
{
    const sonde__metric_view *view = sonde__metric_store_in_use();
    if (!view || counter->index >= SONDE__COUNTERS_MAX)
        return;
    sonde__metric_series *series =
        sonde__series_description((const sonde__series *)(const void *)counter);
    if (series)
        atomic_store(&series->base, sonde__metric_read_counter(view, counter->index));
}
