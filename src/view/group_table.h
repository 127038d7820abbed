/* SPDX-License-Identifier: Apache-2.0 */
/* Totals by name, in the order the names were first seen. Bounded: beyond the limit everything
   further goes to one group, so that sums stay exact. */
#ifndef SONDE_VIEW_GROUP_TABLE_H
#define SONDE_VIEW_GROUP_TABLE_H

#include "view/busy.h"
#include "view/packet.h"
#include "view/times.h"

enum {
    SONDE__GROUPS_MAX = 1024, /* names of one table; about 0.7 KiB each, 0.5 KiB per octave */
    SONDE__GROUPS_RECENT = 16,
};

typedef struct sonde__group {
    sonde__text name;                 /* within text */
    char *text;                       /* owned, NUL-terminated */
    int64_t layer;                    /* of the packet it was first seen with */
    bool is_cpu, is_igpu, has_expert; /* what the name says */
    uint64_t count;
    uint64_t failed;
    uint64_t failed_ns;
    uint64_t cpu; /* successes by device */
    uint64_t igpu;
    double memory_mb_max;
    sonde__times times; /* of the successes */
    sonde__busy *busy;  /* NULL: not asked for */
} sonde__group;

typedef struct sonde__group_slot {
    uint32_t index; /* into groups, plus 1; 0: free */
    uint32_t tag;   /* high half of the name's hash */
} sonde__group_slot;

typedef struct sonde__group_table {
    sonde__group **groups;
    size_t count;
    size_t cap;
    sonde__group_slot *slots;
    size_t slot_count;
    sonde__group *recent[SONDE__GROUPS_RECENT]; /* groups found last, by place and length of name */
    sonde__group *others;
    bool with_busy;
} sonde__group_table;

/* A zeroed table is empty; with_busy may be set before the first use. */
void sonde__group_table_free(sonde__group_table *table);

/* The group of that name, made when it is new. NULL when memory is out. */
sonde__group *sonde__group_get(sonde__group_table *table, sonde__text name, int64_t layer);

/* NULL when there is none. */
const sonde__group *sonde__group_find(const sonde__group_table *table, const char *name);

/* device: the packet's group by device. */
void sonde__group_add(sonde__group *group, const sonde__packet *packet, const sonde__group *device);

#endif
