/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs by NVML. The declarations are ours, after nvml.h of API version 13 (NVIDIA's
   go-nvml, gen/nvml/nvml.h); the ABI of these functions has been the same since API version 8, and
   later ones have a suffix. nvmlInit counts its callers, so a host that uses NVML itself is not
   disturbed. Any single call may be missing or fail; it costs its own metrics only. */
#include "capture/gpu_device.h"
#include "capture/gpu_visible.h"
#include "capture/vendor_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct nvmlDevice_st *nvml_device;
typedef int nvml_return;

enum {
    NVML_SUCCESS = 0,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_LIBRARY_NOT_FOUND = 12,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_LIB_RM_VERSION_MISMATCH = 18,
    NVML_MEMORY = 20,
    NVML_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_GPU_NOT_FOUND = 28,
    NVML_TEMPERATURE_GPU = 0, /* nvmlTemperatureSensors_t */
    NVML_CLOCK_GRAPHICS = 0,  /* nvmlClockType_t */
    NVML_CLOCK_MEM = 2,
};

typedef struct nvml_memory { /* nvmlMemory_t */
    unsigned long long total, free, used;
} nvml_memory;
_Static_assert(sizeof(nvml_memory) == 24 && offsetof(nvml_memory, used) == 16, "nvmlMemory_t");

typedef struct nvml_utilization { /* nvmlUtilization_t */
    unsigned gpu, memory;
} nvml_utilization;
_Static_assert(sizeof(nvml_utilization) == 8, "nvmlUtilization_t");

typedef struct nvml_process { /* nvmlProcessInfo_v2_t, also that of _v3 */
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
} nvml_process;
_Static_assert(sizeof(nvml_process) == 24 && offsetof(nvml_process, used) == 8,
               "nvmlProcessInfo_v2_t");

typedef struct nvml_process_v1 { /* nvmlProcessInfo_v1_t, before driver 450 */
    unsigned pid;
    unsigned long long used;
} nvml_process_v1;
_Static_assert(sizeof(nvml_process_v1) == 16, "nvmlProcessInfo_v1_t");

#define NVML_VALUE_NOT_AVAILABLE (~0ull)

typedef struct nvml_api {
    nvml_return (*init)(void);
    nvml_return (*shutdown)(void);
    nvml_return (*count)(unsigned *);
    nvml_return (*by_index)(unsigned, nvml_device *);
    nvml_return (*by_uuid)(const char *, nvml_device *);
    nvml_return (*name)(nvml_device, char *, unsigned);
    nvml_return (*uuid)(nvml_device, char *, unsigned);
    nvml_return (*memory)(nvml_device, nvml_memory *);
    nvml_return (*temperature)(nvml_device, int, unsigned *);
    nvml_return (*power)(nvml_device, unsigned *);
    nvml_return (*utilization)(nvml_device, nvml_utilization *);
    nvml_return (*clock)(nvml_device, int, unsigned *);
    nvml_return (*energy)(nvml_device, unsigned long long *);
    nvml_return (*processes_v3)(nvml_device, unsigned *, nvml_process *);
    nvml_return (*processes_v2)(nvml_device, unsigned *, nvml_process *);
    nvml_return (*processes_v1)(nvml_device, unsigned *, nvml_process_v1 *);
    bool knows_our_pids; /* the driver has process ids of the machine's first namespace only */
} nvml_api;

#define SYMBOL(field, name, required)             \
    {                                             \
        name, offsetof(nvml_api, field), required \
    }
static const sonde__symbol symbols[] = {
    SYMBOL(init, "nvmlInit_v2", true),
    SYMBOL(shutdown, "nvmlShutdown", true),
    SYMBOL(count, "nvmlDeviceGetCount_v2", true),
    SYMBOL(by_index, "nvmlDeviceGetHandleByIndex_v2", true),
    SYMBOL(by_uuid, "nvmlDeviceGetHandleByUUID", false),
    SYMBOL(name, "nvmlDeviceGetName", false),
    SYMBOL(uuid, "nvmlDeviceGetUUID", false),
    SYMBOL(memory, "nvmlDeviceGetMemoryInfo", false),
    SYMBOL(temperature, "nvmlDeviceGetTemperature", false),
    SYMBOL(power, "nvmlDeviceGetPowerUsage", false),
    SYMBOL(utilization, "nvmlDeviceGetUtilizationRates", false),
    SYMBOL(clock, "nvmlDeviceGetClockInfo", false),
    SYMBOL(energy, "nvmlDeviceGetTotalEnergyConsumption", false),
    SYMBOL(processes_v3, "nvmlDeviceGetComputeRunningProcesses_v3", false),
    SYMBOL(processes_v2, "nvmlDeviceGetComputeRunningProcesses_v2", false),
    SYMBOL(processes_v1, "nvmlDeviceGetComputeRunningProcesses", false),
};

static sonde_status status_of(nvml_return code)
{
    switch (code) {
    case NVML_SUCCESS:
        return SONDE_OK;
    case NVML_NOT_SUPPORTED:
    case NVML_FUNCTION_NOT_FOUND:
    case NVML_LIB_RM_VERSION_MISMATCH:
    case NVML_ARGUMENT_VERSION_MISMATCH:
        return SONDE_EUNSUPPORTED;
    case NVML_NO_PERMISSION:
        return SONDE_EDENIED;
    case NVML_NOT_FOUND:
    case NVML_DRIVER_NOT_LOADED:
    case NVML_LIBRARY_NOT_FOUND:
    case NVML_GPU_IS_LOST:
    case NVML_GPU_NOT_FOUND:
        return SONDE_EABSENT;
    case NVML_INSUFFICIENT_SIZE:
        return SONDE_ELIMIT;
    case NVML_MEMORY:
        return SONDE_ENOMEM;
    default:
        return SONDE_EIO;
    }
}

static void add_device(const nvml_api *api, sonde__gpus *gpus, unsigned index, nvml_device device)
{
    for (size_t i = 0; i < gpus->count; i++)
        if (gpus->gpu[i].backend == &sonde__gpu_nvml && gpus->gpu[i].handle == (void *)device)
            return;
    sonde__gpu *gpu = sonde__gpus_add(gpus, &sonde__gpu_nvml, 'N', index, device);
    if (!gpu)
        return;
    if (!api->name || api->name(device, gpu->name, sizeof gpu->name) != NVML_SUCCESS)
        gpu->name[0] = '\0';
    if (!api->uuid || api->uuid(device, gpu->id, sizeof gpu->id) != NVML_SUCCESS)
        gpu->id[0] = '\0';
}

static bool find_by_id(const nvml_api *api, unsigned count, const sonde__visible *visible,
                       unsigned *index, nvml_device *device)
{
    char id[SONDE__GPU_TEXT_BYTES];
    for (unsigned i = 0; api->uuid && i < count; i++) {
        if (api->by_index(i, device) != NVML_SUCCESS ||
            api->uuid(*device, id, sizeof id) != NVML_SUCCESS ||
            !sonde__visible_matches(visible, id))
            continue;
        *index = i;
        return true;
    }
    return false;
}

/* A MIG device has no number among the GPUs; it comes after them all. */
static bool find_mig(const nvml_api *api, const sonde__visible *visible, nvml_device *device)
{
    char id[SONDE__GPU_TEXT_BYTES];
    if (!api->by_uuid || visible->len >= sizeof id)
        return false;
    memcpy(id, visible->text, visible->len);
    id[visible->len] = '\0';
    return api->by_uuid(id, device) == NVML_SUCCESS;
}

static void add_visible(const nvml_api *api, sonde__gpus *gpus, const char *list, unsigned count)
{
    sonde__visible visible;
    unsigned migs = 0;
    for (size_t at = 0; sonde__visible_next(list, &at, &visible);) {
        nvml_device device;
        unsigned index = visible.index;
        bool found;
        if (visible.kind == SONDE__VISIBLE_INDEX)
            found = index < count && api->by_index(index, &device) == NVML_SUCCESS;
        else if (visible.kind == SONDE__VISIBLE_ID)
            found = find_by_id(api, count, &visible, &index, &device);
        else {
            found = find_mig(api, &visible, &device);
            index = count + migs++;
        }
        if (!found)
            return;
        add_device(api, gpus, index, device);
    }
}

static bool in_first_pid_namespace(void)
{
    enum { PROC_PID_INIT_INO = 0xEFFFFFFC }; /* of the kernel's include/linux/proc_ns.h */
    struct stat own;
    return stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == PROC_PID_INIT_INO;
}

static sonde_status nvml_open(sonde__host *host, sonde__gpus *gpus, void **state)
{
    static const char *const names[] = {"libnvidia-ml.so.1", "libnvidia-ml.so", NULL};
    if (!host->live)
        return SONDE_EABSENT;
    nvml_api *api = calloc(1, sizeof *api);
    if (!api)
        return SONDE_ENOMEM;
    unsigned count = 0;
    sonde_status status =
        sonde__library_load(names, symbols, sizeof symbols / sizeof *symbols, api);
    if (status == SONDE_OK)
        status = status_of(api->init());
    if (status != SONDE_OK) {
        free(api);
        return status;
    }
    status = status_of(api->count(&count));
    if (status == SONDE_OK && count == 0)
        status = SONDE_EABSENT;
    if (status != SONDE_OK) {
        api->shutdown();
        free(api);
        return status;
    }
    gpus->total = count;
    api->knows_our_pids = in_first_pid_namespace();
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    nvml_device device;
    for (unsigned i = 0; !list && i < count; i++)
        if (api->by_index(i, &device) == NVML_SUCCESS)
            add_device(api, gpus, i, device);
    if (list)
        add_visible(api, gpus, list, count);
    *state = api;
    return SONDE_OK;
}

static void read_memory(const nvml_api *api, sonde__gpu *gpu)
{
    nvml_memory memory = {0};
    sonde_status status = SONDE_EUNSUPPORTED;
    if (api->memory)
        status = status_of(api->memory(gpu->handle, &memory));
    sonde__gpu_set(gpu, SONDE_GPU_USED, status, memory.used);
    sonde__gpu_set(gpu, SONDE_GPU_TOTAL, status, memory.total);
}

static void read_utilization(const nvml_api *api, sonde__gpu *gpu)
{
    nvml_utilization busy = {0};
    sonde_status status = SONDE_EUNSUPPORTED;
    if (api->utilization)
        status = status_of(api->utilization(gpu->handle, &busy));
    sonde__gpu_set(gpu, SONDE_GPU_UTILIZATION, status, busy.gpu);
    sonde__gpu_set(gpu, SONDE_GPU_MEMORY_UTILIZATION, status, busy.memory);
}

static void read_clock(const nvml_api *api, sonde__gpu *gpu, sonde_gpu_metric metric, int clock)
{
    unsigned mhz = 0;
    sonde_status status = SONDE_EUNSUPPORTED;
    if (api->clock)
        status = status_of(api->clock(gpu->handle, clock, &mhz));
    sonde__gpu_set(gpu, metric, status, mhz);
}

static void read_sensors(const nvml_api *api, sonde__gpu *gpu)
{
    unsigned value = 0;
    unsigned long long energy_mj = 0;
    if (sonde__gpu_wants(gpu, SONDE_GPU_TEMPERATURE)) {
        sonde_status status = SONDE_EUNSUPPORTED;
        if (api->temperature)
            status = status_of(api->temperature(gpu->handle, NVML_TEMPERATURE_GPU, &value));
        sonde__gpu_set(gpu, SONDE_GPU_TEMPERATURE, status, value);
    }
    if (sonde__gpu_wants(gpu, SONDE_GPU_POWER)) {
        sonde_status status = SONDE_EUNSUPPORTED;
        if (api->power)
            status = status_of(api->power(gpu->handle, &value));
        sonde__gpu_set(gpu, SONDE_GPU_POWER, status, value);
    }
    if (sonde__gpu_wants(gpu, SONDE_GPU_ENERGY)) {
        sonde_status status = SONDE_EUNSUPPORTED;
        if (api->energy)
            status = status_of(api->energy(gpu->handle, &energy_mj));
        sonde__gpu_set_double(gpu, SONDE_GPU_ENERGY, status, (double)energy_mj / 1000.0);
    }
}

static sonde_status list_processes(const nvml_api *api, sonde__gpu *gpu, nvml_process *list,
                                   unsigned *count)
{
    nvml_return (*ask)(nvml_device, unsigned *, nvml_process *) =
        api->processes_v3 ? api->processes_v3 : api->processes_v2;
    if (ask)
        return status_of(ask(gpu->handle, count, list));
    if (!api->processes_v1)
        return SONDE_EUNSUPPORTED;
    nvml_process_v1 old[SONDE__GPU_PROCESSES_MAX];
    sonde_status status = status_of(api->processes_v1(gpu->handle, count, old));
    for (unsigned i = 0; status == SONDE_OK && i < *count && i < SONDE__GPU_PROCESSES_MAX; i++)
        list[i] = (nvml_process){.pid = old[i].pid, .used = old[i].used};
    return status;
}

static void read_processes(const sonde__host *host, const nvml_api *api, sonde__gpu *gpu)
{
    nvml_process list[SONDE__GPU_PROCESSES_MAX];
    unsigned count = SONDE__GPU_PROCESSES_MAX;
    sonde_status status = list_processes(api, gpu, list, &count);
    uint64_t own_bytes = 0;
    bool found = false;
    for (unsigned i = 0; status == SONDE_OK && i < count && i < SONDE__GPU_PROCESSES_MAX; i++) {
        if (list[i].used == NVML_VALUE_NOT_AVAILABLE)
            continue;
        gpu->process[gpu->process_count++] =
            (sonde__gpu_process){.pid = list[i].pid, .used_bytes = list[i].used};
        if (list[i].pid == (unsigned)host->pid) {
            own_bytes += list[i].used;
            found = true;
        }
    }
    if (status == SONDE_OK && !found && !api->knows_our_pids)
        status = SONDE_EUNSUPPORTED;
    sonde__gpu_set(gpu, SONDE_GPU_PROCESS_MEMORY, status, own_bytes);
}

static void nvml_read(sonde__host *host, void *state, sonde__gpu *gpu)
{
    const nvml_api *api = state;
    sonde__gpu_set_texts(gpu);
    if (sonde__gpu_wants(gpu, SONDE_GPU_USED) || sonde__gpu_wants(gpu, SONDE_GPU_TOTAL))
        read_memory(api, gpu);
    read_sensors(api, gpu);
    if (sonde__gpu_wants(gpu, SONDE_GPU_UTILIZATION) ||
        sonde__gpu_wants(gpu, SONDE_GPU_MEMORY_UTILIZATION))
        read_utilization(api, gpu);
    if (sonde__gpu_wants(gpu, SONDE_GPU_GRAPHICS_CLOCK))
        read_clock(api, gpu, SONDE_GPU_GRAPHICS_CLOCK, NVML_CLOCK_GRAPHICS);
    if (sonde__gpu_wants(gpu, SONDE_GPU_MEMORY_CLOCK))
        read_clock(api, gpu, SONDE_GPU_MEMORY_CLOCK, NVML_CLOCK_MEM);
    if (sonde__gpu_wants(gpu, SONDE_GPU_PROCESS_MEMORY))
        read_processes(host, api, gpu);
}

static void nvml_close(void *state)
{
    nvml_api *api = state;
    api->shutdown();
    free(api);
}

const sonde__gpu_backend sonde__gpu_nvml = {
    .name = "nvml",
    .open = nvml_open,
    .read = nvml_read,
    .close = nvml_close,
};
