/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

bool sonde__host_path(const sonde__host *host, char *out, size_t cap, const char *format, ...)
{
    int used = snprintf(out, cap, "%s", host->root);
    if (used < 0 || (size_t)used >= cap)
        return false;
    va_list args;
    va_start(args, format);
    int more = vsnprintf(out + used, cap - (size_t)used, format, args);
    va_end(args);
    return more >= 0 && (size_t)more < cap - (size_t)used;
}

sonde_status sonde__host_open_file(const sonde__host *host, const char *path,
                                   sonde__kernel_file_kind kind, sonde__kernel_file *file)
{
    char full[SONDE__ROOT_BYTES + 128];
    bool of_process = path[0] != '/';
    bool fits;
    if (!of_process)
        fits = sonde__host_path(host, full, sizeof full, "%s", path);
    else if (host->pid == 0)
        fits = sonde__host_path(host, full, sizeof full, "/proc/self/%s", path);
    else
        fits = sonde__host_path(host, full, sizeof full, "/proc/%d/%s", (int)host->pid, path);
    sonde_status status = fits ? sonde__kernel_file_open(file, full, kind) : SONDE_ELIMIT;
    if (of_process && status == SONDE_EABSENT && !sonde__host_process_exists(host))
        return SONDE_EGONE;
    return status;
}

bool sonde__host_process_exists(const sonde__host *host)
{
    char path[SONDE__ROOT_BYTES + 32];
    return host->pid == 0 ||
           (sonde__host_path(host, path, sizeof path, "/proc/%d", (int)host->pid) &&
            access(path, F_OK) == 0);
}

void sonde__set_process_cpu(sonde__host *host, sonde_telemetry *out, double user_s, double system_s)
{
    sonde__set_double(out, SONDE_FIELD_PROCESS_USER, user_s);
    sonde__set_double(out, SONDE_FIELD_PROCESS_SYSTEM, system_s);
    double now_s = user_s + system_s;
    if (host->cpu_known && host->window_ns > 0) {
        double spent_s = now_s > host->cpu_previous_s ? now_s - host->cpu_previous_s : 0.0;
        sonde__set_double(out, SONDE_FIELD_PROCESS_CPU_PERCENT,
                          sonde__percent(spent_s, (double)host->window_ns / 1e9));
    } else {
        out->status[SONDE_FIELD_PROCESS_CPU_PERCENT] = SONDE_EEARLY;
    }
    host->cpu_known = true;
    host->cpu_previous_s = now_s;
}
