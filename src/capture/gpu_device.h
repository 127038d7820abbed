/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU inside a reading, and what a way to read GPUs (NVML, AMD SMI, sysfs) has to offer. */
#ifndef SONDE_CAPTURE_GPU_DEVICE_H
#define SONDE_CAPTURE_GPU_DEVICE_H

#include "capture/source.h"
#include "sonde/gpu.h"

enum {
    SONDE__GPUS_MAX = 256,        /* devices of a handle; 1.8 KiB each */
    SONDE__GPU_TEXT_BYTES = 96,   /* NVML's longest name and UUID, with NUL */
    SONDE__GPU_PROCESSES_MAX = 64 /* processes listed of one device; 16 bytes each */
};

typedef struct sonde__gpu_backend sonde__gpu_backend;

typedef struct sonde__gpu_process {
    uint32_t pid;
    uint64_t used_bytes;
} sonde__gpu_process;

typedef struct sonde__gpu {
    char label[16]; /* "gpu_0" */
    char vendor;    /* 'N' or 'A' */
    unsigned index; /* among the vendor's devices */
    const sonde__gpu_backend *backend;
    void *handle; /* the backend's */
    char name[SONDE__GPU_TEXT_BYTES];
    char id[SONDE__GPU_TEXT_BYTES];
    sonde__value value[SONDE_GPU_METRIC_COUNT];
    int8_t status[SONDE_GPU_METRIC_COUNT];
    sonde__gpu_process process[SONDE__GPU_PROCESSES_MAX];
    size_t process_count;
} sonde__gpu;

typedef struct sonde__gpus {
    sonde__gpu *gpu;
    size_t count;
    size_t cap;
    uint64_t wanted; /* bit n: metric n */
    unsigned first;  /* number of the backend's first device */
    unsigned total;  /* set by open: the backend's devices, seen or not */
} sonde__gpus;
_Static_assert(SONDE_GPU_METRIC_COUNT <= 64, "wanted has a bit for every metric");

struct sonde__gpu_backend {
    const char *name;
    /* Appends the devices that the process may see. Fails with the reason when there is no such
       library or no such device, and then leaves nothing open. */
    sonde_status (*open)(sonde__host *host, sonde__gpus *gpus, void **state);
    /* Sets what is wanted. What it does not set stays absent. */
    void (*read)(sonde__host *host, void *state, sonde__gpu *gpu);
    void (*close)(void *state);
};

extern const sonde__gpu_backend sonde__gpu_nvml;
extern const sonde__gpu_backend sonde__gpu_amdsmi;
extern const sonde__gpu_backend sonde__gpu_amdgpu;

/* Bits of the metrics that name selects; 0: it is not known. */
uint64_t sonde__gpu_metrics_of(const char *name);

/* Appends a device, all metrics absent. NULL at the limit or without memory. */
sonde__gpu *sonde__gpus_add(sonde__gpus *gpus, const sonde__gpu_backend *backend, char vendor,
                            unsigned index, void *handle);

/* Whether the metric was asked for, and is one of this vendor. */
static inline bool sonde__gpu_wants(const sonde__gpu *gpu, sonde_gpu_metric metric)
{
    return gpu->status[metric] != SONDE_EOFF;
}

/* Sets a metric, or the reason why there is none; nothing when it is not wanted. */
static inline void sonde__gpu_set(sonde__gpu *gpu, sonde_gpu_metric metric, sonde_status status,
                                  uint64_t value)
{
    if (!sonde__gpu_wants(gpu, metric))
        return;
    gpu->status[metric] = (int8_t)status;
    gpu->value[metric].u = value;
}

/* For a metric whose type is double. */
static inline void sonde__gpu_set_double(sonde__gpu *gpu, sonde_gpu_metric metric,
                                         sonde_status status, double value)
{
    if (!sonde__gpu_wants(gpu, metric))
        return;
    gpu->status[metric] = (int8_t)status;
    gpu->value[metric].d = value;
}

/* Name and id, which were read when the device was found. */
static inline void sonde__gpu_set_texts(sonde__gpu *gpu)
{
    sonde__gpu_set(gpu, SONDE_GPU_NAME, gpu->name[0] ? SONDE_OK : SONDE_EUNSUPPORTED, 0);
    sonde__gpu_set(gpu, SONDE_GPU_ID, gpu->id[0] ? SONDE_OK : SONDE_EUNSUPPORTED, 0);
}

#endif
