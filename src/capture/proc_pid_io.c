/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/io: system calls and bytes. Readable for processes of the same user only. */
#include "capture/parsers.h"
#include "capture/source.h"

sonde_status sonde__parse_pid_io(const char *text, size_t len, uint64_t counter[6])
{
    static const char *const keys[6] = {
        "syscr:", "syscw:", "read_bytes:", "write_bytes:", "rchar:", "wchar:"};
    uint64_t value[6] = {0};
    unsigned known = 0;
    sonde__scan scan = sonde__scan_of(text, len), line;
    while (sonde__scan_line(&scan, &line)) {
        for (unsigned i = 0; i < 6; i++) {
            if (!sonde__scan_literal(&line, keys[i], strlen(keys[i])))
                continue;
            if (!sonde__scan_uint(&line, &value[i]))
                return SONDE_EBADDATA;
            known |= 1u << i;
            break;
        }
    }
    if (known != 63)
        return SONDE_EBADDATA;
    memcpy(counter, value, sizeof value);
    return SONDE_OK;
}

static sonde_status io_read(sonde__host *host, void *state, sonde_telemetry *out)
{
    (void)state;
    uint64_t counter[6];
    sonde_status status = sonde__parse_pid_io(host->text.data, host->text.len, counter);
    if (status != SONDE_OK)
        return status;
    for (unsigned i = 0; i < 6; i++)
        sonde__set_uint(out, (sonde_field)(SONDE_FIELD_PROCESS_READ_COUNT + i), counter[i]);
    return SONDE_OK;
}

const sonde__source sonde__source_proc_pid_io = {
    .name = "proc_pid_io",
    .summary = "I/O of the process",
    .remedy = "only the same user or root may read it; also CONFIG_TASK_IO_ACCOUNTING",
    .types = SONDE_CAPTURE_PROCESS,
    .levels = SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_PROCESS_READ_COUNT, SONDE_FIELD_PROCESS_WRITE_CHARS}},
    .file = "io",
    .read = io_read,
};
