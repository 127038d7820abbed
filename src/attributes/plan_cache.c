/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes/plan_cache.h"

#include "attributes/attribute_table.h"
#include "attributes/text_hash.h"
#include "base/ids.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 4 };

typedef struct plan_step {
    sonde__cell *cell; /* NULL: counted as overflow */
    int64_t count;
    sonde__operation operation;
    bool by_time;
} plan_step;

typedef struct sonde__plan {
    uint64_t epoch; /* of the map that the cells are in */
    uint32_t step_count;
    uint32_t identity_len;
    plan_step steps[]; /* then the identity */
} sonde__plan;

void sonde__plan_cache_init(sonde__plan_cache *cache)
{
    *cache = (sonde__plan_cache){.seed = sonde__id_random()};
    sonde__buf_init(&cache->identity, SONDE__PLAN_IDENTITY_MAX);
}

void sonde__plan_cache_free(sonde__plan_cache *cache)
{
    for (size_t i = 0; cache->places && i < SONDE__PLANS_MAX; i++)
        free(cache->places[i].plan);
    free(cache->places);
    sonde__buf_free(&cache->identity);
}

static char *put(char *out, const void *bytes, size_t len)
{
    memcpy(out, bytes, len);
    return out + len;
}

static char *put_list(char *out, const char *end, const sonde_data *data, const sonde__datum *list)
{
    for (size_t i = 0; out && i < list->len; i++) {
        const sonde__span *item = &data->items[list->at + i];
        if ((size_t)(end - out) < sizeof item->len + item->len)
            return NULL;
        out = put(out, &item->len, sizeof item->len);
        out = put(out, data->text.data + item->at, item->len);
    }
    return out;
}

/* Kind, length and bytes of a value. NULL: no room. */
static char *put_datum(char *out, const char *end, const sonde_data *data,
                       const sonde__datum *datum)
{
    bool text = datum->kind == SONDE__DATUM_TEXT || datum->kind == SONDE__DATUM_OTHER;
    if ((size_t)(end - out) < 16 + (text ? datum->len : 0))
        return NULL;
    *out++ = (char)datum->kind;
    if (datum->kind == SONDE__DATUM_BOOL) {
        *out++ = (char)datum->truthy;
        return out;
    }
    if (text || datum->kind == SONDE__DATUM_LIST)
        out = put(out, &datum->len, sizeof datum->len);
    if (text)
        return put(out, sonde__datum_text(data, datum), datum->len);
    if (datum->kind == SONDE__DATUM_LIST)
        return put_list(out, end, data, datum);
    return put(out, &datum->number, sizeof datum->number);
}

/* Everything that decides which metrics a record updates. Of the time that is only whether there is
   one, unless its value is part of a name. */
static bool identify(sonde__plan_cache *cache, const sonde_data *data, sonde__number time)
{
    sonde__buf *identity = &cache->identity;
    const sonde_attributes *table = data->table;
    sonde__buf_clear(identity);
    if (!sonde__buf_reserve(identity, SONDE__PLAN_IDENTITY_MAX))
        return false;
    char *out = identity->data;
    const char *end = out + SONDE__PLAN_IDENTITY_MAX;
    for (size_t i = 0; out && i < table->count; i++) {
        if ((int)i != table->roles[SONDE__ROLE_TIME] || table->time_is_named)
            out = put_datum(out, end, data, &data->values[i]);
    }
    if (!out || out == end)
        return false;
    *out++ = sonde__number_real(time) > 0 ? '+' : '0';
    identity->len = (size_t)(out - identity->data);
    return true;
}

/* The places a plan can be in: together one cache line. */
static sonde__plan_place *set_of(const sonde__plan_cache *cache)
{
    return &cache->places[cache->hash % (SONDE__PLANS_MAX / WAYS) * WAYS];
}

static bool is_plan(const sonde__plan_place *place, const sonde__plan_cache *cache, uint64_t epoch)
{
    const sonde__plan *plan = place->plan;
    return plan && place->hash == cache->hash && plan->epoch == epoch &&
           plan->identity_len == cache->identity.len &&
           memcmp(&plan->steps[plan->step_count], cache->identity.data, plan->identity_len) == 0;
}

static void run_plan(const sonde__plan *plan, sonde_usage *usage, const sonde__application *how)
{
    bool new_day = sonde__usage_new_day(usage, how);
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const plan_step *step = &plan->steps[i];
        if (!step->cell) {
            usage->overflow++;
            continue;
        }
        int64_t sum;
        bool plain = step->operation == SONDE__OP_SUM && !step->by_time && !step->cell->is_real;
        if (plain && !__builtin_add_overflow(step->cell->value.integer, step->count, &sum)) {
            step->cell->value.integer = sum;
            continue;
        }
        const sonde__update update = {.by_time = step->by_time, .amount.as.integer = step->count};
        sonde__cell_apply(step->cell, step->operation, sonde__update_amount(&update, how->time),
                          new_day);
    }
    sonde__usage_counted(usage, how);
}

bool sonde__plan_cache_apply(sonde__plan_cache *cache, sonde_usage *usage, const sonde_data *data,
                             const sonde__application *how)
{
    if (!identify(cache, data, how->time)) {
        cache->identity.len = 0;
        return false;
    }
    cache->hash = sonde__hash_text(cache->identity.data, cache->identity.len, cache->seed);
    if (!cache->places)
        return false;
    bool known = false;
    const sonde__plan_place *set = set_of(cache);
    sonde__usage_lock(usage);
    for (size_t i = 0; !known && i < WAYS; i++) {
        known = is_plan(&set[i], cache, usage->epoch);
        if (known)
            run_plan(set[i].plan, usage, how);
    }
    sonde__usage_unlock(usage);
    return known;
}

/* The place for the record at hand: where it was noted before, else a free one, else one whose plan
   is no longer good, else any. */
static sonde__plan_place *choose_place(sonde__plan_cache *cache, uint64_t epoch)
{
    sonde__plan_place *set = set_of(cache);
    sonde__plan_place *chosen = NULL;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].hash == cache->hash)
            return &set[i];
        if (!set[i].plan || set[i].plan->epoch != epoch)
            chosen = &set[i];
    }
    return chosen ? chosen : &set[cache->victim++ % WAYS];
}

/* Only the built-in builders' updates, which are whole numbers of counts or times, get here. */
static void fill_plan(sonde__plan *plan, const sonde__plan_cache *cache,
                      const sonde_updates *updates)
{
    plan->epoch = updates->epoch;
    plan->step_count = (uint32_t)updates->count;
    plan->identity_len = (uint32_t)cache->identity.len;
    for (size_t i = 0; i < updates->count; i++) {
        const sonde__update *update = &updates->rows[i];
        plan->steps[i] = (plan_step){update->cell, update->amount.as.integer, update->operation,
                                     update->by_time};
    }
    memcpy(&plan->steps[updates->count], cache->identity.data, cache->identity.len);
}

static bool make_places(sonde__plan_cache *cache)
{
    const size_t bytes = SONDE__PLANS_MAX * sizeof(sonde__plan_place);
    cache->places = aligned_alloc(WAYS * sizeof(sonde__plan_place), bytes);
    if (cache->places)
        memset(cache->places, 0, bytes);
    return cache->places != NULL;
}

void sonde__plan_cache_remember(sonde__plan_cache *cache, const sonde_updates *updates)
{
    if (cache->identity.len == 0 || updates->count > SONDE__PLAN_UPDATES_MAX)
        return;
    if (!cache->places && !make_places(cache))
        return;
    sonde__plan_place *place = choose_place(cache, updates->epoch);
    bool noted = place->hash == cache->hash;
    free(place->plan);
    *place = (sonde__plan_place){cache->hash, NULL};
    if (!noted)
        return;
    place->plan =
        malloc(sizeof(sonde__plan) + updates->count * sizeof(plan_step) + cache->identity.len);
    if (place->plan)
        fill_plan(place->plan, cache, updates);
}
