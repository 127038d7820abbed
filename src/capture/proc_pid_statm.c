/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/statm: memory in pages. lib and dirty have been 0 since Linux 2.6 and are kept for
   their keys. */
#include "capture/parsers.h"
#include "capture/source.h"

sonde_status sonde__parse_statm(const char *text, size_t len, uint64_t pages[7])
{
    sonde__scan scan = sonde__scan_of(text, len);
    uint64_t value[7];
    for (unsigned i = 0; i < 7; i++)
        if (!sonde__scan_uint(&scan, &value[i]))
            return SONDE_EBADDATA;
    memcpy(pages, value, sizeof value);
    return SONDE_OK;
}

static sonde_status statm_read(sonde__host *host, void *state, sonde_telemetry *out)
{
    (void)state;
    uint64_t pages[7];
    sonde_status status = sonde__parse_statm(host->text.data, host->text.len, pages);
    if (status != SONDE_OK)
        return status;
    uint64_t rss = pages[1] * host->page_bytes;
    sonde__set_uint(out, SONDE_FIELD_PROCESS_VMS, pages[0] * host->page_bytes);
    sonde__set_uint(out, SONDE_FIELD_PROCESS_RSS, rss);
    sonde__set_uint(out, SONDE_FIELD_PROCESS_SHARED, pages[2] * host->page_bytes);
    sonde__set_uint(out, SONDE_FIELD_PROCESS_TEXT, pages[3] * host->page_bytes);
    sonde__set_uint(out, SONDE_FIELD_PROCESS_LIB, pages[4] * host->page_bytes);
    sonde__set_uint(out, SONDE_FIELD_PROCESS_DATA, pages[5] * host->page_bytes);
    sonde__set_uint(out, SONDE_FIELD_PROCESS_DIRTY, pages[6] * host->page_bytes);
    if (host->memory_total_bytes > 0)
        sonde__set_double(out, SONDE_FIELD_PROCESS_MEMORY_PERCENT,
                          (double)rss / (double)host->memory_total_bytes * 100.0);
    else
        out->status[SONDE_FIELD_PROCESS_MEMORY_PERCENT] = (int8_t)host->memory_status;
    return SONDE_OK;
}

const sonde__source sonde__source_proc_pid_statm = {
    .name = "proc_pid_statm",
    .summary = "memory of the process",
    .remedy = "mount procfs at /proc",
    .types = SONDE_CAPTURE_PROCESS,
    .levels = SONDE__AT_ALL,
    .fields = {{SONDE_FIELD_PROCESS_RSS, SONDE_FIELD_PROCESS_MEMORY_PERCENT}},
    .file = "statm",
    .read = statm_read,
};
