/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_parser.h"

#include "capture/capture_limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sonde__scan scan = sonde__scan_of((const char *)data, size), before = scan;
    sonde__cpu_line line;
    while (sonde__proc_stat_next(&scan, &line)) {
        require_progress(&before, &scan);
        require(line.id >= SONDE__CPU_UNKNOWN && line.id <= SONDE__ROWS_MAX);
        require(line.columns == 0 || (line.columns >= 4 && line.columns <= SONDE__CPU_TIMES));
        require(line.id != SONDE__CPU_UNKNOWN || line.columns == 0);
        for (unsigned i = line.columns; line.columns > 0 && i < SONDE__CPU_TIMES; i++)
            require(line.ticks[i] == 0);
        before = scan;
    }
    return 0;
}
