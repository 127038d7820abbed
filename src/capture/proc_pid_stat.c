/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/stat: one line of numbers after "pid (name)". The name may hold blanks and parentheses,
   so what follows starts after the last one. Times are in ticks. For the process we run in
   getrusage has the finer user and system time. */
#include "capture/parsers.h"
#include "capture/source.h"

/* Columns counted from the state letter, which is 0 (field 3 of proc(5)). */
enum {
    USER = 11,
    SYSTEM = 12,
    CHILDREN_USER = 13,
    CHILDREN_SYSTEM = 14,
    THREADS = 17,
    START = 19,
    CPU = 36,
    IOWAIT = 39,
    COLUMNS = 40,
    COLUMNS_NEEDED = CPU + 1,
};

/* Any decimal number; negative ones (priorities) are of no interest and read as 0. */
static bool scan_number(sonde__scan *scan, uint64_t *out)
{
    sonde__scan_blanks(scan);
    if (!sonde__scan_literal(scan, "-", 1))
        return sonde__scan_uint(scan, out);
    bool ok = sonde__scan_uint(scan, out);
    *out = 0;
    return ok;
}

sonde_status sonde__parse_pid_stat(const char *text, size_t len, sonde__pid_stat *out)
{
    sonde__scan scan = sonde__scan_of(text, len);
    uint64_t pid;
    const char *name_end = memrchr(text, ')', len);
    if (!name_end || !sonde__scan_uint(&scan, &pid))
        return SONDE_EBADDATA;
    scan.at = name_end + 1;
    const char *letter;
    size_t letter_len;
    if (!sonde__scan_word(&scan, &letter, &letter_len) || letter_len != 1)
        return SONDE_EBADDATA;
    uint64_t column[COLUMNS] = {0};
    unsigned count = 1;
    while (count < COLUMNS && scan_number(&scan, &column[count]))
        count++;
    sonde__scan_blanks(&scan);
    bool ended = count == COLUMNS || (scan.at < scan.end && *scan.at == '\n');
    if (count < COLUMNS_NEEDED || !ended)
        return SONDE_EBADDATA;
    *out = (sonde__pid_stat){
        .pid = pid,
        .user_ticks = column[USER],
        .system_ticks = column[SYSTEM],
        .children_user_ticks = column[CHILDREN_USER],
        .children_system_ticks = column[CHILDREN_SYSTEM],
        .threads = column[THREADS],
        .start_ticks = column[START],
        .cpu = column[CPU],
        .iowait_ticks = column[IOWAIT],
    };
    return SONDE_OK;
}

static sonde_status pid_stat_read(sonde__host *host, void *state, sonde_telemetry *out)
{
    (void)state;
    sonde__pid_stat stat;
    sonde_status status = sonde__parse_pid_stat(host->text.data, host->text.len, &stat);
    if (status != SONDE_OK)
        return status;
    sonde__set_uint(out, SONDE_FIELD_PROCESS_PID, stat.pid);
    if (!host->self)
        sonde__set_process_cpu(host, out, (double)stat.user_ticks / host->ticks_per_second,
                               (double)stat.system_ticks / host->ticks_per_second);
    sonde__set_uint(out, SONDE_FIELD_PROCESS_CPU_NUMBER, stat.cpu);
    sonde__set_uint(out, SONDE_FIELD_PROCESS_THREADS, stat.threads);
    sonde__set_double(out, SONDE_FIELD_PROCESS_CHILDREN_USER,
                      (double)stat.children_user_ticks / host->ticks_per_second);
    sonde__set_double(out, SONDE_FIELD_PROCESS_CHILDREN_SYSTEM,
                      (double)stat.children_system_ticks / host->ticks_per_second);
    sonde__set_double(out, SONDE_FIELD_PROCESS_IOWAIT,
                      (double)stat.iowait_ticks / host->ticks_per_second);
    return SONDE_OK;
}

static sonde_status pid_stat_open(sonde__host *host, void *state)
{
    (void)state;
    bool needed = !host->self || host->level == SONDE_LEVEL_FULL; /* else getrusage has it all */
    return needed ? SONDE_OK : SONDE_EOFF;
}

const sonde__source sonde__source_proc_pid_stat = {
    .name = "proc_pid_stat",
    .summary = "CPU, threads and children of the process",
    .remedy = "mount procfs at /proc",
    .types = SONDE_CAPTURE_PROCESS,
    .levels = SONDE__AT_ALL,
    .fields = {{SONDE_FIELD_PROCESS_PID, SONDE_FIELD_PROCESS_CPU_NUMBER},
               {SONDE_FIELD_PROCESS_USER, SONDE_FIELD_PROCESS_CPU_PERCENT},
               {SONDE_FIELD_PROCESS_THREADS, SONDE_FIELD_PROCESS_THREADS}},
    .file = "stat",
    .open = pid_stat_open,
    .read = pid_stat_read,
};
