/* SPDX-License-Identifier: Apache-2.0 */
/* Reads telemetry before and after some work and prints what the work cost.
   Build: cc capture.c $(pkg-config --cflags --libs sonde) */
#include <sonde/sonde.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORK_BYTES = 64 << 20 };

static double read_double(const sonde_telemetry *now, sonde_field field)
{
    double value = 0;
    sonde_status status = sonde_telemetry_double(now, field, &value);
    if (status != SONDE_OK)
        fprintf(stderr, "%s: %s\n", sonde_field_describe(field)->path, sonde_status_text(status));
    return value;
}

int main(void)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = SONDE_CAPTURE_CPU | SONDE_CAPTURE_PROCESS | SONDE_CAPTURE_MEMORY;

    sonde_capture *capture;
    sonde_status status = sonde_capture_open(&options, &capture);
    if (status != SONDE_OK) {
        fprintf(stderr, "cannot capture: %s\n", sonde_status_text(status));
        return 1;
    }

    const sonde_telemetry *now;
    sonde_capture_read(capture, &now);
    double rss_before_bytes = read_double(now, SONDE_FIELD_PROCESS_RSS);
    double cpu_before_s = read_double(now, SONDE_FIELD_PROCESS_USER);

    unsigned char *memory = malloc(WORK_BYTES);
    if (!memory)
        return 1;
    uint64_t sum = 0;
    for (int round = 0; round < 10; round++) {
        memset(memory, round, WORK_BYTES);
        for (size_t i = 0; i < WORK_BYTES; i += 64)
            sum += memory[i];
    }

    sonde_capture_read(capture, &now);
    printf("sum            %" PRIu64 "\n", sum);
    printf("memory grew    %.0f MiB\n",
           (read_double(now, SONDE_FIELD_PROCESS_RSS) - rss_before_bytes) / (1 << 20));
    printf("user CPU time  %.3f s\n", read_double(now, SONDE_FIELD_PROCESS_USER) - cpu_before_s);
    printf("CPU            %.1f %% of one core\n",
           read_double(now, SONDE_FIELD_PROCESS_CPU_PERCENT));
    printf("reading cost   %.1f us\n", (double)sonde_telemetry_cost_ns(now) / 1e3);
    for (size_t cpu = 0; cpu < sonde_telemetry_rows(now, SONDE_TABLE_CPUS); cpu++)
        printf("cpu %s\n", sonde_telemetry_row_name(now, SONDE_TABLE_CPUS, cpu));

    const char *json;
    size_t len;
    if (sonde_capture_json(capture, &json, &len) == SONDE_OK)
        printf("%s\n", json);
    free(memory);
    sonde_capture_close(capture);
    return 0;
}
