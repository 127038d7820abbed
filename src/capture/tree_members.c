/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/tree_members.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_MEMBERS = 64 };

static size_t hash(const sonde__tree_members *members, uint64_t pid)
{
    return (size_t)(pid * 0x9E3779B97F4A7C15u >> 32) & (members->slots - 1);
}

/* The slot that holds pid, or the free one where it belongs. */
static size_t find_slot(const sonde__tree_members *members, uint64_t pid)
{
    size_t at = hash(members, pid);
    while (members->slot[at] && members->member[members->slot[at] - 1].pid != pid)
        at = (at + 1) & (members->slots - 1);
    return at;
}

static bool grow(sonde__tree_members *members)
{
    size_t cap = members->cap ? members->cap * 2 : FIRST_MEMBERS;
    if (cap > SONDE__TREE_MAX)
        return false;
    sonde__tree_member *grown = realloc(members->member, cap * sizeof *grown);
    if (grown)
        members->member = grown;
    uint32_t *slot = calloc(cap * 4, sizeof *slot);
    if (!grown || !slot) {
        free(slot);
        return false;
    }
    free(members->slot);
    members->slot = slot;
    members->slots = cap * 4;
    members->cap = cap;
    for (size_t i = 0; i < members->count; i++)
        slot[find_slot(members, members->member[i].pid)] = (uint32_t)i + 1;
    return true;
}

bool sonde__tree_add(sonde__tree_members *members, const sonde__tree_member *member)
{
    if (members->count == members->cap && !grow(members))
        return false;
    size_t at = find_slot(members, member->pid);
    if (members->slot[at])
        return false;
    members->member[members->count++] = *member;
    members->slot[at] = (uint32_t)members->count;
    return true;
}

const sonde__tree_member *sonde__tree_find(const sonde__tree_members *members, uint64_t pid)
{
    if (members->count == 0)
        return NULL;
    uint32_t index = members->slot[find_slot(members, pid)];
    return index ? &members->member[index - 1] : NULL;
}

void sonde__tree_clear(sonde__tree_members *members)
{
    members->count = 0;
    if (members->slots > 0)
        memset(members->slot, 0, members->slots * sizeof *members->slot);
}

void sonde__tree_free(sonde__tree_members *members)
{
    free(members->member);
    free(members->slot);
    *members = (sonde__tree_members){0};
}
