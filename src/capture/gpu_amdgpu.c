/* SPDX-License-Identifier: Apache-2.0 */
/* AMD GPUs by the files of the amdgpu driver, where AMD SMI is not installed: memory, activity, and
   by hwmon power, temperatures, clocks and fan (the kernel's Documentation/gpu/amdgpu/thermal.rst
   and driver-misc.rst). No UUID of ROCm, no energy counter, no video or regulator values. */
#include "base/errno_status.h"
#include "capture/gpu_device.h"
#include "capture/gpu_visible.h"
#include "capture/small_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { CARDS_MAX = SONDE__GPUS_MAX, TEMPERATURES = 3 };

typedef struct amd_card {
    unsigned number; /* of cardN */
    int hwmon;       /* of hwmonN; -1: none */
} amd_card;

typedef struct amdgpu_state {
    amd_card card[CARDS_MAX];
    unsigned count;
} amdgpu_state;

/* What stands in one file, as a metric: value / divisor. */
typedef struct file_metric {
    sonde_gpu_metric metric;
    const char *file; /* of the device, or of its hwmon */
    uint64_t divisor;
} file_metric;

static const file_metric device_files[] = {
    {SONDE_GPU_USED, "mem_info_vram_used", 1},
    {SONDE_GPU_TOTAL, "mem_info_vram_total", 1},
    {SONDE_GPU_GFX_ACTIVITY, "gpu_busy_percent", 1},
    {SONDE_GPU_UMC_ACTIVITY, "mem_busy_percent", 1},
    {SONDE_GPU_UTILIZATION, "gpu_busy_percent", 1},
    {SONDE_GPU_MEMORY_UTILIZATION, "mem_busy_percent", 1},
};

static const file_metric hwmon_files[] = {
    {SONDE_GPU_SOCKET_POWER, "power1_average", 1000000},
    {SONDE_GPU_FAN_SPEED, "fan1_input", 1},
    {SONDE_GPU_GFXCLK, "freq1_input", 1000000},
    {SONDE_GPU_GRAPHICS_CLOCK, "freq1_input", 1000000},
    {SONDE_GPU_UCLK, "freq2_input", 1000000},
    {SONDE_GPU_MEMORY_CLOCK, "freq2_input", 1000000},
};

static int find_hwmon(sonde__host *host, unsigned number)
{
    char path[SONDE__ROOT_BYTES + 64];
    int found = -1;
    if (!sonde__host_path(host, path, sizeof path, "/sys/class/drm/card%u/device/hwmon", number))
        return -1;
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strncmp(entry->d_name, "hwmon", 5) == 0)
            found = atoi(entry->d_name + 5);
    closedir(dir);
    return found;
}

/* cardN whose vendor is AMD; connectors (card0-DP-1) and others' cards are passed over. */
static void add_card(sonde__host *host, amdgpu_state *state, const char *entry)
{
    char *end, vendor[16];
    if (strncmp(entry, "card", 4) != 0 || state->count == CARDS_MAX)
        return;
    unsigned long number = strtoul(entry + 4, &end, 10);
    if (end == entry + 4 || *end || number > 99999 ||
        sonde__small_line(host, vendor, sizeof vendor, "/sys/class/drm/card%lu/device/vendor",
                          number) != SONDE_OK ||
        strcmp(vendor, "0x1002") != 0)
        return;
    state->card[state->count++] =
        (amd_card){.number = (unsigned)number, .hwmon = find_hwmon(host, (unsigned)number)};
}

static sonde_status list_cards(sonde__host *host, amdgpu_state *state)
{
    char path[SONDE__ROOT_BYTES + 64];
    struct dirent **entries;
    if (!sonde__host_path(host, path, sizeof path, "/sys/class/drm"))
        return SONDE_ELIMIT;
    int count = scandir(path, &entries, NULL, versionsort);
    if (count < 0)
        return sonde__status_of_errno(errno);
    for (int i = 0; i < count; i++) {
        add_card(host, state, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return state->count > 0 ? SONDE_OK : SONDE_EABSENT;
}

static void add_device(sonde__host *host, amdgpu_state *state, sonde__gpus *gpus, unsigned index)
{
    amd_card *card = &state->card[index];
    for (size_t i = 0; i < gpus->count; i++)
        if (gpus->gpu[i].handle == (void *)card)
            return;
    sonde__gpu *gpu = sonde__gpus_add(gpus, &sonde__gpu_amdgpu, 'A', index, card);
    if (!gpu)
        return;
    if (sonde__small_line(host, gpu->id, sizeof gpu->id, "/sys/class/drm/card%u/device/unique_id",
                          card->number) != SONDE_OK)
        gpu->id[0] = '\0';
    if (sonde__small_line(host, gpu->name, sizeof gpu->name,
                          "/sys/class/drm/card%u/device/product_name", card->number) != SONDE_OK)
        gpu->name[0] = '\0';
}

static bool is_device(sonde__host *host, const amd_card *card, const sonde__visible *visible)
{
    char id[SONDE__GPU_TEXT_BYTES];
    return sonde__small_line(host, id, sizeof id, "/sys/class/drm/card%u/device/unique_id",
                             card->number) == SONDE_OK &&
           id[0] && sonde__visible_matches(visible, id);
}

static void add_visible(sonde__host *host, amdgpu_state *state, sonde__gpus *gpus, const char *list)
{
    sonde__visible visible;
    for (size_t at = 0; sonde__visible_next(list, &at, &visible);) {
        unsigned index = visible.kind == SONDE__VISIBLE_INDEX ? visible.index : 0;
        while (visible.kind == SONDE__VISIBLE_ID && index < state->count &&
               !is_device(host, &state->card[index], &visible))
            index++;
        if (index >= state->count || visible.kind == SONDE__VISIBLE_MIG)
            return;
        add_device(host, state, gpus, index);
    }
}

static sonde_status amdgpu_open(sonde__host *host, sonde__gpus *gpus, void **opened)
{
    amdgpu_state *state = calloc(1, sizeof *state);
    if (!state)
        return SONDE_ENOMEM;
    sonde_status status = list_cards(host, state);
    if (status != SONDE_OK) {
        free(state);
        return status;
    }
    gpus->total = state->count;
    const char *list = getenv("ROCR_VISIBLE_DEVICES");
    for (unsigned i = 0; !list && i < state->count; i++)
        add_device(host, state, gpus, i);
    if (list)
        add_visible(host, state, gpus, list);
    *opened = state;
    return SONDE_OK;
}

static void set_file(sonde__gpu *gpu, const file_metric *file, sonde_status status, uint64_t value)
{
    sonde__gpu_set(gpu, file->metric, status, value / file->divisor);
}

/* temp1 to temp3 are told apart by their labels; old drivers have the first only, unlabelled. */
static void read_temperatures(sonde__host *host, const amd_card *card, sonde__gpu *gpu)
{
    static const struct {
        const char *label;
        sonde_gpu_metric metric;
    } known[TEMPERATURES] = {{"edge", SONDE_GPU_EDGE},
                             {"junction", SONDE_GPU_HOTSPOT},
                             {"mem", SONDE_GPU_MEMORY_TEMPERATURE}};
    for (unsigned i = 1; i <= TEMPERATURES; i++) {
        char label[16];
        if (sonde__small_line(host, label, sizeof label,
                              "/sys/class/drm/card%u/device/hwmon/hwmon%d/temp%u_label",
                              card->number, card->hwmon, i) != SONDE_OK)
            snprintf(label, sizeof label, "%s", i == 1 ? "edge" : "");
        for (unsigned j = 0; j < TEMPERATURES; j++) {
            if (strcmp(label, known[j].label) != 0 || !sonde__gpu_wants(gpu, known[j].metric))
                continue;
            uint64_t milli = 0;
            sonde_status status = sonde__small_number(
                host, &milli, "/sys/class/drm/card%u/device/hwmon/hwmon%d/temp%u_input",
                card->number, card->hwmon, i);
            sonde__gpu_set(gpu, known[j].metric, status, milli / 1000);
        }
    }
}

static void read_hwmon(sonde__host *host, const amd_card *card, sonde__gpu *gpu)
{
    for (size_t i = 0; i < sizeof hwmon_files / sizeof *hwmon_files; i++) {
        const file_metric *file = &hwmon_files[i];
        if (!sonde__gpu_wants(gpu, file->metric))
            continue;
        uint64_t value = 0;
        sonde_status status =
            sonde__small_number(host, &value, "/sys/class/drm/card%u/device/hwmon/hwmon%d/%s",
                                card->number, card->hwmon, file->file);
        if (status == SONDE_EABSENT && file->metric == SONDE_GPU_SOCKET_POWER)
            status = sonde__small_number(host, &value,
                                         "/sys/class/drm/card%u/device/hwmon/hwmon%d/power1_input",
                                         card->number, card->hwmon);
        set_file(gpu, file, status, value);
    }
    read_temperatures(host, card, gpu);
}

static void amdgpu_read(sonde__host *host, void *state, sonde__gpu *gpu)
{
    (void)state;
    const amd_card *card = gpu->handle;
    for (unsigned i = 0; i < SONDE_GPU_METRIC_COUNT; i++) /* what follows knows less than that */
        sonde__gpu_set(gpu, (sonde_gpu_metric)i, SONDE_EUNSUPPORTED, 0);
    sonde__gpu_set(gpu, SONDE_GPU_INDEX, SONDE_OK, gpu->index);
    sonde__gpu_set_texts(gpu);
    for (size_t i = 0; i < sizeof device_files / sizeof *device_files; i++) {
        const file_metric *file = &device_files[i];
        if (!sonde__gpu_wants(gpu, file->metric))
            continue;
        uint64_t value = 0;
        sonde_status status = sonde__small_number(host, &value, "/sys/class/drm/card%u/device/%s",
                                                  card->number, file->file);
        set_file(gpu, file, status, value);
    }
    if (card->hwmon >= 0)
        read_hwmon(host, card, gpu);
}

static void amdgpu_close(void *state)
{
    free(state);
}

const sonde__gpu_backend sonde__gpu_amdgpu = {
    .name = "amdgpu",
    .open = amdgpu_open,
    .read = amdgpu_read,
    .close = amdgpu_close,
};
