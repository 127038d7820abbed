/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/loadavg: how many tasks run or wait, as means over 1, 5 and 15 minutes, and now. The
   machine's, also inside a container. */
#include "capture/machine_parsers.h"
#include "capture/source.h"

static sonde_status loadavg_read(sonde__host *host, void *state, sonde_telemetry *out)
{
    (void)state;
    sonde__loadavg load;
    sonde_status status = sonde__parse_loadavg(host->text.data, host->text.len, &load);
    if (status != SONDE_OK)
        return status;
    for (unsigned i = 0; i < 3; i++)
        sonde__set_double(out, (sonde_field)(SONDE_FIELD_LOAD_1 + i), load.mean[i]);
    sonde__set_uint(out, SONDE_FIELD_LOAD_RUNNING, load.running);
    sonde__set_uint(out, SONDE_FIELD_LOAD_TASKS, load.tasks);
    return SONDE_OK;
}

const sonde__source sonde__source_proc_loadavg = {
    .name = "proc_loadavg",
    .summary = "load of the machine",
    .remedy = "mount procfs at /proc",
    .types = SONDE_CAPTURE_LOAD,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_LOAD_1, SONDE_FIELD_LOAD_TASKS}},
    .file = "/proc/loadavg",
    .read = loadavg_read,
};
