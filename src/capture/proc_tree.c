/* SPDX-License-Identifier: Apache-2.0 */
/* A process and its descendants together: what the members of the walk use. */
#include "capture/machine_parsers.h"
#include "capture/parsers.h"
#include "capture/source.h"
#include "capture/tree_walk.h"

enum { IO_FIELDS = 4 };

typedef struct tree_state {
    sonde__tree_walk walk;
    uint64_t user_ticks, system_ticks; /* highest sums so far */
    bool known;                        /* a reading came before */
} tree_state;

typedef struct tree_sums {
    uint64_t threads, user_ticks, system_ticks;
    uint64_t rss_bytes, pss_bytes, io[IO_FIELDS];
    sonde_status rss, pss, io_status;
} tree_sums;

/* A process that has ended since costs nothing; one that may not be read costs the whole sum. */
static sonde_status add_reason(sonde_status sum, sonde_status status)
{
    bool ended = status == SONDE_OK || status == SONDE_EGONE;
    return sum != SONDE_OK || ended ? sum : status;
}

static void add_memory(const sonde__host *host, tree_state *state, uint64_t pid, tree_sums *sums)
{
    uint64_t pages[7], pss_kb;
    sonde_status status = sonde__tree_walk_read(&state->walk, pid, "statm");
    if (status == SONDE_OK)
        status = sonde__parse_statm(state->walk.text.data, state->walk.text.len, pages);
    if (status == SONDE_OK)
        sums->rss_bytes += pages[1] * host->page_bytes;
    sums->rss = add_reason(sums->rss, status);
    if (host->level != SONDE_LEVEL_FULL || sums->pss != SONDE_OK)
        return;
    status = sonde__tree_walk_read(&state->walk, pid, "smaps_rollup");
    if (status == SONDE_OK && state->walk.text.len == 0)
        return; /* a kernel thread or a zombie */
    if (status == SONDE_OK)
        status = sonde__parse_keyed(state->walk.text.data, state->walk.text.len, "Pss", &pss_kb);
    if (status == SONDE_OK)
        sums->pss_bytes += pss_kb * 1024;
    sums->pss = add_reason(sums->pss, status);
}

static void add_io(tree_state *state, uint64_t pid, tree_sums *sums)
{
    uint64_t counter[6];
    if (sums->io_status != SONDE_OK)
        return;
    sonde_status status = sonde__tree_walk_read(&state->walk, pid, "io");
    if (status == SONDE_OK)
        status = sonde__parse_pid_io(state->walk.text.data, state->walk.text.len, counter);
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
    uint64_t user = sums->user_ticks + state->walk.retired_user_ticks;
    uint64_t system = sums->system_ticks + state->walk.retired_system_ticks;
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
    sonde_status status = sonde__tree_walk_go(&state->walk, (uint64_t)host->pid);
    if (status != SONDE_OK)
        return status;
    tree_sums sums = {.pss = host->level == SONDE_LEVEL_FULL ? SONDE_OK : SONDE_EOFF};
    for (size_t i = 0; i < state->walk.now.count; i++) {
        const sonde__tree_member *member = &state->walk.now.member[i];
        sums.threads += member->threads;
        sums.user_ticks += member->user_ticks;
        sums.system_ticks += member->system_ticks;
        add_memory(host, state, member->pid, &sums);
        add_io(state, member->pid, &sums);
    }
    sonde__set_uint(out, SONDE_FIELD_TREE_PROCESSES, state->walk.now.count);
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
    sonde__tree_walk_close(&state->walk);
}

static sonde_status tree_open(sonde__host *host, void *opaque)
{
    tree_state *state = opaque;
    sonde__kernel_file proc;
    if (host->pid == 0)
        return SONDE_EUNSUPPORTED;
    sonde_status status = sonde__host_open_file(host, "/proc", SONDE__FILE_WHOLE, &proc);
    return status == SONDE_OK ? sonde__tree_walk_open(&state->walk, proc, (uint64_t)host->pid)
                              : status;
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
