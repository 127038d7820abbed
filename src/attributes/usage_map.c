/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes/usage_map.h"

#include "attributes/text_hash.h"
#include "base/ids.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 64 };

typedef struct usage_block {
    sonde_usage usage;
    pthread_mutex_t mutex;
} usage_block;

void sonde__usage_renew(sonde_usage *usage)
{
    static atomic_uint_fast64_t epochs;
    usage->epoch = atomic_fetch_add(&epochs, 1) + 1;
}

sonde_status sonde_usage_create(size_t metrics_max, sonde_usage **out)
{
    if (metrics_max > SONDE__USAGE_CELLS_HARD_MAX)
        return SONDE_EINVAL;
    usage_block *block = calloc(1, sizeof *block);
    uint64_t *slots = calloc(SLOTS_FIRST, sizeof *slots);
    if (!block || !slots) {
        free(block);
        free(slots);
        return SONDE_ENOMEM;
    }
    pthread_mutex_init(&block->mutex, NULL);
    block->usage = (sonde_usage){
        .lock = &block->mutex,
        .slots = slots,
        .slot_mask = SLOTS_FIRST - 1,
        .limit = metrics_max ? metrics_max : SONDE_USAGE_METRICS_MAX,
        .seed = sonde__id_random(),
    };
    sonde__usage_renew(&block->usage);
    *out = &block->usage;
    return SONDE_OK;
}

/* Frees the chunks made after the one to keep; NULL: all. */
static void free_arena(sonde_usage *usage, const sonde__arena_chunk *keep)
{
    while (usage->arena != keep) {
        sonde__arena_chunk *before = usage->arena->before;
        free(usage->arena);
        usage->arena = before;
    }
}

static void free_cells(sonde_usage *usage)
{
    for (size_t i = 0; i < usage->chunk_count; i++)
        free(usage->chunks[i]);
    free(usage->chunks);
    usage->chunks = NULL;
    usage->chunk_count = 0;
}

void sonde_usage_destroy(sonde_usage *usage)
{
    if (!usage)
        return;
    free_cells(usage);
    free_arena(usage, NULL);
    free(usage->slots);
    free(usage->sessions);
    pthread_mutex_destroy(usage->lock);
    free(usage);
}

void sonde__usage_clear(sonde_usage *usage)
{
    free_arena(usage, NULL);
    if (usage->chunk_count > 1)
        free_cells(usage);
    if (usage->slot_mask / 2 >= SONDE__CELLS_PER_CHUNK) {
        uint64_t *slots = calloc(SLOTS_FIRST, sizeof *slots);
        if (slots) {
            free(usage->slots);
            usage->slots = slots;
            usage->slot_mask = SLOTS_FIRST - 1;
        }
    }
    memset(usage->slots, 0, (usage->slot_mask + 1) * sizeof *usage->slots);
    usage->count = 0;
    usage->beyond_parent = 0;
    usage->overflow = 0;
    usage->records = 0;
    usage->session_count = 0;
    usage->last_updated = (sonde_datetime){0};
    sonde__usage_renew(usage);
}

uint64_t sonde__usage_hash(const sonde_usage *usage, const char *key, size_t len)
{
    return sonde__hash_text(key, len, usage->seed);
}

static uint64_t tag_of(uint64_t hash)
{
    return hash & 0xFFFFFFFF00000000u;
}

sonde__cell *sonde__usage_find(const sonde_usage *usage, const char *key, size_t len, uint64_t hash)
{
    for (size_t at = hash & usage->slot_mask;; at = (at + 1) & usage->slot_mask) {
        uint64_t slot = usage->slots[at];
        if (slot == 0)
            return NULL;
        if (tag_of(slot) != tag_of(hash))
            continue;
        sonde__cell *cell = sonde__usage_cell(usage, (uint32_t)slot - 1u);
        if (cell->key_len == len && memcmp(cell->key, key, len) == 0)
            return cell;
    }
}

static void place(uint64_t *slots, size_t mask, uint64_t hash, size_t number)
{
    size_t at = hash & mask;
    while (slots[at] != 0)
        at = (at + 1) & mask;
    slots[at] = tag_of(hash) | (uint64_t)(number + 1);
}

/* At two thirds full the index doubles. */
static bool grow_slots(sonde_usage *usage)
{
    size_t size = usage->slot_mask + 1;
    if ((usage->count + 1) * 3 <= size * 2)
        return true;
    uint64_t *slots = calloc(size * 2, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < usage->count; i++)
        place(slots, size * 2 - 1, sonde__usage_cell(usage, i)->hash, i);
    free(usage->slots);
    usage->slots = slots;
    usage->slot_mask = size * 2 - 1;
    return true;
}

static bool grow_cells(sonde_usage *usage)
{
    if (usage->count < usage->chunk_count * SONDE__CELLS_PER_CHUNK)
        return true;
    sonde__cell **chunks = realloc(usage->chunks, (usage->chunk_count + 1) * sizeof(void *));
    if (!chunks)
        return false;
    usage->chunks = chunks;
    chunks[usage->chunk_count] = malloc(SONDE__CELLS_PER_CHUNK * sizeof **chunks);
    if (!chunks[usage->chunk_count])
        return false;
    usage->chunk_count++;
    return true;
}

const char *sonde__usage_keep(sonde_usage *usage, const char *text, size_t len)
{
    sonde__arena_chunk *chunk = usage->arena;
    if (!chunk || chunk->cap - chunk->used < len + 1) {
        size_t cap = chunk ? chunk->cap * 2 : SONDE__ARENA_CHUNK_FIRST;
        cap = cap > SONDE__ARENA_CHUNK_MAX ? SONDE__ARENA_CHUNK_MAX : cap;
        cap = cap < len + 1 ? len + 1 : cap;
        chunk = malloc(sizeof *chunk + cap);
        if (!chunk)
            return NULL;
        *chunk = (sonde__arena_chunk){.before = usage->arena, .cap = cap};
        usage->arena = chunk;
    }
    char *copy = chunk->data + chunk->used;
    memcpy(copy, text, len);
    copy[len] = '\0';
    chunk->used += len + 1;
    return copy;
}

sonde__cell *sonde__usage_insert(sonde_usage *usage, const char *key, size_t len, uint64_t hash)
{
    if (usage->count == SONDE__USAGE_CELLS_HARD_MAX || !grow_slots(usage) || !grow_cells(usage))
        return NULL;
    const char *copy = sonde__usage_keep(usage, key, len);
    if (!copy)
        return NULL;
    sonde__cell *cell = sonde__usage_cell(usage, usage->count);
    *cell = (sonde__cell){.hash = hash,
                          .key = copy,
                          .key_len = (uint32_t)len,
                          .operation = SONDE__OP_ANY,
                          .fresh = true};
    place(usage->slots, usage->slot_mask, hash, usage->count++);
    return cell;
}

sonde__usage_mark sonde__usage_mark_now(const sonde_usage *usage)
{
    return (sonde__usage_mark){usage->count, usage->beyond_parent, usage->arena,
                               usage->arena ? usage->arena->used : 0};
}

/* The last inserted is taken out first, so nothing that stays was placed around what goes. */
void sonde__usage_undo(sonde_usage *usage, sonde__usage_mark mark)
{
    while (usage->count > mark.count) {
        size_t number = --usage->count;
        size_t at = sonde__usage_cell(usage, number)->hash & usage->slot_mask;
        while ((uint32_t)usage->slots[at] != number + 1)
            at = (at + 1) & usage->slot_mask;
        usage->slots[at] = 0;
    }
    usage->beyond_parent = mark.beyond_parent;
    free_arena(usage, mark.arena);
    if (usage->arena)
        usage->arena->used = mark.arena_used;
}

bool sonde__usage_has_session(const sonde_usage *usage, uint64_t session)
{
    for (size_t i = 0; i < usage->session_count; i++)
        if (usage->sessions[i] == session)
            return true;
    return usage->parent && sonde__usage_has_session(usage->parent, session);
}

sonde_status sonde__usage_add_session(sonde_usage *usage, uint64_t session)
{
    if (usage->session_count == usage->session_cap) {
        size_t cap = usage->session_cap ? usage->session_cap * 2 : 16;
        uint64_t *sessions = realloc(usage->sessions, cap * sizeof *sessions);
        if (!sessions)
            return SONDE_ENOMEM;
        usage->sessions = sessions;
        usage->session_cap = cap;
    }
    usage->sessions[usage->session_count++] = session;
    return SONDE_OK;
}

void sonde__usage_lock(const sonde_usage *usage)
{
    pthread_mutex_lock(usage->lock);
}

void sonde__usage_unlock(const sonde_usage *usage)
{
    pthread_mutex_unlock(usage->lock);
}

static sonde_status get_number(const sonde_usage *usage, const char *name, sonde__number *out)
{
    size_t len = strlen(name);
    sonde__usage_lock(usage);
    const sonde__cell *cell =
        sonde__usage_find(usage, name, len, sonde__usage_hash(usage, name, len));
    sonde_status status = !cell                              ? SONDE_EABSENT
                          : cell->operation == SONDE__OP_RAW ? SONDE_EINVAL
                                                             : SONDE_OK;
    if (status == SONDE_OK)
        *out = sonde__cell_number(cell);
    sonde__usage_unlock(usage);
    return status;
}

sonde_status sonde_usage_get(const sonde_usage *usage, const char *name, double *out)
{
    sonde__number number;
    sonde_status status = get_number(usage, name, &number);
    if (status == SONDE_OK)
        *out = sonde__number_real(number);
    return status;
}

sonde_status sonde_usage_get_int(const sonde_usage *usage, const char *name, int64_t *out)
{
    sonde__number number;
    sonde_status status = get_number(usage, name, &number);
    if (status == SONDE_OK && number.is_real)
        status = SONDE_EINVAL;
    if (status == SONDE_OK)
        *out = number.as.integer;
    return status;
}

size_t sonde_usage_count(const sonde_usage *usage)
{
    sonde__usage_lock(usage);
    size_t count = usage->count;
    sonde__usage_unlock(usage);
    return count;
}

uint64_t sonde_usage_records(const sonde_usage *usage)
{
    sonde__usage_lock(usage);
    uint64_t records = usage->records;
    sonde__usage_unlock(usage);
    return records;
}

uint64_t sonde_usage_overflow(const sonde_usage *usage)
{
    sonde__usage_lock(usage);
    uint64_t overflow = usage->overflow;
    sonde__usage_unlock(usage);
    return overflow;
}

sonde_status sonde_usage_last_updated(const sonde_usage *usage, sonde_datetime *out)
{
    sonde__usage_lock(usage);
    bool known = usage->last_updated.year != 0;
    if (known)
        *out = usage->last_updated;
    sonde__usage_unlock(usage);
    return known ? SONDE_OK : SONDE_EABSENT;
}
