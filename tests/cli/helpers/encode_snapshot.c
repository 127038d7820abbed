/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes one snapshot in profile pyveda.
     usage: encode_snapshot FORMAT NUMBERS...   the 13 fields of sonde_snapshot in order, the time
   in nanoseconds, nan for what is not known */
#include <sonde/sonde.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    sonde_format format;
    sonde_view *view = sonde_view_create();
    if (argc != 15 || !view || sonde_format_parse(argv[1], &format) != SONDE_OK)
        return 2;
    sonde_snapshot snapshot = {
        .wall_ns = strtoull(argv[2], NULL, 10),
        .tasks_executed = strtoull(argv[3], NULL, 10),
        .tasks_failed = strtoull(argv[4], NULL, 10),
        .tasks_pending = strtoull(argv[5], NULL, 10),
        .avg_latency_ms = strtod(argv[6], NULL),
        .p50_latency_ms = strtod(argv[7], NULL),
        .p95_latency_ms = strtod(argv[8], NULL),
        .p99_latency_ms = strtod(argv[9], NULL),
        .throughput_tasks_per_sec = strtod(argv[10], NULL),
        .cpu_utilization_percent = strtod(argv[11], NULL),
        .memory_used_mb = strtod(argv[12], NULL),
        .gpu_utilization_percent = strtod(argv[13], NULL),
        .gpu_memory_used_mb = strtod(argv[14], NULL),
    };
    sonde_encode_options options = SONDE_ENCODE_OPTIONS_DEFAULT;
    options.profile = SONDE_PROFILE_PYVEDA;
    const char *data;
    size_t len;
    sonde_view_begin(view, snapshot.wall_ns);
    sonde_view_snapshot(view, &snapshot);
    if (sonde_encode(view, format, &options, &data, &len) != SONDE_OK)
        return 1;
    fwrite(data, 1, len, stdout);
    sonde_view_destroy(view);
    return 0;
}
