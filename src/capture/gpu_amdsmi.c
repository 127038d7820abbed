/* SPDX-License-Identifier: Apache-2.0 */
/* AMD GPUs by AMD SMI. The declarations are ours, after amdsmi.h of libraries 23.2 (ROCm 5.7) to
   26.5; the functions used have not changed between them. The structure of the metrics grows with
   each library, but what is read here stands at its start, at the same place in all of them
   (asserted below); of a library outside that range it is not trusted. The buffer is many times
   larger than any of them. Values that the hardware does not have are all ones. */
#include "capture/gpu_device.h"
#include "capture/gpu_visible.h"
#include "capture/small_file.h"
#include "capture/vendor_library.h"

#include <stdio.h>
#include <stdlib.h>

typedef void *amd_handle;
typedef unsigned amd_status;

enum {
    AMD_SUCCESS = 0,
    AMD_NOT_SUPPORTED = 2,
    AMD_NOT_YET_IMPLEMENTED = 3,
    AMD_NO_PERM = 10,
    AMD_OUT_OF_RESOURCES = 15,
    AMD_NOT_FOUND = 31,
    AMD_NOT_INIT = 32,
    AMD_DRIVER_NOT_LOADED = 34,
    AMD_NO_DATA = 40,
    AMD_FILE_NOT_FOUND = 52,
    AMD_INIT_GPUS = 1 << 1,     /* AMDSMI_INIT_AMD_GPUS */
    AMD_PROCESSOR_TYPE_GPU = 1, /* AMDSMI_PROCESSOR_TYPE_AMD_GPU */
    AMD_MEMORY_VRAM = 0,        /* AMDSMI_MEM_TYPE_VRAM */
    AMD_VERSION_FIRST = 23,     /* the year of the library, later its major version */
    AMD_VERSION_LAST = 26,
    AMD_SOCKETS_MAX = 64,
    AMD_PROCESSORS_MAX = 64,
    OVERSIZED_BYTES =
        65536, /* of a structure whose size the library decides; the largest known: 5 KiB */
};

/* The library counts energy in steps of 2^-16 J. */
#define AMD_ENERGY_STEP_J 15.259e-6

typedef struct amd_engine_usage { /* amdsmi_engine_usage_t */
    uint32_t gfx_activity, umc_activity, mm_activity, reserved[13];
} amd_engine_usage;
_Static_assert(sizeof(amd_engine_usage) == 64, "amdsmi_engine_usage_t");

typedef struct amd_metrics { /* the start of amdsmi_gpu_metrics_t */
    uint16_t structure_size;
    uint8_t format_revision, content_revision;
    uint16_t temperature_edge, temperature_hotspot, temperature_mem;
    uint16_t temperature_vrgfx, temperature_vrsoc, temperature_vrmem;
    uint16_t average_gfx_activity, average_umc_activity, average_mm_activity;
    uint16_t average_socket_power;
    uint64_t energy_accumulator;
    uint64_t system_clock_counter;
    uint16_t average_clock[7];
    uint16_t current_gfxclk, current_socclk, current_uclk, current_vclk0, current_dclk0;
    uint16_t current_vclk1, current_dclk1;
    uint32_t throttle_status;
    uint16_t current_fan_speed;
    uint16_t pcie_link_width, pcie_link_speed;
    uint32_t gfx_activity_acc, mem_activity_acc;
    uint16_t temperature_hbm[4];
} amd_metrics;
_Static_assert(offsetof(amd_metrics, temperature_edge) == 4 &&
                   offsetof(amd_metrics, average_socket_power) == 22 &&
                   offsetof(amd_metrics, energy_accumulator) == 24 &&
                   offsetof(amd_metrics, current_gfxclk) == 54 &&
                   offsetof(amd_metrics, current_fan_speed) == 72 &&
                   offsetof(amd_metrics, gfx_activity_acc) == 80 &&
                   offsetof(amd_metrics, temperature_hbm) == 88,
               "amdsmi_gpu_metrics_t");

typedef union amd_oversized {
    amd_metrics metrics;
    uint32_t version[4];  /* amdsmi_version_t: year or major first */
    char market_name[64]; /* amdsmi_asic_info_t starts with it; its size varies, it ends by NUL */
    char bytes[OVERSIZED_BYTES];
} amd_oversized;

typedef struct amd_api {
    amd_status (*init)(uint64_t);
    amd_status (*shut_down)(void);
    amd_status (*version)(void *);
    amd_status (*sockets)(uint32_t *, amd_handle *);
    amd_status (*processors)(amd_handle, uint32_t *, amd_handle *);
    amd_status (*processor_type)(amd_handle, int *);
    amd_status (*memory_usage)(amd_handle, int, uint64_t *);
    amd_status (*memory_total)(amd_handle, int, uint64_t *);
    amd_status (*activity)(amd_handle, amd_engine_usage *);
    amd_status (*metrics)(amd_handle, void *);
    amd_status (*uuid)(amd_handle, unsigned *, char *);
    amd_status (*asic)(amd_handle, void *);
    amd_status (*bdf)(amd_handle, uint64_t *);
} amd_api;

typedef struct amd_state {
    amd_api api;
    bool metrics_known; /* the library is one whose structure we know */
    amd_oversized buffer;
} amd_state;

#define SYMBOL(field, name, required)            \
    {                                            \
        name, offsetof(amd_api, field), required \
    }
static const sonde__symbol symbols[] = {
    SYMBOL(init, "amdsmi_init", true),
    SYMBOL(shut_down, "amdsmi_shut_down", true),
    SYMBOL(version, "amdsmi_get_lib_version", false),
    SYMBOL(sockets, "amdsmi_get_socket_handles", true),
    SYMBOL(processors, "amdsmi_get_processor_handles", true),
    SYMBOL(processor_type, "amdsmi_get_processor_type", false),
    SYMBOL(memory_usage, "amdsmi_get_gpu_memory_usage", false),
    SYMBOL(memory_total, "amdsmi_get_gpu_memory_total", false),
    SYMBOL(activity, "amdsmi_get_gpu_activity", false),
    SYMBOL(metrics, "amdsmi_get_gpu_metrics_info", false),
    SYMBOL(uuid, "amdsmi_get_gpu_device_uuid", false),
    SYMBOL(asic, "amdsmi_get_gpu_asic_info", false),
    SYMBOL(bdf, "amdsmi_get_gpu_device_bdf", false),
};

static sonde_status status_of(amd_status code)
{
    switch (code) {
    case AMD_SUCCESS:
        return SONDE_OK;
    case AMD_NOT_SUPPORTED:
    case AMD_NOT_YET_IMPLEMENTED:
    case AMD_NO_DATA:
        return SONDE_EUNSUPPORTED;
    case AMD_NO_PERM:
        return SONDE_EDENIED;
    case AMD_NOT_FOUND:
    case AMD_NOT_INIT:
    case AMD_DRIVER_NOT_LOADED:
    case AMD_FILE_NOT_FOUND:
        return SONDE_EABSENT;
    case AMD_OUT_OF_RESOURCES:
        return SONDE_ENOMEM;
    default:
        return SONDE_EIO;
    }
}

/* The handles of all GPUs, in the library's order. */
static sonde_status list_devices(const amd_api *api, amd_handle list[SONDE__GPUS_MAX],
                                 unsigned *count)
{
    amd_handle socket[AMD_SOCKETS_MAX], processor[AMD_PROCESSORS_MAX];
    uint32_t sockets = AMD_SOCKETS_MAX;
    sonde_status status = status_of(api->sockets(&sockets, socket));
    for (uint32_t i = 0; status == SONDE_OK && i < sockets && i < AMD_SOCKETS_MAX; i++) {
        uint32_t processors = AMD_PROCESSORS_MAX;
        if (api->processors(socket[i], &processors, processor) != AMD_SUCCESS)
            continue;
        for (uint32_t j = 0; j < processors && j < AMD_PROCESSORS_MAX; j++) {
            int type = AMD_PROCESSOR_TYPE_GPU;
            if (api->processor_type)
                api->processor_type(processor[j], &type);
            if (type == AMD_PROCESSOR_TYPE_GPU && *count < SONDE__GPUS_MAX)
                list[(*count)++] = processor[j];
        }
    }
    return status;
}

static void read_id(const amd_api *api, amd_handle device, char out[SONDE__GPU_TEXT_BYTES])
{
    unsigned len = SONDE__GPU_TEXT_BYTES;
    if (!api->uuid || api->uuid(device, &len, out) != AMD_SUCCESS)
        out[0] = '\0';
    out[SONDE__GPU_TEXT_BYTES - 1] = '\0';
}

/* ROCR knows a device by the driver's unique_id, which the library's UUID does not hold. */
static void read_unique_id(sonde__host *host, const amd_api *api, amd_handle device, char *out,
                           size_t cap)
{
    uint64_t bdf;
    out[0] = '\0';
    if (!api->bdf || api->bdf(device, &bdf) != AMD_SUCCESS)
        return;
    unsigned function = bdf & 7, slot = bdf >> 3 & 31, bus = bdf >> 8 & 255;
    unsigned domain = (unsigned)(bdf >> 16);
    if (sonde__small_line(host, out, cap, "/sys/bus/pci/devices/%04x:%02x:%02x.%x/unique_id",
                          domain, bus, slot, function) != SONDE_OK)
        out[0] = '\0';
}

static bool is_device(sonde__host *host, const amd_api *api, amd_handle device,
                      const sonde__visible *visible)
{
    char id[SONDE__GPU_TEXT_BYTES];
    read_id(api, device, id);
    if (id[0] && sonde__visible_matches(visible, id))
        return true;
    read_unique_id(host, api, device, id, sizeof id);
    return id[0] && sonde__visible_matches(visible, id);
}

static void add_device(amd_state *state, sonde__gpus *gpus, unsigned index, amd_handle device)
{
    for (size_t i = 0; i < gpus->count; i++)
        if (gpus->gpu[i].handle == device)
            return;
    sonde__gpu *gpu = sonde__gpus_add(gpus, &sonde__gpu_amdsmi, 'A', index, device);
    if (!gpu)
        return;
    read_id(&state->api, device, gpu->id);
    memset(&state->buffer, 0, sizeof state->buffer);
    if (state->api.asic && state->api.asic(device, &state->buffer) == AMD_SUCCESS)
        snprintf(gpu->name, sizeof gpu->name, "%.63s", state->buffer.market_name);
}

static void add_visible(sonde__host *host, amd_state *state, sonde__gpus *gpus, const char *list,
                        amd_handle *device, unsigned count)
{
    sonde__visible visible;
    for (size_t at = 0; sonde__visible_next(list, &at, &visible);) {
        unsigned index = visible.kind == SONDE__VISIBLE_INDEX ? visible.index : 0;
        while (visible.kind == SONDE__VISIBLE_ID && index < count &&
               !is_device(host, &state->api, device[index], &visible))
            index++;
        if (index >= count || visible.kind == SONDE__VISIBLE_MIG)
            return;
        add_device(state, gpus, index, device[index]);
    }
}

static bool knows_metrics(amd_state *state)
{
    memset(&state->buffer, 0, sizeof state->buffer);
    return state->api.version && state->api.version(&state->buffer) == AMD_SUCCESS &&
           state->buffer.version[0] >= AMD_VERSION_FIRST &&
           state->buffer.version[0] <= AMD_VERSION_LAST;
}

static sonde_status amdsmi_open(sonde__host *host, sonde__gpus *gpus, void **opened)
{
    static const char *const names[] = {"libamd_smi.so",
                                        "libamd_smi.so.26",
                                        "libamd_smi.so.25",
                                        "libamd_smi.so.24",
                                        "/opt/rocm/lib/libamd_smi.so",
                                        NULL};
    if (!host->live)
        return SONDE_EABSENT;
    amd_state *state = calloc(1, sizeof *state);
    if (!state)
        return SONDE_ENOMEM;
    amd_handle device[SONDE__GPUS_MAX];
    unsigned count = 0;
    sonde_status status =
        sonde__library_load(names, symbols, sizeof symbols / sizeof *symbols, &state->api);
    if (status == SONDE_OK)
        status = status_of(state->api.init(AMD_INIT_GPUS));
    if (status != SONDE_OK) {
        free(state);
        return status;
    }
    status = list_devices(&state->api, device, &count);
    if (status == SONDE_OK && count == 0)
        status = SONDE_EABSENT;
    if (status != SONDE_OK) {
        state->api.shut_down();
        free(state);
        return status;
    }
    state->metrics_known = knows_metrics(state);
    gpus->total = count;
    const char *list = getenv("ROCR_VISIBLE_DEVICES");
    for (unsigned i = 0; !list && i < count; i++)
        add_device(state, gpus, i, device[i]);
    if (list)
        add_visible(host, state, gpus, list, device, count);
    *opened = state;
    return SONDE_OK;
}

static void set_16(sonde__gpu *gpu, sonde_gpu_metric metric, sonde_status status, uint16_t value)
{
    if (status == SONDE_OK && value == UINT16_MAX)
        status = SONDE_EUNSUPPORTED;
    sonde__gpu_set(gpu, metric, status, value);
}

static void set_64(sonde__gpu *gpu, sonde_gpu_metric metric, sonde_status status, uint64_t value)
{
    if (status == SONDE_OK && value == UINT64_MAX)
        status = SONDE_EUNSUPPORTED;
    sonde__gpu_set(gpu, metric, status, value);
}

static void set_percent(sonde__gpu *gpu, sonde_gpu_metric metric, sonde_status status,
                        uint32_t value)
{
    if (status == SONDE_OK && value > 100)
        status = SONDE_EUNSUPPORTED;
    sonde__gpu_set(gpu, metric, status, value);
}

static void set_metrics(sonde__gpu *gpu, sonde_status status, const amd_metrics *metrics)
{
    set_16(gpu, SONDE_GPU_SOCKET_POWER, status, metrics->average_socket_power);
    set_64(gpu, SONDE_GPU_ENERGY_ACCUMULATOR, status, metrics->energy_accumulator);
    set_16(gpu, SONDE_GPU_EDGE, status, metrics->temperature_edge);
    set_16(gpu, SONDE_GPU_HOTSPOT, status, metrics->temperature_hotspot);
    set_16(gpu, SONDE_GPU_MEMORY_TEMPERATURE, status, metrics->temperature_mem);
    set_16(gpu, SONDE_GPU_VRGFX, status, metrics->temperature_vrgfx);
    set_16(gpu, SONDE_GPU_VRMEM, status, metrics->temperature_vrmem);
    for (unsigned i = 0; i < 4; i++)
        set_16(gpu, (sonde_gpu_metric)(SONDE_GPU_HBM_0 + i), status, metrics->temperature_hbm[i]);
    set_16(gpu, SONDE_GPU_FAN_SPEED, status, metrics->current_fan_speed);
    set_16(gpu, SONDE_GPU_GFXCLK, status, metrics->current_gfxclk);
    set_16(gpu, SONDE_GPU_SOCCLK, status, metrics->current_socclk);
    set_16(gpu, SONDE_GPU_UCLK, status, metrics->current_uclk);
    set_16(gpu, SONDE_GPU_VCLK0, status, metrics->current_vclk0);
    set_16(gpu, SONDE_GPU_DCLK0, status, metrics->current_dclk0);
    set_16(gpu, SONDE_GPU_GRAPHICS_CLOCK, status, metrics->current_gfxclk);
    set_16(gpu, SONDE_GPU_MEMORY_CLOCK, status, metrics->current_uclk);
    if (status == SONDE_OK && metrics->energy_accumulator == UINT64_MAX)
        status = SONDE_EUNSUPPORTED;
    sonde__gpu_set_double(gpu, SONDE_GPU_ENERGY, status,
                          (double)metrics->energy_accumulator * AMD_ENERGY_STEP_J);
}

static bool wants_any(const sonde__gpu *gpu, sonde_gpu_metric first, sonde_gpu_metric last)
{
    for (unsigned i = first; i <= (unsigned)last; i++)
        if (sonde__gpu_wants(gpu, (sonde_gpu_metric)i))
            return true;
    return false;
}

static void read_memory(sonde__gpu *gpu, sonde_gpu_metric metric,
                        amd_status (*ask)(amd_handle, int, uint64_t *))
{
    uint64_t bytes = 0;
    sonde_status status = SONDE_EUNSUPPORTED;
    if (!sonde__gpu_wants(gpu, metric))
        return;
    if (ask)
        status = status_of(ask(gpu->handle, AMD_MEMORY_VRAM, &bytes));
    sonde__gpu_set(gpu, metric, status, bytes);
}

static void read_activity(const amd_api *api, sonde__gpu *gpu)
{
    amd_engine_usage busy = {0};
    sonde_status status = SONDE_EUNSUPPORTED;
    if (api->activity)
        status = status_of(api->activity(gpu->handle, &busy));
    set_percent(gpu, SONDE_GPU_GFX_ACTIVITY, status, busy.gfx_activity);
    set_percent(gpu, SONDE_GPU_UMC_ACTIVITY, status, busy.umc_activity);
    set_percent(gpu, SONDE_GPU_MM_ACTIVITY, status, busy.mm_activity);
    set_percent(gpu, SONDE_GPU_UTILIZATION, status, busy.gfx_activity);
    set_percent(gpu, SONDE_GPU_MEMORY_UTILIZATION, status, busy.umc_activity);
}

static void read_metrics(amd_state *state, sonde__gpu *gpu)
{
    sonde_status status = SONDE_EUNSUPPORTED;
    memset(&state->buffer.metrics, 0xFF, sizeof state->buffer.metrics);
    if (state->metrics_known && state->api.metrics)
        status = status_of(state->api.metrics(gpu->handle, &state->buffer));
    set_metrics(gpu, status, &state->buffer.metrics);
}

static void amdsmi_read(sonde__host *host, void *opaque, sonde__gpu *gpu)
{
    (void)host;
    amd_state *state = opaque;
    sonde__gpu_set(gpu, SONDE_GPU_INDEX, SONDE_OK, gpu->index);
    sonde__gpu_set_texts(gpu);
    read_memory(gpu, SONDE_GPU_USED, state->api.memory_usage);
    read_memory(gpu, SONDE_GPU_TOTAL, state->api.memory_total);
    if (wants_any(gpu, SONDE_GPU_GFX_ACTIVITY, SONDE_GPU_MM_ACTIVITY) ||
        wants_any(gpu, SONDE_GPU_UTILIZATION, SONDE_GPU_MEMORY_UTILIZATION))
        read_activity(&state->api, gpu);
    if (wants_any(gpu, SONDE_GPU_SOCKET_POWER, SONDE_GPU_DCLK0) ||
        wants_any(gpu, SONDE_GPU_GRAPHICS_CLOCK, SONDE_GPU_ENERGY))
        read_metrics(state, gpu);
}

static void amdsmi_close(void *opaque)
{
    amd_state *state = opaque;
    state->api.shut_down();
    free(state);
}

const sonde__gpu_backend sonde__gpu_amdsmi = {
    .name = "amdsmi",
    .open = amdsmi_open,
    .read = amdsmi_read,
    .close = amdsmi_close,
};
