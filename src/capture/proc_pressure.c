/* SPDX-License-Identifier: Apache-2.0 */
/* Pressure stall information of the machine: the share of time in which some or all tasks waited
   for the CPU, for memory or for I/O. Needs Linux 4.20 with CONFIG_PSI; where that is off by
   default the files are there but refuse to be read. Each of the three fails by itself. */
#include "capture/machine_parsers.h"
#include "capture/source.h"

enum { RESOURCES = 3, FIELDS_PER_LINE = 4, FIELDS_PER_RESOURCE = 8 };

typedef struct pressure_state {
    sonde__kernel_file file[RESOURCES];
    sonde_status open_status[RESOURCES];
} pressure_state;

static void set_line(const sonde__pressure *pressure, unsigned line, sonde_telemetry *out,
                     unsigned first)
{
    for (unsigned i = 0; i < SONDE__PRESSURE_AVERAGES; i++)
        sonde__set_double(out, (sonde_field)(first + i), pressure->percent[line][i]);
    sonde__set_double(out, (sonde_field)(first + SONDE__PRESSURE_AVERAGES),
                      (double)pressure->total_us[line] / 1e6);
}

static sonde_status pressure_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    pressure_state *state = opaque;
    for (unsigned i = 0; i < RESOURCES; i++) {
        unsigned first = SONDE_FIELD_PRESSURE_CPU_SOME_AVG10 + i * FIELDS_PER_RESOURCE;
        sonde__pressure pressure;
        sonde_status status = state->open_status[i];
        if (status == SONDE_OK)
            status = sonde__kernel_file_read(&state->file[i], &host->text);
        if (status == SONDE_OK)
            status = sonde__parse_pressure(host->text.data, host->text.len, &pressure);
        for (unsigned line = 0; status == SONDE_OK && line < SONDE__PRESSURE_LINES; line++)
            if (pressure.known & (1u << line))
                set_line(&pressure, line, out, first + line * FIELDS_PER_LINE);
        if (status != SONDE_OK)
            sonde__set_reason(out, (sonde_field)first,
                              (sonde_field)(first + FIELDS_PER_RESOURCE - 1), status);
    }
    return SONDE_OK;
}

static void pressure_close(void *opaque)
{
    pressure_state *state = opaque;
    for (unsigned i = 0; i < RESOURCES; i++)
        sonde__kernel_file_close(&state->file[i]);
}

static sonde_status pressure_open(sonde__host *host, void *opaque)
{
    static const char *const paths[RESOURCES] = {"/proc/pressure/cpu", "/proc/pressure/memory",
                                                 "/proc/pressure/io"};
    pressure_state *state = opaque;
    sonde_status status = SONDE_EABSENT;
    for (unsigned i = 0; i < RESOURCES; i++) {
        state->file[i].fd = -1;
        state->open_status[i] =
            sonde__host_open_file(host, paths[i], SONDE__FILE_WHOLE, &state->file[i]);
        if (status != SONDE_OK)
            status = state->open_status[i];
    }
    return status;
}

const sonde__source sonde__source_proc_pressure = {
    .name = "proc_pressure",
    .summary = "time lost waiting for CPU, memory and I/O",
    .remedy = "needs Linux 4.20 with CONFIG_PSI; where it is off by default boot with psi=1",
    .types = SONDE_CAPTURE_PRESSURE,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_PRESSURE_CPU_SOME_AVG10, SONDE_FIELD_PRESSURE_IO_FULL_TOTAL}},
    .state_bytes = sizeof(pressure_state),
    .open = pressure_open,
    .read = pressure_read,
    .close = pressure_close,
};
