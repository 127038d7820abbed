/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of this process and of the calling thread by getrusage: microseconds, where
   /proc/PID/stat has ticks of 10 ms. Only for the process we run in. */
#include "base/errno_status.h"
#include "capture/source.h"

#include <errno.h>
#include <sys/resource.h>

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static sonde_status rusage_read(sonde__host *host, void *state, sonde_telemetry *out)
{
    (void)state;
    struct rusage process, thread;
    if (getrusage(RUSAGE_SELF, &process) != 0)
        return sonde__status_of_errno(errno);
    sonde__set_process_cpu(host, out, seconds_of(process.ru_utime), seconds_of(process.ru_stime));
    out->peak_rss_bytes = (uint64_t)process.ru_maxrss * 1024;
    if (getrusage(RUSAGE_THREAD, &thread) != 0)
        return SONDE_OK;
    out->thread = (sonde__thread_usage){
        .known = true,
        .user_s = seconds_of(thread.ru_utime),
        .system_s = seconds_of(thread.ru_stime),
        .minor_faults = (uint64_t)thread.ru_minflt,
        .major_faults = (uint64_t)thread.ru_majflt,
        .voluntary_switches = (uint64_t)thread.ru_nvcsw,
        .involuntary_switches = (uint64_t)thread.ru_nivcsw,
    };
    return SONDE_OK;
}

static sonde_status rusage_open(sonde__host *host, void *state)
{
    (void)state;
    return host->self ? SONDE_OK : SONDE_EOFF;
}

const sonde__source sonde__source_rusage = {
    .name = "rusage",
    .summary = "CPU time of this process and thread",
    .types = SONDE_CAPTURE_PROCESS,
    .levels = SONDE__AT_ALL,
    .live_only = true,
    .fields = {{SONDE_FIELD_PROCESS_USER, SONDE_FIELD_PROCESS_SYSTEM},
               {SONDE_FIELD_PROCESS_CPU_PERCENT, SONDE_FIELD_PROCESS_CPU_PERCENT}},
    .open = rusage_open,
    .read = rusage_read,
};
