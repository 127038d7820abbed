/* SPDX-License-Identifier: Apache-2.0 */
/* Pages swapped in and out since boot. /proc/vmstat costs 20 us, so without swap, where its
   counters stand still, it is read only at a recheck. Runs after proc_meminfo, which tells whether
   there is swap. */
#include "capture/parsers.h"
#include "capture/source.h"

/* psutil multiplies by 4096 on every machine; pages are what the kernel counts. */
typedef struct vmstat_state {
    sonde__kernel_file file;
    bool known;
    uint64_t in_pages;
    uint64_t out_pages;
} vmstat_state;

/* Moves behind a key, given with the newline before it, which the first line does not have. */
static bool find_key(sonde__scan *scan, const char *key)
{
    size_t len = strlen(key);
    if (sonde__scan_literal(scan, key + 1, len - 1))
        return true;
    const char *found = memmem(scan->at, (size_t)(scan->end - scan->at), key, len);
    if (found)
        scan->at = found + len;
    return found;
}

sonde_status sonde__parse_vmstat(const char *text, size_t len, uint64_t *in, uint64_t *out)
{
    uint64_t values[2];
    for (unsigned i = 0; i < 2; i++) {
        sonde__scan scan = sonde__scan_of(text, len);
        if (!find_key(&scan, i ? "\npswpout " : "\npswpin "))
            return SONDE_EABSENT;
        if (!sonde__scan_uint(&scan, &values[i]))
            return SONDE_EBADDATA;
    }
    *in = values[0];
    *out = values[1];
    return SONDE_OK;
}

static sonde_status vmstat_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    vmstat_state *state = opaque;
    bool no_swap = out->status[SONDE_FIELD_SWAP_TOTAL] == SONDE_OK &&
                   out->value[SONDE_FIELD_SWAP_TOTAL].u == 0;
    if (!state->known || !no_swap || host->recheck) {
        sonde_status status = sonde__kernel_file_read(&state->file, &host->text);
        if (status == SONDE_OK)
            status = sonde__parse_vmstat(host->text.data, host->text.len, &state->in_pages,
                                         &state->out_pages);
        if (status != SONDE_OK)
            return status;
        state->known = true;
    }
    sonde__set_uint(out, SONDE_FIELD_SWAP_IN, state->in_pages * host->page_bytes);
    sonde__set_uint(out, SONDE_FIELD_SWAP_OUT, state->out_pages * host->page_bytes);
    return SONDE_OK;
}

static sonde_status vmstat_open(sonde__host *host, void *opaque)
{
    vmstat_state *state = opaque;
    return sonde__host_open_file(host, "/proc/vmstat", SONDE__FILE_LINES, &state->file);
}

static void vmstat_close(void *opaque)
{
    vmstat_state *state = opaque;
    sonde__kernel_file_close(&state->file);
}

const sonde__source sonde__source_proc_vmstat = {
    .name = "proc_vmstat",
    .summary = "swap traffic",
    .remedy = "the kernel was built without event counters (CONFIG_VM_EVENT_COUNTERS)",
    .types = SONDE_CAPTURE_MEMORY,
    .levels = SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_SWAP_IN, SONDE_FIELD_SWAP_OUT}},
    .state_bytes = sizeof(vmstat_state),
    .open = vmstat_open,
    .read = vmstat_read,
    .close = vmstat_close,
};
