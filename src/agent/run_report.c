/* SPDX-License-Identifier: Apache-2.0 */
/* What is told about a run: to programs in the summary, to people on stderr. */
#include "agent/supervise.h"
#include "view/summary_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static double seconds_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void write_command(sonde__json *json, const sonde__run_report *report)
{
    sonde__json_key(json, "command");
    sonde__json_begin_array(json);
    for (size_t i = 0; report->argv[i]; i++)
        sonde__json_string(json, report->argv[i]);
    sonde__json_end_array(json);
    sonde__json_key(json, "exit_code");
    report->ended || report->launch_error ? sonde__json_int(json, report->exit_code)
                                          : sonde__json_null(json);
    sonde__json_key(json, "signal");
    report->signal ? sonde__json_int(json, report->signal) : sonde__json_null(json);
    sonde__json_member_text(json, "launch_error",
                            report->launch_error ? strerror(report->launch_error) : NULL);
}

static void write_use(sonde__json *json, const sonde__run_report *report)
{
    double cpu_s = seconds_of(report->user_ns + report->system_ns);
    double available_s = seconds_of(report->duration_ns) * report->cpus;
    sonde__json_member_double(json, "duration_s", seconds_of(report->duration_ns));
    sonde__json_member_double(json, "cpu_s", cpu_s);
    sonde__json_member_double(json, "user_s", seconds_of(report->user_ns));
    sonde__json_member_double(json, "system_s", seconds_of(report->system_ns));
    sonde__json_member_uint(json, "cpus_available", report->cpus);
    sonde__json_member_double(json, "cpu_share", available_s > 0 ? cpu_s / available_s : 0);
    sonde__json_member_uint(json, "peak_rss_bytes", report->peak_rss_bytes);
    sonde__json_member_uint(json, "largest_process_rss_bytes", report->largest_rss_bytes);
    sonde__json_member_uint(json, "peak_processes", report->peak_processes);
    sonde__json_member_uint(json, "peak_threads", report->peak_threads);
    sonde__json_member_uint(json, "read_bytes", report->read_bytes);
    sonde__json_member_uint(json, "written_bytes", report->written_bytes);
}

static void write_group(sonde__json *json, const sonde__run_report *report)
{
    sonde__json_key(json, "cgroup");
    sonde__json_begin_object(json);
    if (report->group_reason[0])
        sonde__json_member_text(json, "reason", report->group_reason);
    if (report->group.has_cpu)
        sonde__json_member_double(json, "cpu_s", seconds_of(report->group.cpu_ns));
    if (report->group.has_memory)
        sonde__json_member_uint(json, "peak_bytes", report->group.memory_peak_bytes);
    sonde__json_end_object(json);
}

static void write_survivors(sonde__json *json, const sonde__run_report *report)
{
    sonde__json_key(json, "still_running");
    sonde__json_begin_array(json);
    for (size_t i = 0; report->ended && i < report->last.named; i++) {
        sonde__json_begin_object(json);
        sonde__json_member_uint(json, "pid", (uint64_t)report->last.first[i].pid);
        sonde__json_member_text(json, "name", report->last.first[i].comm);
        sonde__json_end_object(json);
    }
    sonde__json_end_array(json);
}

void sonde__run_report_json(sonde__json *json, void *user)
{
    const sonde__run_report *report = user;
    sonde__json_key(json, "run");
    sonde__json_begin_object(json);
    write_command(json, report);
    write_use(json, report);
    write_group(json, report);
    write_survivors(json, report);
    sonde__host_watch_json(&report->host, json);
    sonde__json_end_object(json);
    sonde__json_key(json, "recorder");
    sonde__json_begin_object(json);
    sonde__json_member_double(json, "cpu_s", seconds_of(report->own_cpu_ns));
    sonde__json_member_uint(json, "rss_bytes", report->own_rss_bytes);
    sonde__json_end_object(json);
}

/* "12.3 MiB" */
static void put_bytes(sonde__buf *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    unsigned unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    sonde__buf_printf(out, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void put_outcome(const sonde__run_report *report, sonde__buf *out)
{
    sonde__buf_printf(out, "  ran        %.3f s, ", seconds_of(report->duration_ns));
    if (report->signal)
        sonde__buf_printf(out, "killed by signal %d (%s)\n", report->signal,
                          strsignal(report->signal));
    else
        sonde__buf_printf(out, "exit code %d\n", report->exit_code);
    double cpu_s = seconds_of(report->user_ns + report->system_ns);
    double wall_s = seconds_of(report->duration_ns);
    sonde__buf_printf(out, "  cpu        %.3f s (%.3f user, %.3f system): %.1f %% of %u CPU%s\n",
                      cpu_s, seconds_of(report->user_ns), seconds_of(report->system_ns),
                      wall_s > 0 ? 100 * cpu_s / (wall_s * report->cpus) : 0, report->cpus,
                      report->cpus == 1 ? "" : "s");
}

static void put_host(const sonde__host_watch *host, sonde__buf *out)
{
    uint64_t used;
    double gpu_joules = sonde__host_watch_gpu_joules(host);
    if (sonde__host_watch_gpu_peak(host, &used)) {
        sonde__buf_text(out, "  gpu        peak ");
        put_bytes(out, used);
        sonde__buf_printf(out, " in use on %zu GPU%s, by anybody\n", host->gpus,
                          host->gpus == 1 ? "" : "s");
    }
    if (host->joules >= 0)
        sonde__buf_printf(out, "  energy     %.1f J: %s\n", host->joules, host->joules_basis);
    else
        sonde__buf_printf(out, "  energy     not known: %s\n", host->joules_reason);
    if (gpu_joules >= 0)
        sonde__buf_printf(out, "  energy     %.1f J: GPUs\n", gpu_joules);
}

static void put_use(const sonde__run_report *report, sonde__buf *out)
{
    sonde__buf_text(out, "  memory     peak ");
    put_bytes(out, report->peak_rss_bytes);
    sonde__buf_printf(out, " in up to %zu process%s, %" PRIu64 " thread%s\n",
                      report->peak_processes, report->peak_processes == 1 ? "" : "es",
                      report->peak_threads, report->peak_threads == 1 ? "" : "s");
    sonde__buf_text(out, "  disk       read ");
    put_bytes(out, report->read_bytes);
    sonde__buf_text(out, ", written ");
    put_bytes(out, report->written_bytes);
    sonde__buf_char(out, '\n');
    put_host(&report->host, out);
    if (report->group_reason[0])
        sonde__buf_printf(out, "  cgroup     none of its own: %s\n", report->group_reason);
}

static void put_tasks(const sonde__run_report *report, sonde__buf *out)
{
    const sonde__session_files_stats *files = &report->files;
    if (files->packets > 0 || files->open > 0) {
        sonde__buf_printf(out, "  tasks      %" PRIu64 " ended, %" PRIu64 " failed", files->packets,
                          files->failed);
        if (files->open)
            sonde__buf_printf(out, ", %" PRIu64 " never ended", files->open);
        if (files->lost)
            sonde__buf_printf(out, ", %" PRIu64 " lost", files->lost);
        sonde__buf_char(out, '\n');
    }
    if (report->still_running) {
        sonde__buf_printf(out, "  running    %zu process%s still:", report->still_running,
                          report->still_running == 1 ? "" : "es");
        for (size_t i = 0; i < report->last.named; i++)
            sonde__buf_printf(out, " %s (%d)", report->last.first[i].comm,
                              (int)report->last.first[i].pid);
        sonde__buf_text(out, report->still_running > report->last.named ? " ...\n" : "\n");
    }
    sonde__buf_printf(out, "  recorder   %.3f s of CPU, ", seconds_of(report->own_cpu_ns));
    put_bytes(out, report->own_rss_bytes);
    sonde__buf_printf(out, ", %" PRIu64 " sample%s\n", report->samples,
                      report->samples == 1 ? "" : "s");
    if (files->last_error != SONDE_OK)
        sonde__buf_printf(out,
                          "  warning    not all was written: %s; sonde analyze completes the log\n",
                          sonde_status_text(files->last_error));
}

void sonde__run_report_text(const sonde__run_report *report, sonde__buf *out)
{
    const char *dot = strrchr(report->journal, '.');
    sonde__buf_printf(out, "\nsonde: %s\n", report->session_name);
    put_outcome(report, out);
    put_use(report, out);
    put_tasks(report, out);
    sonde__buf_printf(out, "  files      %.*s.{sonde,json,csv}\n",
                      (int)(dot ? dot - report->journal : 0), report->journal);
    sonde__buf_printf(out, "  next       sonde analyze %s\n", report->journal);
}
