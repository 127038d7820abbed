/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/pressure, /proc/loadavg and lists of children: numbers that are finite, or a refusal. */
#include "fuzz.h"

#include "capture/machine_parsers.h"

#include <math.h>
#include <stdlib.h>

static void require(int truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size ? (const char *)data : "";
    sonde__pressure pressure;
    if (sonde__parse_pressure(text, size, &pressure) == SONDE_OK)
        for (unsigned i = 0; i < SONDE__PRESSURE_AVERAGES; i++)
            require(isfinite(pressure.percent[0][i]) && pressure.percent[0][i] >= 0);
    sonde__loadavg load;
    if (sonde__parse_loadavg(text, size, &load) == SONDE_OK)
        require(isfinite(load.mean[0]) && isfinite(load.mean[2]));
    sonde__scan scan = sonde__scan_of(text, size);
    size_t count = 0;
    for (uint64_t pid; sonde__children_next(&scan, &pid);)
        count++;
    require(count <= size / 2);
    uint64_t parent = 42;
    if (sonde__parse_pid_parent(text, size, &parent) != SONDE_OK)
        require(parent == 42);
    return 0;
}
