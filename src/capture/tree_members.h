/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a process tree: a list in the order they were found, with look-up by process id.
   A member is a process id and its start time, since ids are used again. */
#ifndef SONDE_CAPTURE_TREE_MEMBERS_H
#define SONDE_CAPTURE_TREE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SONDE__TREE_MAX = 65536 }; /* processes in a tree; 48 bytes each and 8 for the look-up */

typedef struct sonde__tree_member {
    uint32_t pid;
    uint32_t threads;
    uint64_t parent;
    uint64_t start_ticks;
    uint64_t user_ticks;   /* with those of children waited for */
    uint64_t system_ticks; /* likewise */
    bool orphan;           /* its parent is not in the tree, though it once was */
} sonde__tree_member;

typedef struct sonde__tree_members {
    sonde__tree_member *member;
    size_t count;
    size_t cap;
    uint32_t *slot; /* index + 1 by hash of the pid; 0: free */
    size_t slots;   /* a power of two, more than twice count */
} sonde__tree_members;

/* Appends a copy. False when the pid is there already, without memory or beyond the limit. */
bool sonde__tree_add(sonde__tree_members *members, const sonde__tree_member *member);

/* The member with this pid, borrowed until the next change; NULL: none. */
const sonde__tree_member *sonde__tree_find(const sonde__tree_members *members, uint64_t pid);

void sonde__tree_clear(sonde__tree_members *members);
void sonde__tree_free(sonde__tree_members *members);

#endif
