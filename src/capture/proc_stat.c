/* SPDX-License-Identifier: Apache-2.0 */
/* CPU times from /proc/stat: first the total, then a line per CPU that is online. The kernel counts
   in ticks (1/100 s as a rule) and includes guest time in user and nice, which the percentage must
   not count twice. iowait may go backwards, so a negative step counts as none, as psutil has it. */
#include "capture/parsers.h"
#include "capture/source.h"

#include <stdio.h>
#include <stdlib.h>

enum { IDLE = 3, IOWAIT = 4, GUEST = 8, GUEST_NICE = 9 };

typedef struct cpu_memory {
    int id;
    bool known;
    char name[12];
    uint64_t ticks[SONDE__CPU_TIMES];
} cpu_memory;

typedef struct stat_state {
    cpu_memory total;
    cpu_memory *cpu;
    size_t cap;
} stat_state;

bool sonde__proc_stat_next(sonde__scan *scan, sonde__cpu_line *out)
{
    sonde__scan line;
    if (!sonde__scan_line(scan, &line) || !sonde__scan_literal(&line, "cpu", 3))
        return false;
    out->id = SONDE__CPU_TOTAL;
    out->columns = 0;
    uint64_t id = 0;
    bool total = *line.at == ' ' || *line.at == '\n';
    if (!total) {
        out->id = SONDE__CPU_UNKNOWN;
        if (!sonde__scan_uint(&line, &id) || id > SONDE__ROWS_MAX)
            return true;
        out->id = (int)id;
    }
    unsigned column = 0;
    while (column < SONDE__CPU_TIMES && sonde__scan_uint(&line, &out->ticks[column]))
        column++;
    for (unsigned rest = column; rest < SONDE__CPU_TIMES; rest++)
        out->ticks[rest] = 0;
    sonde__scan_blanks(&line);
    bool clean = column >= IDLE + 1 && (column == SONDE__CPU_TIMES || *line.at == '\n');
    out->columns = clean ? column : 0;
    return true;
}

/* Busy share between two readings in percent. False when no tick has passed. */
static bool busy_percent(const uint64_t *before, const uint64_t *now, double *percent)
{
    uint64_t total = 0, idle = 0, guest = 0;
    for (unsigned i = 0; i < SONDE__CPU_TIMES; i++) {
        uint64_t step = now[i] > before[i] ? now[i] - before[i] : 0;
        total += step;
        if (i == IDLE || i == IOWAIT)
            idle += step;
        if (i == GUEST || i == GUEST_NICE)
            guest += step;
    }
    if (total <= guest)
        return false;
    total -= guest;
    *percent = sonde__percent(total > idle ? (double)(total - idle) : 0.0, (double)total);
    return true;
}

static void name_cpu(cpu_memory *memory, int id)
{
    memory->id = id;
    if (id >= 0)
        snprintf(memory->name, sizeof memory->name, "%d", id);
    else
        snprintf(memory->name, sizeof memory->name, "?");
}

/* Fills the columns of the total or of a CPU and remembers the reading. */
static void store_line(const sonde__host *host, const sonde__cpu_line *line, cpu_memory *memory,
                       sonde__value *value, int8_t *status)
{
    bool same = memory->known && memory->id == line->id;
    if (!same)
        name_cpu(memory, line->id);
    if (line->columns == 0) {
        memset(status, SONDE_EBADDATA, SONDE__CPU_TIMES + 1);
        memory->known = false;
        return;
    }
    for (unsigned i = 0; i < line->columns; i++) {
        value[i].d = (double)line->ticks[i] / host->ticks_per_second;
        status[i] = SONDE_OK;
    }
    bool moved = same && busy_percent(memory->ticks, line->ticks, &value[SONDE__CPU_TIMES].d);
    status[SONDE__CPU_TIMES] = moved ? SONDE_OK : SONDE_EEARLY;
    memory->known = true;
    memcpy(memory->ticks, line->ticks, sizeof memory->ticks);
}

static bool grow_memory(stat_state *state)
{
    size_t cap = state->cap ? state->cap * 2 : 16;
    cpu_memory *grown = realloc(state->cpu, cap * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + state->cap, 0, (cap - state->cap) * sizeof *grown);
    state->cpu = grown;
    state->cap = cap;
    return true;
}

static sonde_status store_cpu(sonde__host *host, stat_state *state, const sonde__cpu_line *line,
                              sonde__rows *rows)
{
    if (rows->count == state->cap && !grow_memory(state))
        return SONDE_ENOMEM;
    sonde__row *row = sonde__rows_add(rows, "");
    if (!row)
        return rows->status;
    store_line(host, line, &state->cpu[rows->count - 1], row->value, row->status);
    return SONDE_OK;
}

static sonde_status stat_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    stat_state *state = opaque;
    sonde_status status = SONDE_OK;
    bool want_total = host->types & SONDE_CAPTURE_CPU;
    bool want_rows = (host->types & SONDE_CAPTURE_PER_CPU) && host->level == SONDE_LEVEL_FULL;
    sonde__rows *rows = &out->table[SONDE_TABLE_CPUS];
    sonde__scan scan = sonde__scan_of(host->text.data, host->text.len);
    sonde__cpu_line line;
    bool any = false;
    while ((want_rows || !any) && status == SONDE_OK && sonde__proc_stat_next(&scan, &line)) {
        any = true;
        if (line.id != SONDE__CPU_TOTAL && want_rows)
            status = store_cpu(host, state, &line, rows);
        else if (line.id == SONDE__CPU_TOTAL && want_total)
            store_line(host, &line, &state->total, &out->value[SONDE_FIELD_CPU_USER],
                       &out->status[SONDE_FIELD_CPU_USER]);
    }
    for (size_t i = 0; i < rows->count; i++)
        rows->row[i].name = state->cpu[i].name;
    if (want_rows)
        rows->status = status != SONDE_OK ? status : rows->count ? SONDE_OK : SONDE_EBADDATA;
    return any ? status : SONDE_EBADDATA;
}

static void stat_close(void *opaque)
{
    stat_state *state = opaque;
    free(state->cpu);
}

static bool stat_reports(const sonde__host *host, sonde_field field)
{
    (void)field;
    return host->types & SONDE_CAPTURE_CPU;
}

const sonde__source sonde__source_proc_stat = {
    .name = "proc_stat",
    .summary = "CPU times and utilisation, in all and per CPU",
    .remedy = "mount procfs at /proc",
    .types = SONDE_CAPTURE_CPU | SONDE_CAPTURE_PER_CPU,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_CPU_USER, SONDE_FIELD_CPU_PERCENT}},
    .file = "/proc/stat",
    .state_bytes = sizeof(stat_state),
    .reports = stat_reports,
    .read = stat_read,
    .close = stat_close,
};
