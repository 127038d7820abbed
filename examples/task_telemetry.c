/* SPDX-License-Identifier: Apache-2.0 */
/* What a task cost the machine: readings at its start and end, the peak in between.
   Build: cc task_telemetry.c $(pkg-config --cflags --libs sonde) */
#include <sonde/sonde.h>

#include <stdio.h>
#include <stdlib.h>

enum { WORK_BYTES = 200 << 20 };

static void work(void)
{
    unsigned char *memory = malloc(WORK_BYTES);
    volatile unsigned char *pages = memory; /* so that the compiler does not leave it out */
    for (size_t i = 0; memory && i < WORK_BYTES; i += 4096)
        pages[i] = 1;
    free(memory);
}

int main(void)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.telemetry_start = options.telemetry_end = SONDE_MEASURE_REGULAR; /* for every task */
    options.sample_interval_ns = 10000000;
    sonde_session *session;
    if (sonde_open(NULL, &options, &session) != SONDE_OK)
        return 1;
    sonde_task task = sonde_task_begin(SONDE_NAME("work"));
    work();
    sonde_task_end(task);
    char path[1024];
    snprintf(path, sizeof path, "%s", sonde_session_path(session));
    sonde_close(session);

    sonde_reader *reader;
    sonde_record record;
    if (sonde_reader_open(path, NULL, &reader) != SONDE_OK)
        return 1;
    while (sonde_reader_next(reader, &record) == SONDE_OK)
        if (record.kind == SONDE_RECORD_TASK && record.usage)
            printf("%.*s: %.0f MB at most, %s, telemetry at start: %s, at end: %s\n",
                   (int)record.name_len, record.name, record.usage->rss_bytes_max / 1e6,
                   record.usage->cpu_seconds > 0 ? "used the CPU" : "idle",
                   record.telemetry_start ? "yes" : "no", record.telemetry_end ? "yes" : "no");
    sonde_reader_close(reader);
    printf("more: sonde dump %s\n", path);
    return 0;
}
