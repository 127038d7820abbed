/* SPDX-License-Identifier: Apache-2.0 */
/* A process and its descendants. The walk goes from parents to children, each process is read once,
   a parent before its children. That order is what keeps CPU time and I/O from counting twice: a
   child's totals move to its parent when it is waited for, so a parent read after its child could
   hold what was counted with the child already. Read before, it cannot; what moves in between is
   missed by this reading and is in the next.
   A process whose parent ends is handed to init or to a subreaper outside the tree: it stays a
   member because it is remembered from the reading before, by id and start time. When such an
   orphan ends nobody in the tree inherits its totals, so they are kept here. */
#include "base/errno_status.h"
#include "capture/machine_parsers.h"
#include "capture/parsers.h"
#include "capture/source.h"
#include "capture/tree_members.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READ_BYTES = 4096, IO_FIELDS = 4, LISTING_BYTES = 32768 };

typedef struct parent_pair {
    uint32_t pid;
    uint32_t parent;
} parent_pair;

typedef struct tree_state {
    sonde__kernel_file proc; /* the folder */
    bool has_children_files; /* else every process of the machine is looked at */
    parent_pair *pairs;      /* then: who is whose parent, by parent */
    size_t pair_count, pair_cap;
    sonde__tree_members now, before;
    sonde__buf text;                                   /* the file just read */
    sonde__buf children;                               /* the list of children being followed */
    char *listing;                                     /* entries of a folder */
    uint64_t retired_user_ticks, retired_system_ticks; /* of orphans that have ended */
    uint64_t user_ticks, system_ticks;                 /* highest sums so far */
    bool known;                                        /* a reading came before */
} tree_state;

typedef struct tree_sums {
    uint64_t threads, user_ticks, system_ticks;
    uint64_t rss_bytes, pss_bytes, io[IO_FIELDS];
    sonde_status rss, pss, io_status;
} tree_sums;

/* Reads PID/name below /proc into text. */
static sonde_status read_into(const tree_state *state, uint64_t pid, const char *name,
                              sonde__buf *text)
{
    char path[64];
    snprintf(path, sizeof path, "%llu/%s", (unsigned long long)pid, name);
    sonde__buf_clear(text);
    int fd = openat(state->proc.fd, path, O_RDONLY | O_CLOEXEC);
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

static sonde_status read_file(tree_state *state, uint64_t pid, const char *name)
{
    return read_into(state, pid, name, &state->text);
}

static sonde_status read_member(tree_state *state, uint64_t pid, sonde__tree_member *out)
{
    sonde__pid_stat stat;
    uint64_t parent;
    sonde_status status = read_file(state, pid, "stat");
    if (status == SONDE_OK)
        status = sonde__parse_pid_stat(state->text.data, state->text.len, &stat);
    if (status == SONDE_OK)
        status = sonde__parse_pid_parent(state->text.data, state->text.len, &parent);
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

static bool was_member(const tree_state *state, const sonde__tree_member *member)
{
    const sonde__tree_member *before = sonde__tree_find(&state->before, member->pid);
    return before && before->start_ticks == member->start_ticks;
}

/* Takes a process that was listed as a child. Its id may belong to another by now: it is ours when
   it names that parent, or when it was ours before. */
static void take_child(tree_state *state, uint64_t pid, uint64_t parent)
{
    sonde__tree_member member;
    if (sonde__tree_find(&state->now, pid) || read_member(state, pid, &member) != SONDE_OK)
        return;
    if (member.parent == parent || was_member(state, &member))
        sonde__tree_add(&state->now, &member);
}

static void take_children_of_thread(tree_state *state, uint64_t pid, uint64_t thread)
{
    char name[64];
    snprintf(name, sizeof name, "task/%llu/children", (unsigned long long)thread);
    if (read_into(state, pid, name, &state->children) != SONDE_OK)
        return;
    sonde__scan scan = sonde__scan_of(state->children.data, state->children.len);
    for (uint64_t child; sonde__children_next(&scan, &child);)
        take_child(state, child, pid);
}

/* Calls visit with every name of a folder below /proc that is a number. By getdents, since opendir
   would allocate at each reading. */
static void visit_numbers(tree_state *state, const char *folder, uint64_t owner,
                          void (*visit)(tree_state *, uint64_t owner, uint64_t number))
{
    int fd = openat(state->proc.fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (;;) {
        long got = syscall(SYS_getdents64, fd, state->listing, LISTING_BYTES);
        if (got <= 0)
            break;
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(state->listing + at);
            unsigned long long number = strtoull(entry->d_name, NULL, 10);
            at += entry->d_reclen;
            if (number > 0)
                visit(state, owner, number);
        }
    }
    close(fd);
}

static int compare_parents(const void *a, const void *b)
{
    uint32_t left = ((const parent_pair *)a)->parent, right = ((const parent_pair *)b)->parent;
    return left < right ? -1 : left > right;
}

static void add_pair(tree_state *state, uint64_t pid, uint64_t parent)
{
    if (state->pair_count == state->pair_cap) {
        size_t cap = state->pair_cap ? state->pair_cap * 2 : 256;
        parent_pair *grown = realloc(state->pairs, cap * sizeof *grown);
        if (!grown)
            return;
        state->pairs = grown;
        state->pair_cap = cap;
    }
    state->pairs[state->pair_count++] = (parent_pair){(uint32_t)pid, (uint32_t)parent};
}

static void visit_process(tree_state *state, uint64_t owner, uint64_t pid)
{
    (void)owner;
    uint64_t parent;
    if (read_file(state, pid, "stat") == SONDE_OK &&
        sonde__parse_pid_parent(state->text.data, state->text.len, &parent) == SONDE_OK)
        add_pair(state, pid, parent);
}

/* Without children files: the parent of every process of the machine. */
static void list_parents(tree_state *state)
{
    state->pair_count = 0;
    visit_numbers(state, ".", 0, visit_process);
    if (state->pair_count > 0)
        qsort(state->pairs, state->pair_count, sizeof *state->pairs, compare_parents);
}

static void take_children_of_pairs(tree_state *state, uint64_t pid)
{
    size_t low = 0, high = state->pair_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (state->pairs[middle].parent < pid)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < state->pair_count && state->pairs[low].parent == pid; low++)
        take_child(state, state->pairs[low].pid, pid);
}

/* Follows the members from index on to their children, which are appended and followed in turn.
   Children belong to the thread that made them. */
static void follow(tree_state *state, size_t index)
{
    for (; index < state->now.count; index++) {
        uint64_t pid = state->now.member[index].pid;
        char tasks[32];
        snprintf(tasks, sizeof tasks, "%llu/task", (unsigned long long)pid);
        if (!state->has_children_files)
            take_children_of_pairs(state, pid);
        else if (state->now.member[index].threads > 1)
            visit_numbers(state, tasks, pid, take_children_of_thread);
        else
            take_children_of_thread(state, pid, pid);
    }
}

/* Members of the reading before that the walk did not meet: still alive, they are orphans. */
static void take_orphans(tree_state *state)
{
    for (size_t i = 0; i < state->before.count; i++) {
        uint64_t pid = state->before.member[i].pid;
        sonde__tree_member member;
        if (sonde__tree_find(&state->now, pid) || read_member(state, pid, &member) != SONDE_OK ||
            member.start_ticks != state->before.member[i].start_ticks)
            continue;
        size_t index = state->now.count;
        if (sonde__tree_add(&state->now, &member))
            follow(state, index);
    }
}

/* Keeps the totals of orphans that ended, and marks those that there are. */
static void settle_orphans(tree_state *state, uint64_t root)
{
    for (size_t i = 0; i < state->before.count; i++) {
        const sonde__tree_member *gone = &state->before.member[i];
        const sonde__tree_member *now = sonde__tree_find(&state->now, gone->pid);
        if (gone->orphan && (!now || now->start_ticks != gone->start_ticks)) {
            state->retired_user_ticks += gone->user_ticks;
            state->retired_system_ticks += gone->system_ticks;
        }
    }
    for (size_t i = 0; i < state->now.count; i++) {
        sonde__tree_member *member = &state->now.member[i];
        member->orphan = member->pid != root && !sonde__tree_find(&state->now, member->parent);
    }
}

static sonde_status walk(tree_state *state, uint64_t root)
{
    sonde__tree_members swap = state->before;
    state->before = state->now;
    state->now = swap;
    sonde__tree_clear(&state->now);
    sonde__tree_member member;
    sonde_status status = read_member(state, root, &member);
    if (status != SONDE_OK)
        return status;
    if (!sonde__tree_add(&state->now, &member))
        return SONDE_ENOMEM;
    if (!state->has_children_files)
        list_parents(state);
    follow(state, 0);
    take_orphans(state);
    settle_orphans(state, root);
    return SONDE_OK;
}

/* A process that has ended since costs nothing; one that may not be read costs the whole sum. */
static sonde_status add_reason(sonde_status sum, sonde_status status)
{
    bool ended = status == SONDE_OK || status == SONDE_EGONE;
    return sum != SONDE_OK || ended ? sum : status;
}

static void add_memory(const sonde__host *host, tree_state *state, uint64_t pid, tree_sums *sums)
{
    uint64_t pages[7], pss_kb;
    sonde_status status = read_file(state, pid, "statm");
    if (status == SONDE_OK)
        status = sonde__parse_statm(state->text.data, state->text.len, pages);
    if (status == SONDE_OK)
        sums->rss_bytes += pages[1] * host->page_bytes;
    sums->rss = add_reason(sums->rss, status);
    if (host->level != SONDE_LEVEL_FULL || sums->pss != SONDE_OK)
        return;
    status = read_file(state, pid, "smaps_rollup");
    if (status == SONDE_OK && state->text.len == 0)
        return; /* a kernel thread or a zombie */
    if (status == SONDE_OK)
        status = sonde__parse_keyed(state->text.data, state->text.len, "Pss", &pss_kb);
    if (status == SONDE_OK)
        sums->pss_bytes += pss_kb * 1024;
    sums->pss = add_reason(sums->pss, status);
}

static void add_io(tree_state *state, uint64_t pid, tree_sums *sums)
{
    uint64_t counter[6];
    if (sums->io_status != SONDE_OK)
        return;
    sonde_status status = read_file(state, pid, "io");
    if (status == SONDE_OK)
        status = sonde__parse_pid_io(state->text.data, state->text.len, counter);
    for (unsigned i = 0; status == SONDE_OK && i < IO_FIELDS; i++)
        sums->io[i] += counter[2 + i];
    sums->io_status = add_reason(sums->io_status, status);
}

static void set_or_reason(sonde_telemetry *out, sonde_field field, sonde_status status,
                          uint64_t value)
{
    if (status == SONDE_OK)
        sonde__set_uint(out, field, value);
    else
        out->status[field] = (int8_t)status;
}

/* Sums never fall: what a reading missed while it moved is in the next. */
static void set_cpu(const sonde__host *host, tree_state *state, const tree_sums *sums,
                    sonde_telemetry *out)
{
    uint64_t user = sums->user_ticks + state->retired_user_ticks;
    uint64_t system = sums->system_ticks + state->retired_system_ticks;
    uint64_t before = state->user_ticks + state->system_ticks;
    state->user_ticks = user > state->user_ticks ? user : state->user_ticks;
    state->system_ticks = system > state->system_ticks ? system : state->system_ticks;
    double spent = (double)(state->user_ticks + state->system_ticks - before);
    sonde__set_double(out, SONDE_FIELD_TREE_USER,
                      (double)state->user_ticks / host->ticks_per_second);
    sonde__set_double(out, SONDE_FIELD_TREE_SYSTEM,
                      (double)state->system_ticks / host->ticks_per_second);
    if (state->known && host->window_ns > 0)
        sonde__set_double(
            out, SONDE_FIELD_TREE_CPU_PERCENT,
            sonde__percent(spent / host->ticks_per_second, (double)host->window_ns / 1e9));
    else
        out->status[SONDE_FIELD_TREE_CPU_PERCENT] = SONDE_EEARLY;
    state->known = true;
}

static sonde_status tree_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    tree_state *state = opaque;
    sonde_status status = walk(state, (uint64_t)host->pid);
    if (status != SONDE_OK)
        return status;
    tree_sums sums = {.pss = host->level == SONDE_LEVEL_FULL ? SONDE_OK : SONDE_EOFF};
    for (size_t i = 0; i < state->now.count; i++) {
        const sonde__tree_member *member = &state->now.member[i];
        sums.threads += member->threads;
        sums.user_ticks += member->user_ticks;
        sums.system_ticks += member->system_ticks;
        add_memory(host, state, member->pid, &sums);
        add_io(state, member->pid, &sums);
    }
    sonde__set_uint(out, SONDE_FIELD_TREE_PROCESSES, state->now.count);
    sonde__set_uint(out, SONDE_FIELD_TREE_THREADS, sums.threads);
    set_cpu(host, state, &sums, out);
    set_or_reason(out, SONDE_FIELD_TREE_RSS, sums.rss, sums.rss_bytes);
    set_or_reason(out, SONDE_FIELD_TREE_PSS, sums.pss, sums.pss_bytes);
    for (unsigned i = 0; i < IO_FIELDS; i++)
        set_or_reason(out, (sonde_field)(SONDE_FIELD_TREE_READ_BYTES + i), sums.io_status,
                      sums.io[i]);
    return SONDE_OK;
}

static void tree_close(void *opaque)
{
    tree_state *state = opaque;
    sonde__kernel_file_close(&state->proc);
    sonde__tree_free(&state->now);
    sonde__tree_free(&state->before);
    sonde__buf_free(&state->text);
    sonde__buf_free(&state->children);
    free(state->listing);
    free(state->pairs);
}

static sonde_status tree_open(sonde__host *host, void *opaque)
{
    tree_state *state = opaque;
    char name[64];
    if (host->pid == 0)
        return SONDE_EUNSUPPORTED;
    sonde_status status = sonde__host_open_file(host, "/proc", SONDE__FILE_WHOLE, &state->proc);
    if (status != SONDE_OK)
        return status;
    state->listing = malloc(LISTING_BYTES);
    if (!state->listing) {
        sonde__kernel_file_close(&state->proc);
        return SONDE_ENOMEM;
    }
    sonde__buf_init(&state->text, SONDE__KERNEL_FILE_MAX);
    sonde__buf_init(&state->children, SONDE__KERNEL_FILE_MAX);
    snprintf(name, sizeof name, "task/%d/children", (int)host->pid);
    state->has_children_files = read_file(state, (uint64_t)host->pid, name) == SONDE_OK;
    return SONDE_OK;
}

const sonde__source sonde__source_proc_tree = {
    .name = "proc_tree",
    .summary = "the process and its descendants together",
    .remedy = "only the same user or root may read I/O and shared memory (pss) of a process",
    .types = SONDE_CAPTURE_TREE,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_TREE_PROCESSES, SONDE_FIELD_TREE_WRITE_CHARS}},
    .state_bytes = sizeof(tree_state),
    .open = tree_open,
    .read = tree_read,
    .close = tree_close,
};
