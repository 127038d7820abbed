/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sampler.h"

#include "base/clock.h"
#include "record/usage.h"

#include <stdatomic.h>

static _Atomic unsigned wanted;
static _Atomic uint64_t meters;

/* of the library's thread */
static sonde_capture *process;
static sonde_capture *devices;
static unsigned devices_types; /* that it was opened for; none: there are none */
static uint64_t devices_meter;

void sonde__sampler_types(unsigned types)
{
    atomic_store(&wanted, types & (SONDE_CAPTURE_GPU | SONDE_CAPTURE_ENERGY));
}

uint64_t sonde__meter_next(void)
{
    return atomic_fetch_add(&meters, 1) + 1;
}

static sonde_capture *open_handle(unsigned types, sonde_level level)
{
    static const char *const gpu[] = {"used", "power", "energy", NULL};
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = types;
    options.level = level;
    options.gpu = gpu;
    sonde_capture *handle = NULL;
    return sonde_capture_open(&options, &handle) == SONDE_OK ? handle : NULL;
}

static void open_devices(void)
{
    unsigned types = atomic_load(&wanted);
    if (types == devices_types)
        return;
    sonde_capture_close(devices);
    devices = types ? open_handle(types, SONDE_LEVEL_REGULAR) : NULL;
    devices_types = types;
    devices_meter = sonde__meter_next();
}

void sonde__sampler_run(void)
{
    const sonde_telemetry *telemetry;
    sonde__point point;
    if (!process)
        process = open_handle(SONDE_CAPTURE_PROCESS, SONDE_LEVEL_LIGHT);
    open_devices();
    if (!process || sonde_capture_read(process, &telemetry) != SONDE_OK ||
        !sonde__point_of(telemetry, sonde__clock_monotonic_ns(), 0, &point))
        return;
    if (devices && sonde_capture_read(devices, &telemetry) == SONDE_OK)
        sonde__point_devices(telemetry, devices_meter, &point);
    sonde__samples_add(&point);
}

void sonde__sampler_close(void)
{
    sonde_capture_close(process);
    sonde_capture_close(devices);
    process = devices = NULL;
    devices_types = 0;
}
