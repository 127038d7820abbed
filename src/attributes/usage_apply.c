/* SPDX-License-Identifier: Apache-2.0 */
/* First every update finds its cell, which can fail and is undone; then the amounts are added,
   which cannot. */
#include "attributes/usage_apply.h"

#include "attributes/datetime.h"

enum { CACHE_LINE = 64 };

void sonde__cell_apply(sonde__cell *cell, sonde__operation operation, sonde__number amount,
                       bool new_day)
{
    sonde__number old = sonde__cell_number(cell);
    bool replace =
        cell->fresh || operation == SONDE__OP_LAST || (operation == SONDE__OP_DAILY && new_day) ||
        (operation == SONDE__OP_MAX && sonde__number_real(amount) > sonde__number_real(old));
    if (replace)
        sonde__cell_set(cell, amount);
    else if (operation != SONDE__OP_MAX)
        sonde__cell_set(cell, sonde__number_add(old, amount));
}

bool sonde__usage_new_day(const sonde_usage *usage, const sonde__application *how)
{
    const sonde_datetime *previous = &how->previous;
    if (previous->year == 0)
        previous = &usage->last_updated;
    return previous->year != 0 && sonde__datetime_new_day(&how->now, previous, how->compat);
}

void sonde__usage_counted(sonde_usage *usage, const sonde__application *how)
{
    usage->compat = how->compat;
    if (how->alone)
        return;
    usage->records++;
    usage->last_updated = how->now;
}

/* Whether a new metric has a place; the parent's metrics count with ours. */
static sonde_status admit(const sonde_usage *usage, const char *key, size_t len, bool compat,
                          bool *in_parent)
{
    const sonde_usage *parent = usage->parent;
    *in_parent = false;
    if (parent) {
        const sonde__cell *cell =
            sonde__usage_find(parent, key, len, sonde__usage_hash(parent, key, len));
        if (cell && cell->operation == SONDE__OP_RAW)
            return SONDE_EBADDATA;
        *in_parent = cell != NULL;
    }
    size_t known = (parent ? parent->count : 0) + usage->beyond_parent;
    return *in_parent || compat || known < usage->limit ? SONDE_OK : SONDE_ELIMIT;
}

static sonde_status find_cell(sonde_usage *usage, const sonde_updates *updates,
                              sonde__update *update, bool compat)
{
    const char *key = updates->keys.data + update->key;
    sonde__cell *cell = sonde__usage_find(usage, key, update->key_len, update->hash);
    update->cell = NULL;
    if (!cell) {
        bool in_parent;
        sonde_status status = admit(usage, key, update->key_len, compat, &in_parent);
        if (status == SONDE_ELIMIT)
            return SONDE_OK;
        if (status != SONDE_OK)
            return status;
        cell = sonde__usage_insert(usage, key, update->key_len, update->hash);
        if (!cell)
            return SONDE_ENOMEM;
        usage->beyond_parent += !in_parent;
    }
    if (cell->operation == SONDE__OP_RAW)
        return SONDE_EBADDATA;
    if (cell->operation == SONDE__OP_ANY)
        cell->operation = (uint8_t)update->operation;
    if (cell->operation != update->operation)
        return SONDE_EINVAL;
    update->cell = cell;
    return SONDE_OK;
}

/* The memory of a large map is far away: what all lookups will need is asked for before the first
   of them waits for it. */
static void hash_keys(const sonde_usage *usage, sonde_updates *updates)
{
    for (size_t i = 0; i < updates->count; i++) {
        sonde__update *update = &updates->rows[i];
        update->hash = sonde__usage_hash(usage, updates->keys.data + update->key, update->key_len);
        __builtin_prefetch(&usage->slots[update->hash & usage->slot_mask]);
    }
    for (size_t i = 0; i < updates->count; i++) {
        uint64_t slot = usage->slots[updates->rows[i].hash & usage->slot_mask];
        if (slot != 0)
            __builtin_prefetch(sonde__usage_cell(usage, (uint32_t)slot - 1u));
    }
    for (size_t i = 0; i < updates->count; i++) {
        uint64_t slot = usage->slots[updates->rows[i].hash & usage->slot_mask];
        if (slot == 0)
            continue;
        const char *key = sonde__usage_cell(usage, (uint32_t)slot - 1u)->key;
        for (size_t line = 0; line < updates->rows[i].key_len; line += CACHE_LINE)
            __builtin_prefetch(key + line);
    }
}

static void add_amounts(sonde_usage *usage, const sonde_updates *updates, size_t count,
                        const sonde__application *how)
{
    bool new_day = sonde__usage_new_day(usage, how);
    for (size_t i = 0; i < count; i++) {
        const sonde__update *update = &updates->rows[i];
        if (update->cell)
            sonde__cell_apply(update->cell, update->operation,
                              sonde__update_amount(update, how->time), new_day);
        else
            usage->overflow++;
    }
}

sonde_status sonde__usage_apply(sonde_usage *usage, sonde_updates *updates,
                                const sonde__application *how, const sonde__update **bad)
{
    sonde__usage_lock(usage);
    sonde__usage_mark mark = sonde__usage_mark_now(usage);
    sonde_status status = SONDE_OK;
    size_t found = 0;
    updates->epoch = usage->epoch;
    hash_keys(usage, updates);
    for (; found < updates->count; found++) {
        status = find_cell(usage, updates, &updates->rows[found], how->compat);
        if (status != SONDE_OK)
            break;
    }
    if (status != SONDE_OK && bad)
        *bad = &updates->rows[found];
    if (status == SONDE_OK || how->compat)
        add_amounts(usage, updates, found, how);
    else
        sonde__usage_undo(usage, mark);
    if (status == SONDE_OK)
        sonde__usage_counted(usage, how);
    sonde__usage_unlock(usage);
    return status;
}
