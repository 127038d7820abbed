/* SPDX-License-Identifier: Apache-2.0 */
#include "record/metric_read.h"

#include <math.h>
#include <string.h>

static uint32_t lanes_of(const sonde__metric_view *view)
{
    uint32_t lanes =
        atomic_load_explicit(&sonde__metric_header_of(view)->lanes, memory_order_acquire);
    return lanes < view->lanes_max ? lanes : view->lanes_max;
}

uint64_t sonde__metric_read_counter(const sonde__metric_view *view, uint32_t index)
{
    sonde__metric_header *header = sonde__metric_header_of(view);
    uint64_t sum = 0;
    for (uint32_t lane = 0; lane < lanes_of(view); lane++)
        if (index < atomic_load_explicit(&header->lane_counters[lane], memory_order_acquire))
            sum += __atomic_load_n(&sonde__metric_counters(view, lane)[index], __ATOMIC_RELAXED);
    return sum;
}

double sonde__metric_read_gauge(const sonde__metric_view *view, uint32_t index)
{
    uint64_t bits = __atomic_load_n(sonde__metric_gauge(view, index), __ATOMIC_RELAXED);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void add_block(const sonde__metric_view *view, sonde__merged *merged, unsigned octave,
                      unsigned block)
{
    const uint64_t *from = sonde__metric_block(view, block);
    uint64_t *to = merged->bucket[octave];
    uint64_t count = 0;
    for (unsigned i = 0; i < SONDE_OCTAVE_BUCKETS; i++) {
        uint64_t value = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
        to[i] += value;
        count += value;
    }
    if (merged->count[octave] == 0 && count > 0)
        merged->list[merged->touched++] = (uint8_t)octave;
    merged->count[octave] += count;
    merged->all.count += count;
}

static uint64_t take(const uint64_t *cell, sonde_distribution *all)
{
    uint64_t value = __atomic_load_n(cell, __ATOMIC_RELAXED);
    all->count += value;
    return value;
}

static void add_cell(const sonde__metric_view *view, const sonde_histogram_cell *cell,
                     sonde__merged *merged)
{
    sonde_distribution *all = &merged->all;
    double sum;
    double low;
    double high;
    __atomic_load(&cell->sum, &sum, __ATOMIC_RELAXED);
    __atomic_load(&cell->min, &low, __ATOMIC_RELAXED);
    __atomic_load(&cell->max, &high, __ATOMIC_RELAXED);
    if (!(low <= high))
        return; /* nothing was observed here */
    all->sum += sum;
    all->min = low < all->min ? low : all->min;
    all->max = high > all->max ? high : all->max;
    all->zero += take(&cell->zero, all);
    all->negative += take(&cell->negative, all);
    all->under += take(&cell->under, all);
    all->over += take(&cell->over, all);
    all->unplaced += take(&cell->unplaced, all);
    for (unsigned octave = 0; octave < SONDE_OCTAVES; octave++) {
        unsigned block = __atomic_load_n(&cell->block[octave], __ATOMIC_ACQUIRE);
        if (block > 0 && block < SONDE__METRIC_BLOCKS)
            add_block(view, merged, octave, block);
    }
}

void sonde__merged_begin(sonde__merged *merged)
{
    for (unsigned i = 0; i < merged->touched; i++) {
        unsigned octave = merged->list[i];
        merged->count[octave] = 0;
        memset(merged->bucket[octave], 0, sizeof merged->bucket[octave]);
    }
    merged->touched = 0;
    merged->all = (sonde_distribution){.min = INFINITY, .max = -INFINITY};
}

static void sort_list(sonde__merged *merged)
{
    for (unsigned i = 1; i < merged->touched; i++) {
        uint8_t octave = merged->list[i];
        unsigned at = i;
        for (; at > 0 && merged->list[at - 1] > octave; at--)
            merged->list[at] = merged->list[at - 1];
        merged->list[at] = octave;
    }
}

void sonde__metric_add_histogram(const sonde__metric_view *view, uint32_t index,
                                 sonde__merged *merged)
{
    sonde__metric_header *header = sonde__metric_header_of(view);
    for (uint32_t lane = 0; lane < lanes_of(view); lane++)
        if (index < atomic_load_explicit(&header->lane_histograms[lane], memory_order_acquire))
            add_cell(view, &sonde__metric_histograms(view, lane)[index], merged);
}

void sonde__merged_end(sonde__merged *merged)
{
    sort_list(merged);
    if (merged->all.count == 0)
        merged->all.min = merged->all.max = 0;
}

void sonde__merged_octaves(const sonde__merged *merged, sonde_octave *out)
{
    for (unsigned i = 0; i < merged->touched; i++) {
        unsigned octave = merged->list[i];
        out[i].exponent = (int)octave + SONDE_OCTAVE_FIRST;
        out[i].count = merged->count[octave];
        memcpy(out[i].bucket, merged->bucket[octave], sizeof out[i].bucket);
    }
}
