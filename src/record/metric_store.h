/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of all metrics of the process: descriptions of the series, gauge cells, and for each
   lane its counters and histogram cells, with octave blocks from one pool. It is mapped once and
   never moved or unmapped, so that the inline hot path needs no protection against a session that
   closes. It lies in a nameless file of /dev/shm that has a name, sonde-metrics.UID.RUN, while a
   session is open; in private memory where that cannot be. A forked child has a new one.
   docs/journal-format.md specifies the file; a change of these structs is a new layout number. */
#ifndef SONDE_RECORD_METRIC_STORE_H
#define SONDE_RECORD_METRIC_STORE_H

#include "record/limits.h"
#include "record/metric_limits.h"
#include "sonde/lane_abi.h"
#include "sonde/metric_set.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SONDE__METRIC_MAGIC "SONDEMET"
enum { SONDE__METRIC_LAYOUT = 1 };

typedef struct sonde__metric_header {
    uint8_t magic[8];
    uint32_t layout;
    uint32_t pid;
    uint32_t lanes_max;
    uint32_t uid;
    _Atomic uint64_t run;
    _Atomic uint64_t series_end; /* bytes of descriptions */
    _Atomic uint32_t counters;   /* in use: indexes below this */
    _Atomic uint32_t gauges;
    _Atomic uint32_t histograms;
    _Atomic uint32_t lanes;
    _Atomic uint32_t blocks; /* given out; the first is never used */
    uint32_t reserved;
    _Atomic uint64_t backed; /* bytes of memory behind the file */
    /* what could not be done as asked: see sonde_metric_stats */
    _Atomic uint64_t negative_steps;
    _Atomic uint64_t not_numbers;
    _Atomic uint64_t series_over;
    _Atomic uint64_t refused;
    _Atomic uint64_t values_cut;
    _Atomic uint64_t window_skipped;
    _Atomic uint64_t shared_cells;
    /* cells of each lane that have memory: indexes below these */
    _Atomic uint32_t lane_counters[SONDE__METRIC_LANES];
    _Atomic uint32_t lane_histograms[SONDE__METRIC_LANES];
} sonde__metric_header;
_Static_assert(sizeof(sonde__metric_header) <= 4096, "segment format");

/* A series: this, then name, help, keys and values in turn, each with its NUL; padded to 8. */
typedef struct sonde__metric_series {
    uint32_t bytes; /* of the whole */
    uint32_t index;
    uint8_t kind; /* sonde_metric_kind */
    uint8_t labels;
    uint8_t overflow;
    uint8_t reserved[5];
    _Atomic uint64_t base; /* counters: what to take off, by resets */
} sonde__metric_series;
_Static_assert(sizeof(sonde__metric_series) == 24, "segment format");
_Static_assert(sizeof(sonde_histogram_cell) == SONDE__HISTOGRAM_CELL_BYTES, "segment format");
_Static_assert(sizeof(sonde_lane) == 64, "ABI");

/* Where things are, from the number of lanes alone. */
typedef struct sonde__metric_layout {
    uint64_t series;
    uint64_t gauges;
    uint64_t blocks;
    uint64_t lanes;
    uint64_t lane_stride;
    uint64_t histograms; /* within a lane */
    uint64_t size;
} sonde__metric_layout;

sonde__metric_layout sonde__metric_layout_of(uint32_t lanes_max);

/* A store, or a copy of one that was read from a file. */
typedef struct sonde__metric_view {
    uint8_t *base;
    sonde__metric_layout at;
    uint32_t lanes_max;
} sonde__metric_view;

static inline sonde__metric_header *sonde__metric_header_of(const sonde__metric_view *view)
{
    return (sonde__metric_header *)(void *)view->base;
}

static inline uint64_t *sonde__metric_counters(const sonde__metric_view *view, uint32_t lane)
{
    return (uint64_t *)(void *)(view->base + view->at.lanes + lane * view->at.lane_stride);
}

static inline sonde_histogram_cell *sonde__metric_histograms(const sonde__metric_view *view,
                                                             uint32_t lane)
{
    return (sonde_histogram_cell *)(void *)(view->base + view->at.lanes +
                                            lane * view->at.lane_stride + view->at.histograms);
}

static inline uint64_t *sonde__metric_gauge(const sonde__metric_view *view, uint32_t index)
{
    return (uint64_t *)(void *)(view->base + view->at.gauges) + index;
}

static inline uint64_t *sonde__metric_block(const sonde__metric_view *view, uint32_t block)
{
    return (uint64_t *)(void *)(view->base + view->at.blocks) +
           (uint64_t)block * SONDE_OCTAVE_BUCKETS;
}

/* The store of this process, made when there is none; NULL without memory. */
const sonde__metric_view *sonde__metric_store(void);

/* The same, NULL instead of making it. No lock. */
const sonde__metric_view *sonde__metric_store_now(void);

/* The same for users: notices a fork, and describes the known series in a store that is new. */
const sonde__metric_view *sonde__metric_store_in_use(void);

/* Puts memory behind bytes at offset of the store. False: there is none left. Async-signal-safe. */
bool sonde__metric_store_back(uint64_t offset, uint64_t bytes);

/* An octave block, zeroed; 0: none left. Lane 0 may use the pool's reserve. Any thread, no lock. */
uint16_t sonde__metric_store_block(bool reserve);

/* Gives the store a name for the given run (shared false: it stays without one), and takes it
   away. */
void sonde__metric_store_publish(uint64_t run, bool shared);
void sonde__metric_store_withdraw(void);

/* Opens the store of a process for reading. -1 with errno. */
int sonde__metric_store_open(const char *path);

/* Why other processes cannot read the store; OK when they can, once a session is open. */
sonde_status sonde__metric_store_reason(void);

/* In a forked child: the memory is gone, a new store is made at first use. */
void sonde__metric_store_after_fork(void);

/* Removes what a dead process left. */
void sonde__metric_store_remove(uint64_t run);

/* The same for all of this user's processes that left no segment, which recovery would find. A
   store is locked as long as its process has it mapped. */
void sonde__metric_store_sweep(void);

/* Where the file of a run is. */
enum { SONDE__METRIC_PATH_BYTES = SONDE__SHM_DIR_MAX + 48 };
void sonde__metric_store_path(uint64_t run, char out[SONDE__METRIC_PATH_BYTES]);

#endif
