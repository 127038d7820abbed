/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and swap from /proc/meminfo, in kB there. "used" is psutil's: total - free - cached -
   buffers (procps since 4.0 says total - available), "cached" counts reclaimable slab. Inside LXC
   the parts may not add up; then used is total - free, and what is available never exceeds the
   total. */
#include "capture/parsers.h"
#include "capture/source.h"

/* More is garbled; so the sum of four values cannot overflow. */
#define KILOBYTES_MAX (UINT64_MAX / 4096)

typedef struct meminfo_key {
    const char *text;
    unsigned len;
} meminfo_key;

#define KEY(text)              \
    {                          \
        text ":", sizeof(text) \
    }
static const meminfo_key keys[SONDE__MEM_COUNT] = {
    [SONDE__MEM_TOTAL] = KEY("MemTotal"),
    [SONDE__MEM_FREE] = KEY("MemFree"),
    [SONDE__MEM_AVAILABLE] = KEY("MemAvailable"),
    [SONDE__MEM_BUFFERS] = KEY("Buffers"),
    [SONDE__MEM_CACHED] = KEY("Cached"),
    [SONDE__MEM_ACTIVE] = KEY("Active"),
    [SONDE__MEM_INACTIVE] = KEY("Inactive"),
    [SONDE__MEM_SWAP_TOTAL] = KEY("SwapTotal"),
    [SONDE__MEM_SWAP_FREE] = KEY("SwapFree"),
    [SONDE__MEM_SHMEM] = KEY("Shmem"),
    [SONDE__MEM_SLAB] = KEY("Slab"),
    [SONDE__MEM_SRECLAIMABLE] = KEY("SReclaimable"),
};

static void take_value(sonde__scan *line, unsigned which, sonde__meminfo *out)
{
    uint64_t kilobytes;
    if (sonde__scan_uint(line, &kilobytes) && kilobytes <= KILOBYTES_MAX) {
        out->bytes[which] = kilobytes * 1024;
        out->known |= 1u << which;
    } else {
        out->garbled |= 1u << which;
    }
}

/* The key that line starts with, looked for from the expected one on: the kernel keeps its order,
   so the first guess is nearly always right. SONDE__MEM_COUNT when it is none of ours. */
static unsigned match_key(sonde__scan *line, unsigned expected)
{
    for (unsigned i = 0; i < SONDE__MEM_COUNT; i++) {
        unsigned which = (expected + i) % SONDE__MEM_COUNT;
        if (*line->at == keys[which].text[0] &&
            sonde__scan_literal(line, keys[which].text, keys[which].len))
            return which;
    }
    return SONDE__MEM_COUNT;
}

void sonde__parse_meminfo(const char *text, size_t len, sonde__meminfo *out)
{
    *out = (sonde__meminfo){0};
    const unsigned all = (1u << SONDE__MEM_COUNT) - 1;
    sonde__scan scan = sonde__scan_of(text, len), line;
    unsigned expected = 0;
    while ((out->known | out->garbled) != all && sonde__scan_line(&scan, &line)) {
        unsigned which = match_key(&line, expected);
        if (which == SONDE__MEM_COUNT)
            continue;
        take_value(&line, which, out);
        expected = which + 1;
    }
}

#define BIT(which) (1u << SONDE__MEM_##which)

/* OK when all of these are known and none of the optional ones, which count as 0 where the kernel
   does not have them, is garbled; otherwise why not. */
static sonde_status need(const sonde__meminfo *info, unsigned needed, unsigned optional)
{
    if (info->garbled & (needed | optional))
        return SONDE_EBADDATA;
    return (info->known & needed) == needed ? SONDE_OK : SONDE_EABSENT;
}

static void set_value(sonde_telemetry *out, sonde_field field, const sonde__meminfo *info,
                      unsigned which)
{
    out->value[field].u = info->bytes[which];
    out->status[field] = (int8_t)need(info, 1u << which, 0);
}

static void set_available(sonde_telemetry *out, const sonde__meminfo *info)
{
    uint64_t total = info->bytes[SONDE__MEM_TOTAL];
    uint64_t available = info->bytes[SONDE__MEM_AVAILABLE];
    set_value(out, SONDE_FIELD_MEMORY_AVAILABLE, info, SONDE__MEM_AVAILABLE);
    sonde_status status = need(info, BIT(TOTAL) | BIT(AVAILABLE), 0);
    if (status == SONDE_OK && available > total) {
        status = need(info, BIT(FREE), 0);
        available = info->bytes[SONDE__MEM_FREE];
        if (status == SONDE_OK)
            sonde__set_uint(out, SONDE_FIELD_MEMORY_AVAILABLE, available);
    }
    if (status == SONDE_OK && (total == 0 || available > total))
        status = SONDE_EBADDATA;
    out->status[SONDE_FIELD_MEMORY_PERCENT] = (int8_t)status;
    if (status == SONDE_OK)
        sonde__set_double(out, SONDE_FIELD_MEMORY_PERCENT,
                          sonde__percent((double)(total - available), (double)total));
}

static void set_used(sonde_telemetry *out, const sonde__meminfo *info)
{
    uint64_t total = info->bytes[SONDE__MEM_TOTAL], free = info->bytes[SONDE__MEM_FREE];
    uint64_t cached = info->bytes[SONDE__MEM_CACHED] + info->bytes[SONDE__MEM_SRECLAIMABLE];
    uint64_t other = free + cached + info->bytes[SONDE__MEM_BUFFERS];
    out->value[SONDE_FIELD_MEMORY_CACHED].u = cached;
    out->status[SONDE_FIELD_MEMORY_CACHED] = (int8_t)need(info, BIT(CACHED), BIT(SRECLAIMABLE));
    sonde_status status =
        need(info, BIT(TOTAL) | BIT(FREE) | BIT(CACHED), BIT(SRECLAIMABLE) | BIT(BUFFERS));
    if (status == SONDE_OK && free > total)
        status = SONDE_EBADDATA;
    out->value[SONDE_FIELD_MEMORY_USED].u = other <= total ? total - other : total - free;
    out->status[SONDE_FIELD_MEMORY_USED] = (int8_t)status;
}

static void set_virtual(sonde_telemetry *out, const sonde__meminfo *info)
{
    set_value(out, SONDE_FIELD_MEMORY_TOTAL, info, SONDE__MEM_TOTAL);
    set_value(out, SONDE_FIELD_MEMORY_FREE, info, SONDE__MEM_FREE);
    set_value(out, SONDE_FIELD_MEMORY_ACTIVE, info, SONDE__MEM_ACTIVE);
    set_value(out, SONDE_FIELD_MEMORY_INACTIVE, info, SONDE__MEM_INACTIVE);
    set_value(out, SONDE_FIELD_MEMORY_BUFFERS, info, SONDE__MEM_BUFFERS);
    set_value(out, SONDE_FIELD_MEMORY_SHARED, info, SONDE__MEM_SHMEM);
    set_value(out, SONDE_FIELD_MEMORY_SLAB, info, SONDE__MEM_SLAB);
    set_available(out, info);
    set_used(out, info);
}

static void set_swap(sonde_telemetry *out, const sonde__meminfo *info)
{
    uint64_t total = info->bytes[SONDE__MEM_SWAP_TOTAL], free = info->bytes[SONDE__MEM_SWAP_FREE];
    set_value(out, SONDE_FIELD_SWAP_TOTAL, info, SONDE__MEM_SWAP_TOTAL);
    set_value(out, SONDE_FIELD_SWAP_FREE, info, SONDE__MEM_SWAP_FREE);
    sonde_status status = need(info, BIT(SWAP_TOTAL) | BIT(SWAP_FREE), 0);
    if (status == SONDE_OK && free > total)
        status = SONDE_EBADDATA;
    out->value[SONDE_FIELD_SWAP_USED].u = total - free;
    out->value[SONDE_FIELD_SWAP_PERCENT].d =
        total > 0 ? sonde__percent((double)(total - free), (double)total) : 0.0;
    out->status[SONDE_FIELD_SWAP_USED] = (int8_t)status;
    out->status[SONDE_FIELD_SWAP_PERCENT] = (int8_t)status;
}

static sonde_status meminfo_read(sonde__host *host, void *state, sonde_telemetry *out)
{
    (void)state;
    sonde__meminfo info;
    sonde__parse_meminfo(host->text.data, host->text.len, &info);
    if (info.known == 0)
        return SONDE_EBADDATA;
    set_virtual(out, &info);
    set_swap(out, &info);
    return SONDE_OK;
}

const sonde__source sonde__source_proc_meminfo = {
    .name = "proc_meminfo",
    .summary = "memory and swap of the machine",
    .remedy = "mount procfs at /proc",
    .types = SONDE_CAPTURE_MEMORY,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_MEMORY_TOTAL, SONDE_FIELD_SWAP_PERCENT}},
    .file = "/proc/meminfo",
    .read = meminfo_read,
};
