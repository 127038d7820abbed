/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a process and its descendants, again and again. */
#ifndef SONDE_CAPTURE_TREE_WALK_H
#define SONDE_CAPTURE_TREE_WALK_H

#include "base/buf.h"
#include "capture/kernel_file.h"
#include "capture/tree_members.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sonde__parent_pair {
    uint32_t pid;
    uint32_t parent;
} sonde__parent_pair;

typedef struct sonde__tree_walk {
    sonde__kernel_file proc;   /* the folder */
    bool has_children_files;   /* else every process of the machine is looked at */
    sonde__parent_pair *pairs; /* then: who is whose parent, by parent */
    size_t pair_count, pair_cap;
    sonde__tree_members now, before;                   /* of the last walk: the root first */
    sonde__buf text;                                   /* the file just read */
    sonde__buf children;                               /* the list of children being followed */
    char *listing;                                     /* entries of a folder */
    uint64_t retired_user_ticks, retired_system_ticks; /* of orphans that have ended */
} sonde__tree_walk;

/* proc: the folder, open; it is closed with the walk, also when this fails. ENOMEM. */
sonde_status sonde__tree_walk_open(sonde__tree_walk *walk, sonde__kernel_file proc, uint64_t root);

/* Finds the members now. EGONE: the root has ended. */
sonde_status sonde__tree_walk_go(sonde__tree_walk *walk, uint64_t root);

/* Reads PID/name below /proc into walk->text. EGONE: the process has ended. */
sonde_status sonde__tree_walk_read(sonde__tree_walk *walk, uint64_t pid, const char *name);

void sonde__tree_walk_close(sonde__tree_walk *walk);

#endif
