/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnvidia-ml.so.1 with the ABI of nvml.h, API version 13: names, argument types,
   structures and codes as there. Built a second time with STANDIN_OLD as a library of an old
   driver, without energy, utilisation, UUID look-up and the later lists of processes. */
#include "standin.h"

#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef int nvmlReturn_t;
typedef struct nvmlDevice_st {
    _Atomic int index;
    int mig;
} * nvmlDevice_t;
typedef struct {
    unsigned long long total, free, used;
} nvmlMemory_t;
typedef struct {
    unsigned int gpu, memory;
} nvmlUtilization_t;
typedef struct {
    unsigned int pid;
    unsigned long long usedGpuMemory;
    unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_v2_t;
typedef struct {
    unsigned int pid;
    unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6, GPU_IS_LOST = 15 };
enum {
    CALL_MEMORY = 1,
    CALL_TEMPERATURE,
    CALL_POWER,
    CALL_UTILIZATION,
    CALL_CLOCK,
    CALL_ENERGY,
    CALL_PROCESSES,
    CALL_NAME,
    CALL_UUID
};
enum { DEVICES_MAX = 64 };

static _Atomic long knob[STANDIN_KNOBS] = {[STANDIN_DEVICES] = 2, [STANDIN_LOST] = -1};
static _Atomic uint64_t calls;
static _Atomic int users;
static struct nvmlDevice_st device[DEVICES_MAX];

EXPORT standin_steer_function standin_nvml_steer;
EXPORT uint64_t standin_nvml_steer(standin_knob which, long value)
{
    uint64_t before = calls;
    calls = 0;
    knob[which] = value;
    return before;
}

/* What a call of a device returns before it does anything. */
static nvmlReturn_t enter(nvmlDevice_t which, int call)
{
    calls++;
    standin_spin(knob[STANDIN_SPIN_NS]);
    if (users <= 0)
        return UNINITIALIZED;
    if (!which)
        return INVALID_ARGUMENT;
    if (which->index == knob[STANDIN_LOST])
        return GPU_IS_LOST;
    return knob[STANDIN_FAIL_CALL] == call ? (nvmlReturn_t)knob[STANDIN_FAIL_CODE] : SUCCESS;
}

EXPORT nvmlReturn_t nvmlInit_v2(void);
EXPORT nvmlReturn_t nvmlInit_v2(void)
{
    if (knob[STANDIN_FAIL_INIT])
        return (nvmlReturn_t)knob[STANDIN_FAIL_INIT];
    users++;
    return SUCCESS;
}

EXPORT nvmlReturn_t nvmlShutdown(void);
EXPORT nvmlReturn_t nvmlShutdown(void)
{
    if (users <= 0)
        return UNINITIALIZED;
    users--;
    return SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count);
EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
    *count = (unsigned int)knob[STANDIN_DEVICES];
    return users > 0 ? SUCCESS : UNINITIALIZED;
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *out);
EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *out)
{
    if (users <= 0)
        return UNINITIALIZED;
    if (index >= DEVICES_MAX || (long)index >= knob[STANDIN_DEVICES])
        return INVALID_ARGUMENT;
    device[index].index = (int)index;
    *out = &device[index];
    return SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t which, char *name, unsigned int length);
EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t which, char *name, unsigned int length)
{
    nvmlReturn_t code = enter(which, CALL_NAME);
    if (code == SUCCESS)
        snprintf(name, length, "%s",
                 which->mig ? "NVIDIA A100-SXM4-40GB MIG 1g.5gb" : "NVIDIA A100-SXM4-40GB");
    return code;
}

EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t which, char *uuid, unsigned int length);
EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t which, char *uuid, unsigned int length)
{
    nvmlReturn_t code = enter(which, CALL_UUID);
    if (code == SUCCESS && which->mig)
        snprintf(uuid, length, "MIG-aaaabbbb-0000-0000-0000-000000000000");
    else if (code == SUCCESS)
        snprintf(uuid, length, "GPU-1f0a%04d-0000-0000-0000-%012d", which->index / 4, which->index);
    return code;
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t which, nvmlMemory_t *memory);
EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t which, nvmlMemory_t *memory)
{
    nvmlReturn_t code = enter(which, CALL_MEMORY);
    unsigned long long used = 1234567890u + (unsigned long long)knob[STANDIN_USED_MORE];
    if (code == SUCCESS)
        *memory = (nvmlMemory_t){.total = 42949672960u, .free = 42949672960u - used, .used = used};
    return code;
}

EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t which, int sensor, unsigned int *out);
EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t which, int sensor, unsigned int *out)
{
    nvmlReturn_t code = enter(which, CALL_TEMPERATURE);
    if (sensor != 0)
        return INVALID_ARGUMENT;
    if (code == SUCCESS)
        *out = 41;
    return code;
}

EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t which, unsigned int *milliwatts);
EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t which, unsigned int *milliwatts)
{
    nvmlReturn_t code = enter(which, CALL_POWER);
    if (code == SUCCESS)
        *milliwatts = 56123;
    return code;
}

EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t which, int type, unsigned int *mhz);
EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t which, int type, unsigned int *mhz)
{
    nvmlReturn_t code = enter(which, CALL_CLOCK);
    if (code == SUCCESS)
        *mhz = type == 0 ? 1410 : type == 2 ? 1215 : 1;
    return code;
}

static unsigned int list_pids(unsigned int pid[2])
{
    unsigned int count = 0;
    pid[count++] = 4242;
    if (knob[STANDIN_PID])
        pid[count++] = (unsigned int)knob[STANDIN_PID];
    return count;
}

#ifdef STANDIN_OLD

EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t which, unsigned int *count,
                                                         nvmlProcessInfo_v1_t *list);
EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t which, unsigned int *count,
                                                         nvmlProcessInfo_v1_t *list)
{
    nvmlReturn_t code = enter(which, CALL_PROCESSES);
    unsigned int pid[2], found = list_pids(pid);
    for (unsigned int i = 0; code == SUCCESS && i < found; i++)
        list[i] = (nvmlProcessInfo_v1_t){.pid = pid[i], .usedGpuMemory = 1000u * (i + 1)};
    *count = found;
    return code;
}

#else

static struct nvmlDevice_st mig_device = {0, 1};

EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *out);
EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *out)
{
    if (strcmp(uuid, "MIG-aaaabbbb-0000-0000-0000-000000000000") != 0 &&
        strcmp(uuid, "MIG-GPU-1f0a0000-0000-0000-0000-000000000000/1/0") != 0)
        return NOT_FOUND;
    *out = &mig_device;
    return SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t which, nvmlUtilization_t *out);
EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t which, nvmlUtilization_t *out)
{
    nvmlReturn_t code = enter(which, CALL_UTILIZATION);
    if (code == SUCCESS)
        *out = (nvmlUtilization_t){.gpu = 97, .memory = 33};
    return code;
}

EXPORT nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t which,
                                                        unsigned long long *millijoules);
EXPORT nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t which,
                                                        unsigned long long *millijoules)
{
    nvmlReturn_t code = enter(which, CALL_ENERGY);
    if (code == SUCCESS)
        *millijoules = 98765u + (unsigned long long)knob[STANDIN_ENERGY_MORE];
    return code;
}

EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t which, unsigned int *count,
                                                            nvmlProcessInfo_v2_t *list);
EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t which, unsigned int *count,
                                                            nvmlProcessInfo_v2_t *list)
{
    nvmlReturn_t code = enter(which, CALL_PROCESSES);
    unsigned int pid[2], found = list_pids(pid);
    for (unsigned int i = 0; code == SUCCESS && i < found; i++)
        list[i] = (nvmlProcessInfo_v2_t){.pid = pid[i],
                                         .usedGpuMemory = 1000u * (i + 1),
                                         .gpuInstanceId = 0xFFFFFFFF,
                                         .computeInstanceId = 0xFFFFFFFF};
    *count = found;
    return code;
}

#endif
