/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/family.h"

#include "capture/parsers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void sonde__family_open(sonde__tree_walk *walk)
{
    sonde__kernel_file proc;
    *walk = (sonde__tree_walk){.proc = SONDE__KERNEL_FILE_NONE};
    if (sonde__kernel_file_open(&proc, "/proc", SONDE__FILE_WHOLE) == SONDE_OK &&
        sonde__tree_walk_open(walk, proc, (uint64_t)getpid()) != SONDE_OK)
        *walk = (sonde__tree_walk){.proc = SONDE__KERNEL_FILE_NONE};
}

bool sonde__family_io(sonde__tree_walk *walk, pid_t pid, uint64_t *read_bytes,
                      uint64_t *written_bytes)
{
    uint64_t counters[6];
    if (sonde__tree_walk_read(walk, (uint64_t)pid, "io") != SONDE_OK ||
        sonde__parse_pid_io(walk->text.data, walk->text.len, counters) != SONDE_OK)
        return false;
    *read_bytes = counters[2];
    *written_bytes = counters[3];
    return true;
}

static void note_name(sonde__tree_walk *walk, pid_t pid, sonde__family *out)
{
    if (out->named == sizeof out->first / sizeof *out->first ||
        sonde__tree_walk_read(walk, (uint64_t)pid, "comm") != SONDE_OK || walk->text.len == 0)
        return;
    sonde__relative *relative = &out->first[out->named++];
    relative->pid = pid;
    snprintf(relative->comm, sizeof relative->comm, "%.*s", (int)walk->text.len - 1,
             walk->text.data);
}

/* A zombie has no memory and uses nothing any more; who waits for it counts it. */
static void add_one(sonde__tree_walk *walk, const sonde__tree_member *member, sonde__family *out)
{
    uint64_t pages[7], read_bytes, written_bytes;
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    pid_t pid = (pid_t)member->pid;
    if (sonde__tree_walk_read(walk, member->pid, "statm") != SONDE_OK ||
        sonde__parse_statm(walk->text.data, walk->text.len, pages) != SONDE_OK || pages[0] == 0)
        return;
    out->processes++;
    out->threads += member->threads;
    out->user_ns += member->user_ticks * tick_ns;
    out->system_ns += member->system_ticks * tick_ns;
    out->rss_bytes += pages[1] * (uint64_t)sysconf(_SC_PAGESIZE);
    if (sonde__family_io(walk, pid, &read_bytes, &written_bytes)) {
        out->read_bytes += read_bytes;
        out->written_bytes += written_bytes;
    } else {
        out->denied++;
    }
    note_name(walk, pid, out);
}

void sonde__family_look(sonde__tree_walk *walk, sonde__family *out)
{
    *out = (sonde__family){0};
    if (sonde__tree_walk_go(walk, (uint64_t)getpid()) != SONDE_OK)
        return;
    for (size_t i = 1; i < walk->now.count; i++) /* the first is this process */
        add_one(walk, &walk->now.member[i], out);
}
