/* SPDX-License-Identifier: Apache-2.0 */
/* The walk goes from parents to children, each process is read once,
   a parent before its children. That order is what keeps CPU time and I/O from counting twice: a
   child's totals move to its parent when it is waited for, so a parent read after its child could
   hold what was counted with the child already. Read before, it cannot; what moves in between is
   missed by this reading and is in the next.
   A process whose parent ends is handed to init or to a subreaper outside the tree: it stays a
   member because it is remembered from the reading before, by id and start time. When such an
   orphan ends nobody in the tree inherits its totals, so they are kept here. */
#include "capture/tree_walk.h"

#include "base/errno_status.h"
#include "capture/capture_limits.h"
#include "capture/machine_parsers.h"
#include "capture/parsers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READ_BYTES = 4096, LISTING_BYTES = 32768 };

/* Reads PID/name below /proc into text. */
static sonde_status read_into(const sonde__tree_walk *walk, uint64_t pid, const char *name,
                              sonde__buf *text)
{
    char path[64];
    snprintf(path, sizeof path, "%llu/%s", (unsigned long long)pid, name);
    sonde__buf_clear(text);
    int fd = openat(walk->proc.fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? SONDE_EGONE : sonde__status_of_errno(errno);
    sonde_status status = SONDE_OK;
    for (bool whole = false; !whole && status == SONDE_OK;) {
        if (!sonde__buf_reserve(text, READ_BYTES)) {
            status = text->status;
            break;
        }
        size_t room = text->cap - text->len;
        ssize_t got = read(fd, text->data + text->len, room);
        if (got < 0)
            status = sonde__status_of_errno(errno);
        else
            text->len += (size_t)got;
        whole = got >= 0 && (size_t)got < room; /* these files come in one piece */
    }
    close(fd);
    return status;
}

sonde_status sonde__tree_walk_read(sonde__tree_walk *walk, uint64_t pid, const char *name)
{
    return read_into(walk, pid, name, &walk->text);
}

static sonde_status read_member(sonde__tree_walk *walk, uint64_t pid, sonde__tree_member *out)
{
    sonde__pid_stat stat;
    uint64_t parent;
    sonde_status status = sonde__tree_walk_read(walk, pid, "stat");
    if (status == SONDE_OK)
        status = sonde__parse_pid_stat(walk->text.data, walk->text.len, &stat);
    if (status == SONDE_OK)
        status = sonde__parse_pid_parent(walk->text.data, walk->text.len, &parent);
    if (status != SONDE_OK)
        return status;
    *out = (sonde__tree_member){
        .pid = (uint32_t)pid,
        .threads = (uint32_t)stat.threads,
        .parent = parent,
        .start_ticks = stat.start_ticks,
        .user_ticks = stat.user_ticks + stat.children_user_ticks,
        .system_ticks = stat.system_ticks + stat.children_system_ticks,
    };
    return SONDE_OK;
}

static bool was_member(const sonde__tree_walk *walk, const sonde__tree_member *member)
{
    const sonde__tree_member *before = sonde__tree_find(&walk->before, member->pid);
    return before && before->start_ticks == member->start_ticks;
}

/* Takes a process that was listed as a child. Its id may belong to another by now: it is ours when
   it names that parent, or when it was ours before. */
static void take_child(sonde__tree_walk *walk, uint64_t pid, uint64_t parent)
{
    sonde__tree_member member;
    if (sonde__tree_find(&walk->now, pid) || read_member(walk, pid, &member) != SONDE_OK)
        return;
    if (member.parent == parent || was_member(walk, &member))
        sonde__tree_add(&walk->now, &member);
}

static void take_children_of_thread(sonde__tree_walk *walk, uint64_t pid, uint64_t thread)
{
    char name[64];
    snprintf(name, sizeof name, "task/%llu/children", (unsigned long long)thread);
    if (read_into(walk, pid, name, &walk->children) != SONDE_OK)
        return;
    sonde__scan scan = sonde__scan_of(walk->children.data, walk->children.len);
    for (uint64_t child; sonde__children_next(&scan, &child);)
        take_child(walk, child, pid);
}

/* Calls visit with every name of a folder below /proc that is a number. By getdents, since opendir
   would allocate at each reading. */
static void visit_numbers(sonde__tree_walk *walk, const char *folder, uint64_t owner,
                          void (*visit)(sonde__tree_walk *, uint64_t owner, uint64_t number))
{
    int fd = openat(walk->proc.fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (;;) {
        long got = syscall(SYS_getdents64, fd, walk->listing, LISTING_BYTES);
        if (got <= 0)
            break;
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(walk->listing + at);
            unsigned long long number = strtoull(entry->d_name, NULL, 10);
            at += entry->d_reclen;
            if (number > 0)
                visit(walk, owner, number);
        }
    }
    close(fd);
}

static int compare_parents(const void *a, const void *b)
{
    uint32_t left = ((const sonde__parent_pair *)a)->parent,
             right = ((const sonde__parent_pair *)b)->parent;
    return left < right ? -1 : left > right;
}

static void add_pair(sonde__tree_walk *walk, uint64_t pid, uint64_t parent)
{
    if (walk->pair_count == walk->pair_cap) {
        size_t cap = walk->pair_cap ? walk->pair_cap * 2 : 256;
        sonde__parent_pair *grown = realloc(walk->pairs, cap * sizeof *grown);
        if (!grown)
            return;
        walk->pairs = grown;
        walk->pair_cap = cap;
    }
    walk->pairs[walk->pair_count++] = (sonde__parent_pair){(uint32_t)pid, (uint32_t)parent};
}

static void visit_process(sonde__tree_walk *walk, uint64_t owner, uint64_t pid)
{
    (void)owner;
    uint64_t parent;
    if (sonde__tree_walk_read(walk, pid, "stat") == SONDE_OK &&
        sonde__parse_pid_parent(walk->text.data, walk->text.len, &parent) == SONDE_OK)
        add_pair(walk, pid, parent);
}

/* Without children files: the parent of every process of the machine. */
static void list_parents(sonde__tree_walk *walk)
{
    walk->pair_count = 0;
    visit_numbers(walk, ".", 0, visit_process);
    if (walk->pair_count > 0)
        qsort(walk->pairs, walk->pair_count, sizeof *walk->pairs, compare_parents);
}

static void take_children_of_pairs(sonde__tree_walk *walk, uint64_t pid)
{
    size_t low = 0, high = walk->pair_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (walk->pairs[middle].parent < pid)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < walk->pair_count && walk->pairs[low].parent == pid; low++)
        take_child(walk, walk->pairs[low].pid, pid);
}

/* Follows the members from index on to their children, which are appended and followed in turn.
   Children belong to the thread that made them. */
static void follow(sonde__tree_walk *walk, size_t index)
{
    for (; index < walk->now.count; index++) {
        uint64_t pid = walk->now.member[index].pid;
        char tasks[32];
        snprintf(tasks, sizeof tasks, "%llu/task", (unsigned long long)pid);
        if (!walk->has_children_files)
            take_children_of_pairs(walk, pid);
        else if (walk->now.member[index].threads > 1)
            visit_numbers(walk, tasks, pid, take_children_of_thread);
        else
            take_children_of_thread(walk, pid, pid);
    }
}

/* Members of the reading before that the walk did not meet: still alive, they are orphans. */
static void take_orphans(sonde__tree_walk *walk)
{
    for (size_t i = 0; i < walk->before.count; i++) {
        uint64_t pid = walk->before.member[i].pid;
        sonde__tree_member member;
        if (sonde__tree_find(&walk->now, pid) || read_member(walk, pid, &member) != SONDE_OK ||
            member.start_ticks != walk->before.member[i].start_ticks)
            continue;
        size_t index = walk->now.count;
        if (sonde__tree_add(&walk->now, &member))
            follow(walk, index);
    }
}

/* Keeps the totals of orphans that ended, and marks those that there are. */
static void settle_orphans(sonde__tree_walk *walk, uint64_t root)
{
    for (size_t i = 0; i < walk->before.count; i++) {
        const sonde__tree_member *gone = &walk->before.member[i];
        const sonde__tree_member *now = sonde__tree_find(&walk->now, gone->pid);
        if (gone->orphan && (!now || now->start_ticks != gone->start_ticks)) {
            walk->retired_user_ticks += gone->user_ticks;
            walk->retired_system_ticks += gone->system_ticks;
        }
    }
    for (size_t i = 0; i < walk->now.count; i++) {
        sonde__tree_member *member = &walk->now.member[i];
        member->orphan = member->pid != root && !sonde__tree_find(&walk->now, member->parent);
    }
}

sonde_status sonde__tree_walk_go(sonde__tree_walk *walk, uint64_t root)
{
    sonde__tree_members swap = walk->before;
    walk->before = walk->now;
    walk->now = swap;
    sonde__tree_clear(&walk->now);
    sonde__tree_member member;
    sonde_status status = read_member(walk, root, &member);
    if (status != SONDE_OK)
        return status;
    if (!sonde__tree_add(&walk->now, &member))
        return SONDE_ENOMEM;
    if (!walk->has_children_files)
        list_parents(walk);
    follow(walk, 0);
    take_orphans(walk);
    settle_orphans(walk, root);
    return SONDE_OK;
}

sonde_status sonde__tree_walk_open(sonde__tree_walk *walk, sonde__kernel_file proc, uint64_t root)
{
    char name[64];
    *walk = (sonde__tree_walk){.proc = proc, .listing = malloc(LISTING_BYTES)};
    if (!walk->listing) {
        sonde__kernel_file_close(&walk->proc);
        return SONDE_ENOMEM;
    }
    sonde__buf_init(&walk->text, SONDE__KERNEL_FILE_MAX);
    sonde__buf_init(&walk->children, SONDE__KERNEL_FILE_MAX);
    snprintf(name, sizeof name, "task/%llu/children", (unsigned long long)root);
    walk->has_children_files = sonde__tree_walk_read(walk, root, name) == SONDE_OK;
    return SONDE_OK;
}

void sonde__tree_walk_close(sonde__tree_walk *walk)
{
    sonde__kernel_file_close(&walk->proc);
    sonde__tree_free(&walk->now);
    sonde__tree_free(&walk->before);
    sonde__buf_free(&walk->text);
    sonde__buf_free(&walk->children);
    free(walk->listing);
    free(walk->pairs);
}
