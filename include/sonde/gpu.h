/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of a reading: what Flowcept reports of NVIDIA and AMD GPUs, with its keys and units, and
   what Sonde adds. Devices are named gpu_N: AMD's first, by their number on the machine, NVIDIA's
   after them. Which metrics are read is said by sonde_capture_options.gpu, by the names below: a
   key
   ("used"), an object ("temperature") or one key of it ("temperature.edge"). */
#ifndef SONDE_GPU_H
#define SONDE_GPU_H

#include "sonde/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, object, key, type, unit, vendors, summary). Vendors: N NVIDIA, A AMD. Those from TOTAL on
   are Sonde's own and stand under the key "sonde" in JSON. */
#define SONDE_GPU_METRIC_MAP(X)                                                              \
    X(INDEX, "", "gpu_ix", UINT, "", "A", "number of the device among AMD's")                \
    X(USED, "", "used", UINT, "bytes", "NA", "device memory in use")                         \
    X(TEMPERATURE, "", "temperature", UINT, "C", "N", "of the chip")                         \
    X(POWER, "", "power", UINT, "mW", "N", "power draw")                                     \
    X(GFX_ACTIVITY, "activity", "gfx_activity", UINT, "%", "A", "graphics and compute busy") \
    X(UMC_ACTIVITY, "activity", "umc_activity", UINT, "%", "A", "memory controller busy")    \
    X(MM_ACTIVITY, "activity", "mm_activity", UINT, "%", "A", "video engines busy")          \
    X(SOCKET_POWER, "power", "average_socket_power", UINT, "W", "A", "power draw")           \
    X(ENERGY_ACCUMULATOR, "power", "energy_accumulator", UINT, "", "A",                      \
      "energy counter as it is, in steps of 15.259 uJ")                                      \
    X(EDGE, "temperature", "edge", UINT, "C", "A", "at the edge of the chip")                \
    X(HOTSPOT, "temperature", "hotspot", UINT, "C", "A", "hottest point")                    \
    X(MEMORY_TEMPERATURE, "temperature", "mem", UINT, "C", "A", "memory")                    \
    X(VRGFX, "temperature", "vrgfx", UINT, "C", "A", "voltage regulator of the chip")        \
    X(VRMEM, "temperature", "vrmem", UINT, "C", "A", "voltage regulator of the memory")      \
    X(HBM_0, "temperature", "hbm", UINT, "C", "A", "memory stack; a list of up to four")     \
    X(HBM_1, "temperature", "hbm", UINT, "C", "A", "its second")                             \
    X(HBM_2, "temperature", "hbm", UINT, "C", "A", "its third")                              \
    X(HBM_3, "temperature", "hbm", UINT, "C", "A", "its fourth")                             \
    X(FAN_SPEED, "temperature", "fan_speed", UINT, "RPM", "A", "fan")                        \
    X(GFXCLK, "others", "current_gfxclk", UINT, "MHz", "A", "graphics clock")                \
    X(SOCCLK, "others", "current_socclk", UINT, "MHz", "A", "clock of the system on chip")   \
    X(UCLK, "others", "current_uclk", UINT, "MHz", "A", "memory clock")                      \
    X(VCLK0, "others", "current_vclk0", UINT, "MHz", "A", "video clock")                     \
    X(DCLK0, "others", "current_dclk0", UINT, "MHz", "A", "display clock")                   \
    X(NAME, "", "name", TEXT, "", "NA", "name of the product")                               \
    X(ID, "", "id", TEXT, "", "NA", "UUID")                                                  \
    X(TOTAL, "", "total", UINT, "bytes", "NA", "device memory")                              \
    X(UTILIZATION, "utilization", "gpu", UINT, "%", "NA", "time in which anything ran")      \
    X(MEMORY_UTILIZATION, "utilization", "memory", UINT, "%", "NA",                          \
      "time in which memory was read or written")                                            \
    X(GRAPHICS_CLOCK, "clocks", "graphics", UINT, "MHz", "NA", "graphics and compute clock") \
    X(MEMORY_CLOCK, "clocks", "memory", UINT, "MHz", "NA", "memory clock")                   \
    X(ENERGY, "", "energy", DOUBLE, "J", "NA", "since the driver was loaded")                \
    X(PROCESS_MEMORY, "", "process_memory", UINT, "bytes", "N",                              \
      "device memory of the process looked at; all processes are in the list beside it")

typedef enum sonde_gpu_metric {
#define SONDE_GPU_METRIC_ENUM(name, ...) SONDE_GPU_##name,
    SONDE_GPU_METRIC_MAP(SONDE_GPU_METRIC_ENUM)
#undef SONDE_GPU_METRIC_ENUM
        SONDE_GPU_METRIC_COUNT
} sonde_gpu_metric;

typedef struct sonde_gpu_metric_info {
    const char *object;  /* "temperature", or "" */
    const char *key;     /* "edge" */
    const char *unit;    /* "C" */
    const char *vendors; /* "N", "A" or "NA" */
    const char *summary;
    sonde_field_type type;
} sonde_gpu_metric_info;

/* Static storage; NULL when the number is out of range. Any thread. */
SONDE_API const sonde_gpu_metric_info *sonde_gpu_describe(sonde_gpu_metric metric);

/* Whether name selects any metric: "used", "power", "power.energy_accumulator". Any thread. */
SONDE_API int sonde_gpu_metric_is_known(const char *name);

/* The GPUs of a reading that the process may see: how many, and the name ("gpu_0") of one; NULL
   beyond the last. Borrowed as the reading is. */
SONDE_API size_t sonde_telemetry_gpus(const sonde_telemetry *telemetry);
SONDE_API const char *sonde_telemetry_gpu_name(const sonde_telemetry *telemetry, size_t gpu);

/* One value of one GPU. The status says why there is none; *out is then untouched. EINVAL: no such
   GPU, or a metric of another type (integers can be read as double); EOFF: not asked for, or not a
   metric of this vendor. */
SONDE_API sonde_status sonde_telemetry_gpu_uint(const sonde_telemetry *telemetry, size_t gpu,
                                                sonde_gpu_metric metric, uint64_t *out);
SONDE_API sonde_status sonde_telemetry_gpu_double(const sonde_telemetry *telemetry, size_t gpu,
                                                  sonde_gpu_metric metric, double *out);
SONDE_API sonde_status sonde_telemetry_gpu_text(const sonde_telemetry *telemetry, size_t gpu,
                                                sonde_gpu_metric metric, const char **out);

#ifdef __cplusplus
}
#endif

#endif
