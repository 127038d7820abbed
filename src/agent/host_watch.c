/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/host_watch.h"

#include "sonde/gpu.h"
#include "view/summary_json.h"

#include <stdio.h>
#include <string.h>

void sonde__host_watch_open(sonde__host_watch *watch, const sonde_capture_options *options)
{
    *watch = (sonde__host_watch){
        .cpu_percent_max = -1, .joules = -1, .joules_reason = "the machine is not looked at"};
    if (options && sonde_capture_open(options, &watch->capture) != SONDE_OK)
        watch->capture = NULL;
}

static const char *no_joules(sonde_status status)
{
    switch (status) {
    case SONDE_EDENIED:
        return "energy counters are readable by root only; sonde doctor says more";
    case SONDE_EOFF:
        return "energy is not among the types to look at";
    case SONDE_EABSENT:
        return "this machine has no energy counters";
    default:
        return sonde_status_text(status);
    }
}

/* The counters start at the first reading, with the handle. */
static void note_energy(sonde__host_watch *watch, const sonde_telemetry *now)
{
    double package, dram = 0;
    sonde_status status = sonde_telemetry_double(now, SONDE_FIELD_ENERGY_PACKAGE, &package);
    if (status != SONDE_OK) {
        watch->joules = -1;
        watch->joules_reason = no_joules(status);
        return;
    }
    bool with_dram = sonde_telemetry_double(now, SONDE_FIELD_ENERGY_DRAM, &dram) == SONDE_OK;
    watch->joules = package + dram;
    watch->joules_basis = with_dram ? "CPU packages and memory of the whole machine (RAPL)"
                                    : "CPU packages of the whole machine (RAPL)";
    watch->joules_reason = NULL;
}

static sonde__watched_gpu *find_gpu(sonde__host_watch *watch, const char *name)
{
    for (size_t i = 0; i < watch->gpus; i++)
        if (strcmp(watch->gpu[i].name, name) == 0)
            return &watch->gpu[i];
    if (watch->gpus == SONDE__WATCHED_GPUS_MAX)
        return NULL;
    sonde__watched_gpu *added = &watch->gpu[watch->gpus++];
    snprintf(added->name, sizeof added->name, "%s", name);
    return added;
}

static void note_gpu(sonde__host_watch *watch, const sonde_telemetry *now, size_t index)
{
    sonde__watched_gpu *gpu = find_gpu(watch, sonde_telemetry_gpu_name(now, index));
    const char *product;
    uint64_t used;
    double busy, joules;
    if (!gpu)
        return;
    if (!gpu->product[0] &&
        sonde_telemetry_gpu_text(now, index, SONDE_GPU_NAME, &product) == SONDE_OK)
        snprintf(gpu->product, sizeof gpu->product, "%s", product);
    if (sonde_telemetry_gpu_uint(now, index, SONDE_GPU_USED, &used) == SONDE_OK) {
        gpu->used_known = true;
        if (used > gpu->used_bytes_max)
            gpu->used_bytes_max = used;
    }
    if (sonde_telemetry_gpu_double(now, index, SONDE_GPU_UTILIZATION, &busy) == SONDE_OK) {
        gpu->busy_known = true;
        if (busy > gpu->busy_percent_max)
            gpu->busy_percent_max = busy;
    }
    if (sonde_telemetry_gpu_double(now, index, SONDE_GPU_ENERGY, &joules) == SONDE_OK) {
        if (!gpu->energy_known)
            gpu->start_joules = joules;
        gpu->energy_known = true;
        gpu->joules = joules - gpu->start_joules;
    }
}

static bool take_reading(sonde__host_watch *watch)
{
    const sonde_telemetry *now;
    double percent;
    uint64_t available;
    if (!watch->capture || sonde_capture_read(watch->capture, &now) != SONDE_OK)
        return false;
    if (sonde_telemetry_double(now, SONDE_FIELD_CPU_PERCENT, &percent) == SONDE_OK &&
        percent > watch->cpu_percent_max)
        watch->cpu_percent_max = percent;
    if (sonde_telemetry_uint(now, SONDE_FIELD_MEMORY_AVAILABLE, &available) == SONDE_OK &&
        (!watch->memory_known || available < watch->available_min_bytes)) {
        watch->available_min_bytes = available;
        watch->memory_known = true;
    }
    note_energy(watch, now);
    for (size_t i = 0; i < sonde_telemetry_gpus(now); i++)
        note_gpu(watch, now, i);
    return true;
}

void sonde__host_watch_read(sonde__host_watch *watch, const char **json, size_t *len)
{
    *json = NULL;
    *len = 0;
    if (!take_reading(watch))
        return;
    watch->samples++;
    if (sonde_capture_json(watch->capture, json, len) != SONDE_OK)
        *json = NULL;
}

void sonde__host_watch_close(sonde__host_watch *watch)
{
    if (watch->gpus > 0 || watch->joules >= 0)
        take_reading(watch);
    sonde_capture_close(watch->capture);
    watch->capture = NULL;
}

bool sonde__host_watch_gpu_peak(const sonde__host_watch *watch, uint64_t *bytes)
{
    bool known = false;
    *bytes = 0;
    for (size_t i = 0; i < watch->gpus; i++) {
        known |= watch->gpu[i].used_known;
        *bytes += watch->gpu[i].used_bytes_max;
    }
    return known;
}

double sonde__host_watch_gpu_joules(const sonde__host_watch *watch)
{
    double sum = -1;
    for (size_t i = 0; i < watch->gpus; i++)
        if (watch->gpu[i].energy_known)
            sum = (sum < 0 ? 0 : sum) + watch->gpu[i].joules;
    return sum;
}

static void write_gpu(const sonde__watched_gpu *gpu, sonde__json *json)
{
    sonde__json_begin_object(json);
    sonde__json_member_text(json, "name", gpu->name);
    sonde__json_member_text(json, "product", gpu->product[0] ? gpu->product : NULL);
    if (gpu->used_known)
        sonde__json_member_uint(json, "peak_used_bytes", gpu->used_bytes_max);
    if (gpu->busy_known)
        sonde__json_member_double(json, "peak_utilization_percent", gpu->busy_percent_max);
    if (gpu->energy_known)
        sonde__json_member_double(json, "joules", gpu->joules);
    sonde__json_end_object(json);
}

static void write_joules(const sonde__host_watch *watch, sonde__json *json)
{
    double gpu_joules = sonde__host_watch_gpu_joules(watch);
    sonde__json_key(json, "joules");
    watch->joules >= 0 ? sonde__json_double(json, watch->joules) : sonde__json_null(json);
    if (watch->joules >= 0)
        sonde__json_member_text(json, "joules_basis", watch->joules_basis);
    else
        sonde__json_member_text(json, "joules_reason", watch->joules_reason);
    if (gpu_joules >= 0)
        sonde__json_member_double(json, "gpu_joules", gpu_joules);
}

void sonde__host_watch_json(const sonde__host_watch *watch, sonde__json *json)
{
    uint64_t used;
    write_joules(watch, json);
    if (sonde__host_watch_gpu_peak(watch, &used))
        sonde__json_member_uint(json, "peak_gpu_bytes", used);
    sonde__json_key(json, "gpus");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < watch->gpus; i++)
        write_gpu(&watch->gpu[i], json);
    sonde__json_end_array(json);
    sonde__json_key(json, "host");
    sonde__json_begin_object(json);
    sonde__json_member_uint(json, "samples", watch->samples);
    if (watch->cpu_percent_max >= 0)
        sonde__json_member_double(json, "cpu_percent_max", watch->cpu_percent_max);
    if (watch->memory_known)
        sonde__json_member_uint(json, "memory_available_min_bytes", watch->available_min_bytes);
    sonde__json_end_object(json);
}
