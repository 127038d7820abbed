/* SPDX-License-Identifier: Apache-2.0 */
/* The map of metrics: names in an arena, cells in chunks that never move, an open-addressing index
   of cell numbers with 32 bits of the hash beside each. A metric costs 32 bytes of cell and 12 to
   24 of index beside its name; nothing else grows. */
#ifndef SONDE_ATTRIBUTES_USAGE_MAP_H
#define SONDE_ATTRIBUTES_USAGE_MAP_H

#include "attributes/updates.h"
#include "sonde/usage_metrics.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SONDE__CELLS_PER_CHUNK = 1024,        /* 32 KiB */
    SONDE__ARENA_CHUNK_FIRST = 4 << 10,   /* doubled from chunk to chunk */
    SONDE__ARENA_CHUNK_MAX = 1 << 20,     /* up to this */
    SONDE__USAGE_CELLS_HARD_MAX = 1 << 28 /* cell numbers are of 32 bits: 8 GiB of cells */
};

/* operation of a cell that was imported: it takes on that of its first update. */
enum { SONDE__OP_ANY = 5 };

typedef struct sonde__cell {
    uint64_t hash;
    const char *key;
    union {
        int64_t integer;
        double real;
        const char *raw; /* OP_RAW: JSON text, NUL-terminated */
    } value;
    uint32_t key_len;
    uint8_t operation;
    bool is_real;
    bool fresh; /* inserted, not yet given a value */
    bool mark;  /* for an import: met in the document */
} sonde__cell;
_Static_assert(sizeof(sonde__cell) == 32, "bytes per metric");

typedef struct sonde__arena_chunk {
    struct sonde__arena_chunk *before;
    size_t used;
    size_t cap;
    char data[];
} sonde__arena_chunk;

struct sonde_usage {
    pthread_mutex_t *lock;
    sonde__cell **chunks;
    size_t chunk_count;
    size_t count;
    uint64_t *slots; /* 0: free; else cell number + 1, and the hash's upper half above it */
    size_t slot_mask;
    sonde__arena_chunk *arena;
    size_t limit;
    uint64_t seed;
    uint64_t epoch; /* changes when cells held from outside are no longer good */
    uint64_t overflow;
    uint64_t records;
    sonde_datetime last_updated; /* year 0: none */
    bool compat;                 /* by the rules of the original; for the file */
    const sonde_usage *parent;   /* what these updates will be added to; NULL: nothing */
    size_t beyond_parent;        /* metrics here that the parent does not have */
    uint64_t *sessions;          /* that were counted: 8 bytes each */
    size_t session_count;
    size_t session_cap;
};

/* Where a map was, to undo insertions. */
typedef struct sonde__usage_mark {
    size_t count;
    size_t beyond_parent;
    sonde__arena_chunk *arena;
    size_t arena_used;
} sonde__usage_mark;

static inline sonde__cell *sonde__usage_cell(const sonde_usage *usage, size_t number)
{
    return &usage->chunks[number / SONDE__CELLS_PER_CHUNK][number % SONDE__CELLS_PER_CHUNK];
}

/* The caller holds the lock for all of these. find: NULL when there is none. insert: the name is
   not in the map yet; NULL: no memory. */
sonde__cell *sonde__usage_find(const sonde_usage *usage, const char *key, size_t len,
                               uint64_t hash);
sonde__cell *sonde__usage_insert(sonde_usage *usage, const char *key, size_t len, uint64_t hash);
uint64_t sonde__usage_hash(const sonde_usage *usage, const char *key, size_t len);

/* Whether a session was counted, here or in the parent; and that it was. ENOMEM. */
bool sonde__usage_has_session(const sonde_usage *usage, uint64_t session);
sonde_status sonde__usage_add_session(sonde_usage *usage, uint64_t session);

/* A copy of text in the arena, NUL-terminated; NULL: no memory. */
const char *sonde__usage_keep(sonde_usage *usage, const char *text, size_t len);

/* Removes what was inserted since the mark. */
sonde__usage_mark sonde__usage_mark_now(const sonde_usage *usage);
void sonde__usage_undo(sonde_usage *usage, sonde__usage_mark mark);

/* Empties the map; memory beyond a small map's is given back. */
void sonde__usage_clear(sonde_usage *usage);

/* A new epoch: cells held from outside are looked up again. */
void sonde__usage_renew(sonde_usage *usage);

void sonde__usage_lock(const sonde_usage *usage);
void sonde__usage_unlock(const sonde_usage *usage);

/* Takes the number of a cell, or gives it. */
static inline sonde__number sonde__cell_number(const sonde__cell *cell)
{
    sonde__number number = {.is_real = cell->is_real};
    if (cell->is_real)
        number.as.real = cell->value.real;
    else
        number.as.integer = cell->value.integer;
    return number;
}

static inline void sonde__cell_set(sonde__cell *cell, sonde__number number)
{
    cell->is_real = number.is_real;
    if (number.is_real)
        cell->value.real = number.as.real;
    else
        cell->value.integer = number.as.integer;
    cell->fresh = false;
}

#endif
