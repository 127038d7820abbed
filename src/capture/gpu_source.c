/* SPDX-License-Identifier: Apache-2.0 */
/* The source of GPUs: AMD through its library, or through sysfs where that is not installed, then
   NVIDIA, both in one process. Devices are found when the handle is opened. Vendor libraries stay
   loaded once they are: they start threads and register exit handlers. */
#include "capture/gpu_device.h"

#include <stdio.h>
#include <stdlib.h>

enum { BACKENDS = 3 };

typedef struct gpu_state {
    sonde__gpus gpus;
    const sonde__gpu_backend *backend[BACKENDS];
    void *opened[BACKENDS];
    size_t backends;
} gpu_state;

#define METRIC_ROW(name, object_, key_, type_, unit_, vendors_, summary_) \
    [SONDE_GPU_##name] = {                                                \
        .object = object_,                                                \
        .key = key_,                                                      \
        .unit = unit_,                                                    \
        .vendors = vendors_,                                              \
        .summary = summary_,                                              \
        .type = SONDE_FIELD_TYPE_##type_,                                 \
    },
static const sonde_gpu_metric_info metrics[SONDE_GPU_METRIC_COUNT] = {
    SONDE_GPU_METRIC_MAP(METRIC_ROW)};

const sonde_gpu_metric_info *sonde_gpu_describe(sonde_gpu_metric metric)
{
    return (unsigned)metric < SONDE_GPU_METRIC_COUNT ? &metrics[metric] : NULL;
}

uint64_t sonde__gpu_metrics_of(const char *name)
{
    uint64_t found = 0;
    for (unsigned i = 0; i < SONDE_GPU_METRIC_COUNT; i++) {
        size_t object = strlen(metrics[i].object);
        bool whole = strcmp(name, object ? metrics[i].object : metrics[i].key) == 0;
        bool part = object && strncmp(name, metrics[i].object, object) == 0 &&
                    name[object] == '.' && strcmp(name + object + 1, metrics[i].key) == 0;
        found |= (uint64_t)(whole || part) << i;
    }
    return found;
}

int sonde_gpu_metric_is_known(const char *name)
{
    return sonde__gpu_metrics_of(name) != 0;
}

sonde__gpu *sonde__gpus_add(sonde__gpus *gpus, const sonde__gpu_backend *backend, char vendor,
                            unsigned index, void *handle)
{
    if (gpus->count == gpus->cap) {
        size_t cap = gpus->cap ? gpus->cap * 2 : 8;
        sonde__gpu *grown = cap <= SONDE__GPUS_MAX ? realloc(gpus->gpu, cap * sizeof *grown) : NULL;
        if (!grown)
            return NULL;
        gpus->gpu = grown;
        gpus->cap = cap;
    }
    sonde__gpu *gpu = &gpus->gpu[gpus->count++];
    *gpu = (sonde__gpu){.vendor = vendor, .index = index, .backend = backend, .handle = handle};
    snprintf(gpu->label, sizeof gpu->label, "gpu_%u", (gpus->first + index) % 1000000);
    return gpu;
}

static void gpu_close(void *opaque)
{
    gpu_state *state = opaque;
    for (size_t i = 0; i < state->backends; i++)
        state->backend[i]->close(state->opened[i]);
    free(state->gpus.gpu);
}

static sonde_status open_backend(sonde__host *host, gpu_state *state,
                                 const sonde__gpu_backend *backend)
{
    void *opened = NULL;
    state->gpus.total = 0;
    sonde_status status = backend->open(host, &state->gpus, &opened);
    if (status != SONDE_OK)
        return status;
    state->backend[state->backends] = backend;
    state->opened[state->backends++] = opened;
    state->gpus.first += state->gpus.total;
    return SONDE_OK;
}

static sonde_status gpu_open(sonde__host *host, void *opaque)
{
    gpu_state *state = opaque;
    for (unsigned i = 0; i < SONDE_GPU_METRIC_COUNT; i++)
        state->gpus.wanted |= (uint64_t)(host->gpu_metrics == 0 || i == SONDE_GPU_INDEX) << i;
    state->gpus.wanted |= host->gpu_metrics;
    sonde_status amd = open_backend(host, state, &sonde__gpu_amdsmi);
    if (amd != SONDE_OK)
        amd = open_backend(host, state, &sonde__gpu_amdgpu);
    sonde_status nvidia = open_backend(host, state, &sonde__gpu_nvml);
    if (amd == SONDE_OK || nvidia == SONDE_OK)
        return SONDE_OK;
    gpu_close(state);
    return nvidia == SONDE_EABSENT ? amd : nvidia;
}

static void read_gpu(sonde__host *host, const gpu_state *state, sonde__gpu *gpu)
{
    for (unsigned i = 0; i < SONDE_GPU_METRIC_COUNT; i++) {
        bool asked =
            (state->gpus.wanted >> i & 1) && strchr(metrics[i].vendors, gpu->vendor) != NULL;
        gpu->status[i] = asked ? SONDE_EABSENT : SONDE_EOFF;
    }
    gpu->process_count = 0;
    for (size_t i = 0; i < state->backends; i++)
        if (state->backend[i] == gpu->backend)
            gpu->backend->read(host, state->opened[i], gpu);
}

static sonde_status gpu_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    gpu_state *state = opaque;
    for (size_t i = 0; i < state->gpus.count; i++)
        read_gpu(host, state, &state->gpus.gpu[i]);
    out->gpu = state->gpus.gpu;
    out->gpu_count = state->gpus.count;
    out->gpu_status = SONDE_OK;
    return SONDE_OK;
}

const sonde__source sonde__source_gpu = {
    .name = "gpu",
    .summary = "GPUs: memory, activity, temperature, power, clocks, energy",
    .remedy =
        "NVIDIA: install the driver's libnvidia-ml.so.1; AMD: load amdgpu, and install ROCm's "
        "libamd_smi.so for all metrics; in a container pass the devices through",
    .types = SONDE_CAPTURE_GPU,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .state_bytes = sizeof(gpu_state),
    .open = gpu_open,
    .read = gpu_read,
    .close = gpu_close,
};
