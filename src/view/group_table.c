/* SPDX-License-Identifier: Apache-2.0 */
#include "view/group_table.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

/* Words of eight bytes; the last one overlaps the one before. */
static uint64_t hash_of(sonde__text name)
{
    uint64_t hash = 0x9e3779b97f4a7c15u ^ name.len;
    uint64_t rest = 0;
    if (name.len >= 8) {
        for (size_t i = 0; i + 8 < name.len; i += 8) {
            hash = (hash ^ sonde__word_at(name.data + i)) * 0xff51afd7ed558ccdu;
            hash ^= hash >> 32;
        }
        rest = sonde__word_at(name.data + name.len - 8);
    } else {
        for (size_t i = 0; i < name.len; i++)
            rest = rest << 8 | (unsigned char)name.data[i];
    }
    hash = (hash ^ rest) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 29;
}

static void free_group(sonde__group *group)
{
    if (!group)
        return;
    sonde__times_free(&group->times);
    free(group->busy);
    free(group->text);
    free(group);
}

static sonde__group *make_group(sonde__text name, int64_t layer, bool with_busy)
{
    sonde__group *group = calloc(1, sizeof *group);
    char *copy = malloc(name.len + 1);
    if (group && with_busy)
        group->busy = calloc(1, sizeof *group->busy);
    if (!group || !copy || (with_busy && !group->busy)) {
        free_group(group);
        free(copy);
        return NULL;
    }
    if (name.len > 0)
        memcpy(copy, name.data, name.len);
    copy[name.len] = '\0';
    group->text = copy;
    group->name = (sonde__text){copy, name.len};
    group->layer = layer;
    group->is_cpu = sonde__text_is(name, "cpu");
    group->is_igpu = sonde__text_is(name, "igpu");
    group->has_expert = name.len > 0 && memmem(name.data, name.len, "expert", 6) != NULL;
    sonde__times_init(&group->times);
    return group;
}

/* The slot of name, or the free one where it belongs. There is always a free one. */
static sonde__group_slot *slot_of(const sonde__group_table *table, sonde__text name)
{
    uint64_t hash = hash_of(name);
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = hash & (table->slot_count - 1);
    sonde__group_slot *slot = &table->slots[at];
    while (slot->index &&
           (slot->tag != tag || !sonde__text_same(table->groups[slot->index - 1]->name, name))) {
        at = (at + 1) & (table->slot_count - 1);
        slot = &table->slots[at];
    }
    if (!slot->index)
        slot->tag = tag;
    return slot;
}

static bool grow(sonde__group_table *table)
{
    size_t slot_count = table->slot_count ? table->slot_count * 2 : FIRST_SLOTS;
    size_t cap = slot_count / 2;
    sonde__group_slot *slots = calloc(slot_count, sizeof *slots);
    sonde__group **groups = realloc(table->groups, cap * sizeof(sonde__group *));
    if (groups)
        table->groups = groups;
    if (!slots || !groups) {
        free(slots);
        return false;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    table->cap = cap;
    for (size_t i = 0; i < table->count; i++)
        slot_of(table, groups[i]->name)->index = (uint32_t)i + 1;
    return true;
}

static sonde__group *add_group(sonde__group_table *table, sonde__text name, int64_t layer)
{
    if (table->count == table->cap && !grow(table))
        return NULL;
    sonde__group *group = make_group(name, layer, table->with_busy);
    if (!group)
        return NULL;
    sonde__group_slot *slot = slot_of(table, group->name);
    table->groups[table->count++] = group;
    slot->index = (uint32_t)table->count;
    return group;
}

/* A name comes again from the same place, mostly: the strings of a frame. */
static sonde__group **recent_of(sonde__group_table *table, sonde__text name)
{
    uintptr_t place = (uintptr_t)name.data;
    return &table->recent[(place ^ place >> 4 ^ name.len) % SONDE__GROUPS_RECENT];
}

sonde__group *sonde__group_get(sonde__group_table *table, sonde__text name, int64_t layer)
{
    sonde__group **recent = recent_of(table, name);
    if (*recent && sonde__text_same((*recent)->name, name))
        return *recent;
    const sonde__group_slot *slot = table->slot_count ? slot_of(table, name) : NULL;
    if (slot && slot->index)
        return *recent = table->groups[slot->index - 1];
    if (table->count >= SONDE__GROUPS_MAX) {
        if (!table->others)
            table->others = add_group(table, (sonde__text){"(others)", 8}, SONDE__NO_LAYER);
        return table->others;
    }
    return *recent = add_group(table, name, layer);
}

const sonde__group *sonde__group_find(const sonde__group_table *table, const char *name)
{
    if (table->slot_count == 0)
        return NULL;
    const sonde__group_slot *slot = slot_of(table, (sonde__text){name, strlen(name)});
    return slot->index ? table->groups[slot->index - 1] : NULL;
}

void sonde__group_add(sonde__group *group, const sonde__packet *packet, const sonde__group *device)
{
    group->count++;
    if (packet->memory_mb > group->memory_mb_max)
        group->memory_mb_max = packet->memory_mb;
    if (group->busy)
        sonde__busy_add(group->busy, sonde__packet_start_ns(packet), packet->end_ns);
    if (!packet->success) {
        group->failed++;
        group->failed_ns += packet->duration_ns;
        return;
    }
    group->cpu += device->is_cpu;
    group->igpu += device->is_igpu;
    sonde__times_add(&group->times, packet->duration_ns);
}

void sonde__group_table_free(sonde__group_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free_group(table->groups[i]);
    free(table->groups);
    free(table->slots);
    *table = (sonde__group_table){.with_busy = table->with_busy};
}
