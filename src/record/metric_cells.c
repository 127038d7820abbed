/* SPDX-License-Identifier: Apache-2.0 */
/* The slow side of counters, gauges and histograms: a thread's first use of a page of cells, values
   outside the buckets, signal handlers that interrupt an observation, and threads that have no
   cells of their own. The last two use the cells of lane 0, which all threads share, by locked
   instructions. Nothing here waits, but for a thread that puts memory behind shared cells. */
#include "record/metric_cells.h"

#include "record/histogram_table.h"
#include "record/metric_registry.h"
#include "record/metric_store.h"
#include "record/recorder.h"
#include "sonde/metric.h"

#include <math.h>
#include <sched.h>
#include <string.h>

enum { COUNTERS_PER_PAGE = 512, HISTOGRAMS_PER_CHUNK = 51 };

/* Steps for which there was no memory at all. */
static _Atomic uint64_t no_store;

const sonde__metric_view *sonde__metric_store_in_use(void)
{
    sonde__recorder_check_fork();
    const sonde__metric_view *view = sonde__metric_store_now();
    if (view)
        return view;
    view = sonde__metric_store();
    if (view)
        sonde__registry_describe_all();
    return view;
}

/* Counters of a store's lane up to index get memory, a page at a time. */
static bool grow_counters(const sonde__metric_view *view, uint32_t lane, uint32_t index)
{
    sonde__metric_header *header = sonde__metric_header_of(view);
    uint32_t from = atomic_load(&header->lane_counters[lane]);
    uint32_t to = (index / COUNTERS_PER_PAGE + 1) * COUNTERS_PER_PAGE;
    uint64_t offset =
        (uint64_t)((uint8_t *)(sonde__metric_counters(view, lane) + from) - view->base);
    if (to <= from)
        return true;
    if (!sonde__metric_store_back(offset, (uint64_t)(to - from) * 8))
        return false;
    atomic_fetch_add(&header->backed, (uint64_t)(to - from) * 8);
    atomic_store(&header->lane_counters[lane], to);
    return true;
}

/* The same of histogram cells, which also get their start values. */
static bool grow_histograms(const sonde__metric_view *view, uint32_t lane, uint32_t index)
{
    sonde__metric_header *header = sonde__metric_header_of(view);
    uint32_t from = atomic_load(&header->lane_histograms[lane]);
    uint32_t to = (index / HISTOGRAMS_PER_CHUNK + 1) * HISTOGRAMS_PER_CHUNK;
    to = to > SONDE__HISTOGRAMS_MAX ? SONDE__HISTOGRAMS_MAX : to;
    if (to <= from)
        return true;
    sonde_histogram_cell *cells = sonde__metric_histograms(view, lane);
    uint64_t bytes = (uint64_t)(to - from) * sizeof *cells;
    if (!sonde__metric_store_back((uint64_t)((uint8_t *)(cells + from) - view->base), bytes))
        return false;
    double low = INFINITY;
    double high = -INFINITY;
    for (uint32_t i = from; i < to; i++) {
        __atomic_store(&cells[i].min, &low, __ATOMIC_RELAXED);
        __atomic_store(&cells[i].max, &high, __ATOMIC_RELAXED);
    }
    atomic_fetch_add(&header->backed, bytes);
    atomic_store(&header->lane_histograms[lane], to);
    return true;
}

/* --- lane 0 --- */

/* One of the threads that share lane 0 grows it; the others wait for it, except a signal handler
   that interrupted the one. */
static _Atomic uint32_t growing;

static bool shared_has(const sonde__metric_view *view, _Atomic uint32_t *have, uint32_t index,
                       bool (*grow)(const sonde__metric_view *, uint32_t, uint32_t))
{
    static __thread volatile bool inside;
    if (index < atomic_load_explicit(have, memory_order_acquire))
        return true;
    if (inside)
        return false;
    inside = true;
    while (atomic_exchange(&growing, 1) != 0)
        sched_yield();
    bool grown = grow(view, 0, index);
    atomic_store(&growing, 0);
    inside = false;
    return grown;
}

static void count_shared(const sonde__metric_view *view)
{
    sonde__metric_header *header = sonde__metric_header_of(view);
    atomic_fetch_add_explicit(&header->shared_cells, 1, memory_order_relaxed);
    uint32_t none = 0;
    atomic_compare_exchange_strong(&header->lanes, &none, 1);
}

/* --- the thread's own cells --- */

/* The store's lane of a thread's handle has the handle's own number, so that it passes on to the
   next thread with it. 0: the store has none for it, the thread shares. */
static uint32_t store_lane(const sonde__metric_view *view, const sonde__lane_local *lane)
{
    uint32_t handle = sonde__lane_handle(lane);
    return handle < view->lanes_max ? handle : 0;
}

static void attach(const sonde__metric_view *view, sonde__lane_local *lane, uint32_t index)
{
    lane->abi.counters = sonde__metric_counters(view, index);
    lane->abi.histograms = sonde__metric_histograms(view, index);
    lane->abi.blocks = sonde__metric_block(view, 0);
    lane->abi.table = &sonde__histogram_table;
    _Atomic uint32_t *lanes = &sonde__metric_header_of(view)->lanes;
    uint32_t have = atomic_load(lanes);
    while (have <= index && !atomic_compare_exchange_weak(lanes, &have, index + 1))
        ;
}

/* The lane of the calling thread, with its place in the store. NULL: the shared cells must do. */
static sonde__lane_local *own_lane(const sonde__metric_view *view, uint32_t *index)
{
    sonde__lane_local *lane = sonde__lane_claim_handle();
    *index = lane ? store_lane(view, lane) : 0;
    if (*index == 0)
        return NULL;
    if (!lane->abi.counters)
        attach(view, lane, *index);
    return lane;
}

/* --- counters --- */

static void lose(void)
{
    atomic_fetch_add_explicit(&no_store, 1, memory_order_relaxed);
}

void sonde_counter_add_slow(sonde_counter *counter, int64_t step)
{
    if (counter->index >= SONDE__COUNTERS_MAX)
        return;
    const sonde__metric_view *view = sonde__metric_store_in_use();
    if (!view) {
        lose();
        return;
    }
    if (step < 0) {
        atomic_fetch_add(&sonde__metric_header_of(view)->negative_steps, 1);
        return;
    }
    uint32_t place;
    sonde__lane_local *lane = own_lane(view, &place);
    sonde__metric_header *header = sonde__metric_header_of(view);
    if (lane && grow_counters(view, place, counter->index)) {
        lane->abi.counter_limit = atomic_load(&header->lane_counters[place]);
        sonde_cell_add(&lane->abi.counters[counter->index], (uint64_t)step);
    } else if (shared_has(view, &header->lane_counters[0], counter->index, grow_counters)) {
        count_shared(view);
        __atomic_fetch_add(&sonde__metric_counters(view, 0)[counter->index], (uint64_t)step,
                           __ATOMIC_RELAXED);
    } else {
        lose();
    }
}

/* --- gauges --- */

static uint64_t *gauge_cell(const sonde_gauge *gauge, double value)
{
    if (gauge->index >= SONDE__GAUGES_MAX)
        return NULL;
    const sonde__metric_view *view = sonde__metric_store_in_use();
    if (!view) {
        lose();
        return NULL;
    }
    if (isnan(value)) {
        atomic_fetch_add(&sonde__metric_header_of(view)->not_numbers, 1);
        return NULL;
    }
    return sonde__metric_gauge(view, gauge->index);
}

void sonde_gauge_set(sonde_gauge *gauge, double value)
{
    uint64_t *cell = gauge_cell(gauge, value);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (cell)
        __atomic_store_n(cell, bits, __ATOMIC_RELAXED);
}

/* Adds to a double that other threads change too; in terms of its bits. */
static void add_double(uint64_t *cell, double step)
{
    uint64_t before = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint64_t after;
    do {
        double value;
        memcpy(&value, &before, sizeof value);
        value += step;
        memcpy(&after, &value, sizeof after);
    } while (!__atomic_compare_exchange_n(cell, &before, after, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

void sonde_gauge_add(sonde_gauge *gauge, double step)
{
    uint64_t *cell = gauge_cell(gauge, step);
    if (cell)
        add_double(cell, step);
}

double sonde_gauge_value(const sonde_gauge *gauge)
{
    const sonde__metric_view *view = sonde__metric_store_in_use();
    if (!view || gauge->index >= SONDE__GAUGES_MAX)
        return 0;
    uint64_t bits = __atomic_load_n(sonde__metric_gauge(view, gauge->index), __ATOMIC_RELAXED);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* --- histograms --- */

/* Replaces *at by value while that is less (sign 1) or greater (sign -1). */
static void extend(double *at, double value, double sign)
{
    double now;
    __atomic_load(at, &now, __ATOMIC_RELAXED);
    while (sign * value < sign * now &&
           !__atomic_compare_exchange(at, &now, &value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* The count that a value belongs to; gives the octave a block when it has none. */
static uint64_t *count_cell(const sonde__metric_view *view, sonde_histogram_cell *cell,
                            double value, bool shared)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits--;
    uint64_t octave = (bits >> 52) - (uint64_t)(1023 + SONDE_OCTAVE_FIRST);
    if (octave >= SONDE_OCTAVES)
        return value == 0  ? &cell->zero
               : value < 0 ? &cell->negative
               : value < 1 ? &cell->under
                           : &cell->over;
    uint16_t block = __atomic_load_n(&cell->block[octave], __ATOMIC_RELAXED);
    if (block == 0) {
        uint16_t made = sonde__metric_store_block(shared);
        if (made == 0)
            return shared ? &cell->unplaced : NULL;
        /* a block that a signal handler or another thread put there meanwhile stays: the one made
           here is not used, and is of the bounded pool */
        if (__atomic_compare_exchange_n(&cell->block[octave], &block, made, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            block = made;
    }
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    unsigned bucket = sonde__histogram_table.guess[mantissa >> 45];
    bucket += mantissa >= sonde__histogram_table.bound[bucket];
    return sonde__metric_block(view, block) + bucket;
}

static void observe_shared(const sonde__metric_view *view, uint32_t index, double value)
{
    _Atomic uint32_t *have = &sonde__metric_header_of(view)->lane_histograms[0];
    if (!shared_has(view, have, index, grow_histograms)) {
        lose();
        return;
    }
    count_shared(view);
    sonde_histogram_cell *cell = &sonde__metric_histograms(view, 0)[index];
    __atomic_fetch_add(count_cell(view, cell, value, true), 1, __ATOMIC_RELAXED);
    add_double((uint64_t *)(void *)&cell->sum, value);
    extend(&cell->min, value, 1);
    extend(&cell->max, value, -1);
}

/* Into the thread's own cells; false when there is no memory left for them. */
static bool observe_own(const sonde__metric_view *view, sonde__lane_local *lane, uint32_t place,
                        uint32_t index, double value)
{
    uint64_t *count = NULL;
    __atomic_store_n(&lane->abi.observing, 1, __ATOMIC_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    if (grow_histograms(view, place, index)) {
        sonde_histogram_cell *cell = &lane->abi.histograms[index];
        lane->abi.histogram_limit =
            atomic_load(&sonde__metric_header_of(view)->lane_histograms[place]);
        count = count_cell(view, cell, value, false);
        if (count) {
            sonde_cell_add(count, 1);
            sonde_observe_rest(cell, value);
        }
    }
    atomic_signal_fence(memory_order_seq_cst);
    __atomic_store_n(&lane->abi.observing, 0, __ATOMIC_RELAXED);
    return count != NULL;
}

/* A handler that interrupts its own thread's put must not wait for it. */
static void put_in_window(const sonde__metric_view *view, uint32_t index, double value)
{
    static __thread volatile bool inside;
    sonde__window *window = sonde__registry_window(index);
    bool nested = inside;
    inside = true;
    if (window && !sonde__window_put(window, value, !nested))
        atomic_fetch_add(&sonde__metric_header_of(view)->window_skipped, 1);
    inside = nested;
}

void sonde_histogram_observe_slow(sonde_histogram *histogram, double value)
{
    uint32_t index = histogram->index & ~SONDE__EXACT;
    if (index >= SONDE__HISTOGRAMS_MAX)
        return;
    const sonde__metric_view *view = sonde__metric_store_in_use();
    if (!view) {
        lose();
        return;
    }
    if (isnan(value)) {
        atomic_fetch_add(&sonde__metric_header_of(view)->not_numbers, 1);
        return;
    }
    if (histogram->index & SONDE__EXACT)
        put_in_window(view, index, value);
    uint32_t place = 0;
    bool nested = __atomic_load_n(&sonde__lane->observing, __ATOMIC_RELAXED) != 0;
    sonde__lane_local *lane = nested ? NULL : own_lane(view, &place);
    if (!lane || !observe_own(view, lane, place, index, value))
        observe_shared(view, index, value);
}

/* --- about itself --- */

void sonde_metric_stats_get(sonde_metric_stats *out)
{
    *out = (sonde_metric_stats){.no_store = atomic_load(&no_store)};
    const sonde__metric_view *view = sonde__metric_store_in_use();
    out->reason = sonde__metric_store_reason();
    out->shared_memory = view && out->reason == SONDE_OK;
    if (!view)
        return;
    sonde__metric_header *header = sonde__metric_header_of(view);
    out->negative_steps = atomic_load(&header->negative_steps);
    out->not_numbers = atomic_load(&header->not_numbers);
    out->series_over = atomic_load(&header->series_over);
    out->refused = atomic_load(&header->refused);
    out->values_cut = atomic_load(&header->values_cut);
    out->window_skipped = atomic_load(&header->window_skipped);
    out->shared_cells = atomic_load(&header->shared_cells);
    out->counters = atomic_load(&header->counters);
    out->gauges = atomic_load(&header->gauges);
    out->histograms = atomic_load(&header->histograms);
    out->lanes = atomic_load(&header->lanes);
    out->blocks = atomic_load(&header->blocks) - 1;
    out->bytes = atomic_load(&header->backed) + atomic_load(&header->series_end) +
                 out->gauges * sizeof(uint64_t);
}

void sonde__metric_cells_after_fork(void)
{
    atomic_store(&growing, 0);
}
