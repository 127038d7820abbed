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

static bool knows(const sonde__meminfo *info, unsigned which)
{
    return info->known & (1u << which);
}

static void set_if_known(sonde_telemetry *out, sonde_field field, const sonde__meminfo *info,
                         unsigned which)
{
    if (knows(info, which))
        sonde__set_uint(out, field, info->bytes[which]);
    else if (info->garbled & (1u << which))
        out->status[field] = SONDE_EBADDATA;
}

static void set_available(sonde_telemetry *out, const sonde__meminfo *info)
{
    if (!knows(info, SONDE__MEM_TOTAL) || !knows(info, SONDE__MEM_AVAILABLE))
        return;
    uint64_t total = info->bytes[SONDE__MEM_TOTAL];
    uint64_t available = info->bytes[SONDE__MEM_AVAILABLE];
    if (available > total && knows(info, SONDE__MEM_FREE))
        available = info->bytes[SONDE__MEM_FREE];
    sonde__set_uint(out, SONDE_FIELD_MEMORY_AVAILABLE, available);
    if (total > 0 && available <= total)
        sonde__set_double(out, SONDE_FIELD_MEMORY_PERCENT,
                          sonde__percent((double)(total - available), (double)total));
}

static void set_virtual(sonde_telemetry *out, const sonde__meminfo *info)
{
    set_if_known(out, SONDE_FIELD_MEMORY_TOTAL, info, SONDE__MEM_TOTAL);
    set_if_known(out, SONDE_FIELD_MEMORY_FREE, info, SONDE__MEM_FREE);
    set_if_known(out, SONDE_FIELD_MEMORY_ACTIVE, info, SONDE__MEM_ACTIVE);
    set_if_known(out, SONDE_FIELD_MEMORY_INACTIVE, info, SONDE__MEM_INACTIVE);
    set_if_known(out, SONDE_FIELD_MEMORY_BUFFERS, info, SONDE__MEM_BUFFERS);
    set_if_known(out, SONDE_FIELD_MEMORY_SHARED, info, SONDE__MEM_SHMEM);
    set_if_known(out, SONDE_FIELD_MEMORY_SLAB, info, SONDE__MEM_SLAB);
    set_if_known(out, SONDE_FIELD_MEMORY_AVAILABLE, info, SONDE__MEM_AVAILABLE);
    set_available(out, info);
    uint64_t cached = info->bytes[SONDE__MEM_CACHED] + info->bytes[SONDE__MEM_SRECLAIMABLE];
    if (!knows(info, SONDE__MEM_CACHED))
        return;
    sonde__set_uint(out, SONDE_FIELD_MEMORY_CACHED, cached);
    if (!knows(info, SONDE__MEM_TOTAL) || !knows(info, SONDE__MEM_FREE))
        return;
    uint64_t total = info->bytes[SONDE__MEM_TOTAL], free = info->bytes[SONDE__MEM_FREE];
    uint64_t other = free + cached + info->bytes[SONDE__MEM_BUFFERS];
    if (other <= total)
        sonde__set_uint(out, SONDE_FIELD_MEMORY_USED, total - other);
    else if (free <= total)
        sonde__set_uint(out, SONDE_FIELD_MEMORY_USED, total - free);
}

static void set_swap(sonde_telemetry *out, const sonde__meminfo *info)
{
    set_if_known(out, SONDE_FIELD_SWAP_TOTAL, info, SONDE__MEM_SWAP_TOTAL);
    set_if_known(out, SONDE_FIELD_SWAP_FREE, info, SONDE__MEM_SWAP_FREE);
    uint64_t total = info->bytes[SONDE__MEM_SWAP_TOTAL], free = info->bytes[SONDE__MEM_SWAP_FREE];
    if (!knows(info, SONDE__MEM_SWAP_TOTAL) || !knows(info, SONDE__MEM_SWAP_FREE) || free > total)
        return;
    sonde__set_uint(out, SONDE_FIELD_SWAP_USED, total - free);
    sonde__set_double(out, SONDE_FIELD_SWAP_PERCENT,
                      total > 0 ? sonde__percent((double)(total - free), (double)total) : 0.0);
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
