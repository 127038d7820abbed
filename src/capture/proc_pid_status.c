/* SPDX-License-Identifier: Apache-2.0 */
/* Context switches from /proc/PID/status, of the main thread, as psutil reports them. They stand at
   the end of the file, so it is looked through from there. */
#include "capture/parsers.h"
#include "capture/source.h"

sonde_status sonde__parse_pid_status(const char *text, size_t len, uint64_t *voluntary,
                                     uint64_t *involuntary)
{
    static const char *const keys[2] = {"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"};
    uint64_t value[2] = {0, 0};
    unsigned known = 0;
    size_t end = len; /* of the line looked at, its newline included */
    while (known != 3 && end > 0) {
        if (text[end - 1] != '\n') { /* a last line that was cut off */
            end--;
            continue;
        }
        const char *before = memrchr(text, '\n', end - 1);
        const char *start = before ? before + 1 : text;
        for (unsigned i = 0; i < 2; i++) {
            sonde__scan line = {start, text + end};
            if (!sonde__scan_literal(&line, keys[i], strlen(keys[i])))
                continue;
            if (!sonde__scan_uint(&line, &value[i]))
                return SONDE_EBADDATA;
            known |= 1u << i;
        }
        end = (size_t)(start - text);
    }
    if (known != 3)
        return SONDE_EABSENT;
    *voluntary = value[0];
    *involuntary = value[1];
    return SONDE_OK;
}

static sonde_status status_read(sonde__host *host, void *state, sonde_telemetry *out)
{
    (void)state;
    uint64_t voluntary, involuntary;
    sonde_status status =
        sonde__parse_pid_status(host->text.data, host->text.len, &voluntary, &involuntary);
    if (status != SONDE_OK)
        return status;
    sonde__set_uint(out, SONDE_FIELD_PROCESS_SWITCHES_VOLUNTARY, voluntary);
    sonde__set_uint(out, SONDE_FIELD_PROCESS_SWITCHES_INVOLUNTARY, involuntary);
    return SONDE_OK;
}

const sonde__source sonde__source_proc_pid_status = {
    .name = "proc_pid_status",
    .summary = "context switches of the process",
    .remedy = "mount procfs at /proc",
    .types = SONDE_CAPTURE_PROCESS,
    .levels = SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_PROCESS_SWITCHES_VOLUNTARY, SONDE_FIELD_PROCESS_SWITCHES_INVOLUNTARY}},
    .file = "status",
    .read = status_read,
};
