/* SPDX-License-Identifier: Apache-2.0 */
/* CPU frequency: the mean of "cpu MHz" in /proc/cpuinfo (x86), else of the cpufreq policies
   (aarch64). /proc/cpuinfo is the dearest file of all, 12 us per CPU; where there is neither
   cpufreq nor the aperfmperf flag (most virtual machines) its value is the calibrated one and never
   changes. */
#include "capture/parsers.h"
#include "capture/source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct frequency_state {
    sonde__kernel_file cpuinfo; /* not open when the policies are used */
    sonde__kernel_file *policy; /* scaling_cur_freq of each */
    size_t policies;
    bool fixed;
    double fixed_mhz;
} frequency_state;

sonde_status sonde__cpuinfo_mhz(const char *text, size_t len, double *mhz)
{
    sonde__scan scan = sonde__scan_of(text, len), line;
    double sum = 0, one;
    unsigned count = 0;
    while (sonde__scan_line(&scan, &line)) {
        if (!sonde__scan_literal(&line, "cpu MHz", 7))
            continue;
        sonde__scan_blanks(&line);
        if (!sonde__scan_literal(&line, ":", 1) || !sonde__scan_decimal(&line, &one))
            return SONDE_EBADDATA;
        sum += one;
        count++;
    }
    if (count == 0)
        return SONDE_EABSENT;
    *mhz = sum / count;
    return SONDE_OK;
}

bool sonde__cpuinfo_is_dynamic(const char *text, size_t len)
{
    sonde__scan scan = sonde__scan_of(text, len), line;
    while (sonde__scan_line(&scan, &line))
        if (sonde__scan_literal(&line, "flags", 5))
            return memmem(line.at, (size_t)(line.end - line.at), " aperfmperf", 11) != NULL;
    return true;
}

static sonde_status read_policies(sonde__host *host, const frequency_state *state, double *mhz)
{
    double sum_khz = 0;
    for (size_t i = 0; i < state->policies; i++) {
        sonde_status status = sonde__kernel_file_read(&state->policy[i], &host->text);
        sonde__scan scan = sonde__scan_of(host->text.data, host->text.len);
        uint64_t khz;
        if (status == SONDE_OK && !sonde__scan_uint(&scan, &khz))
            status = SONDE_EBADDATA;
        if (status != SONDE_OK)
            return status;
        sum_khz += (double)khz;
    }
    *mhz = sum_khz / 1000.0 / (double)state->policies;
    return SONDE_OK;
}

static sonde_status frequency_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    frequency_state *state = opaque;
    double mhz = state->fixed_mhz;
    sonde_status status = SONDE_OK;
    if (state->policies > 0) {
        status = read_policies(host, state, &mhz);
    } else if (!state->fixed || host->recheck) {
        status = sonde__kernel_file_read(&state->cpuinfo, &host->text);
        if (status == SONDE_OK)
            status = sonde__cpuinfo_mhz(host->text.data, host->text.len, &mhz);
    }
    if (status != SONDE_OK)
        return status;
    state->fixed_mhz = mhz;
    sonde__set_double(out, SONDE_FIELD_CPU_FREQUENCY, mhz);
    return SONDE_OK;
}

static void frequency_close(void *opaque)
{
    frequency_state *state = opaque;
    sonde__kernel_file_close(&state->cpuinfo);
    for (size_t i = 0; i < state->policies; i++)
        sonde__kernel_file_close(&state->policy[i]);
    free(state->policy);
}

static sonde_status add_policy(const sonde__host *host, frequency_state *state, const char *name)
{
    sonde__kernel_file *grown =
        realloc(state->policy, (state->policies + 1) * sizeof *state->policy);
    if (!grown)
        return SONDE_ENOMEM;
    state->policy = grown;
    char path[96];
    if ((size_t)snprintf(path, sizeof path,
                         "/sys/devices/system/cpu/cpufreq/%.40s/scaling_cur_freq",
                         name) >= sizeof path)
        return SONDE_ELIMIT;
    sonde_status status =
        sonde__host_open_file(host, path, SONDE__FILE_WHOLE, &state->policy[state->policies]);
    if (status == SONDE_OK)
        state->policies++;
    return status;
}

static sonde_status open_policies(const sonde__host *host, frequency_state *state)
{
    char path[SONDE__ROOT_BYTES + 64];
    if (!sonde__host_path(host, path, sizeof path, "/sys/devices/system/cpu/cpufreq"))
        return SONDE_ELIMIT;
    DIR *dir = opendir(path);
    if (!dir)
        return SONDE_EABSENT;
    sonde_status status = SONDE_OK;
    for (struct dirent *entry; status == SONDE_OK && (entry = readdir(dir)) != NULL;)
        if (strncmp(entry->d_name, "policy", 6) == 0)
            status = add_policy(host, state, entry->d_name);
    closedir(dir);
    return status == SONDE_OK && state->policies == 0 ? SONDE_EABSENT : status;
}

static bool has_cpufreq(const sonde__host *host)
{
    char path[SONDE__ROOT_BYTES + 64];
    return sonde__host_path(host, path, sizeof path, "/sys/devices/system/cpu/cpufreq/policy0") &&
           access(path, F_OK) == 0;
}

static sonde_status frequency_open(sonde__host *host, void *opaque)
{
    frequency_state *state = opaque;
    state->cpuinfo.fd = -1;
    sonde_status status =
        sonde__host_open_file(host, "/proc/cpuinfo", SONDE__FILE_RECORDS, &state->cpuinfo);
    if (status == SONDE_OK)
        status = sonde__kernel_file_read(&state->cpuinfo, &host->text);
    if (status == SONDE_OK)
        status = sonde__cpuinfo_mhz(host->text.data, host->text.len, &state->fixed_mhz);
    if (status == SONDE_OK) {
        state->fixed =
            !has_cpufreq(host) && !sonde__cpuinfo_is_dynamic(host->text.data, host->text.len);
        return SONDE_OK;
    }
    sonde__kernel_file_close(&state->cpuinfo);
    sonde_status other = open_policies(host, state);
    if (other == SONDE_OK)
        return SONDE_OK;
    frequency_close(state);
    return other == SONDE_EABSENT ? status : other; /* why neither could be read */
}

const sonde__source sonde__source_proc_cpuinfo = {
    .name = "proc_cpuinfo",
    .summary = "CPU frequency",
    .remedy = "the kernel shows no frequency here; on bare metal load a cpufreq driver",
    .types = SONDE_CAPTURE_CPU,
    .levels = SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_CPU_FREQUENCY, SONDE_FIELD_CPU_FREQUENCY}},
    .state_bytes = sizeof(frequency_state),
    .open = frequency_open,
    .read = frequency_read,
    .close = frequency_close,
};
