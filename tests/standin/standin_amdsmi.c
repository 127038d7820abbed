/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libamd_smi.so with the ABI of amdsmi.h, library 24.7 (ROCm 6.2) by default and
   others by STANDIN_VERSION. The metrics are written byte by byte at the offsets that header gives
   them, and so large as library 26.5 has them, so that neither is taken from the code under test.
   Built a second time with STANDIN_OLD without activity, metrics and UUID. */
#include "standin.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef unsigned int amdsmi_status_t;
typedef void *amdsmi_socket_handle;
typedef void *amdsmi_processor_handle;

enum { SUCCESS = 0, INVAL = 1, NOT_FOUND = 31, NOT_INIT = 32 };
enum { CALL_USAGE = 1, CALL_TOTAL, CALL_ACTIVITY, CALL_METRICS, CALL_UUID, CALL_ASIC };
enum { DEVICES_MAX = 64, METRICS_BYTES = 4608 };

static _Atomic long knob[STANDIN_KNOBS] = {
    [STANDIN_DEVICES] = 2, [STANDIN_LOST] = -1, [STANDIN_VERSION] = 24};
static _Atomic uint64_t calls;
static _Atomic int users;
static char device[DEVICES_MAX], cpu; /* only their addresses matter */

EXPORT standin_steer_function standin_amdsmi_steer;
EXPORT uint64_t standin_amdsmi_steer(standin_knob which, long value)
{
    uint64_t before = calls;
    calls = 0;
    knob[which] = value;
    return before;
}

static amdsmi_status_t enter(amdsmi_processor_handle which, int call)
{
    calls++;
    standin_spin(knob[STANDIN_SPIN_NS]);
    if (users <= 0)
        return NOT_INIT;
    if (which == (void *)&cpu)
        return INVAL;
    if ((char *)which - device == knob[STANDIN_LOST])
        return NOT_FOUND;
    return knob[STANDIN_FAIL_CALL] == call ? (amdsmi_status_t)knob[STANDIN_FAIL_CODE] : SUCCESS;
}

EXPORT amdsmi_status_t amdsmi_init(uint64_t flags);
EXPORT amdsmi_status_t amdsmi_init(uint64_t flags)
{
    if (knob[STANDIN_FAIL_INIT])
        return (amdsmi_status_t)knob[STANDIN_FAIL_INIT];
    users += flags == 2;
    return flags == 2 ? SUCCESS : INVAL;
}

EXPORT amdsmi_status_t amdsmi_shut_down(void);
EXPORT amdsmi_status_t amdsmi_shut_down(void)
{
    users--;
    return SUCCESS;
}

/* Until library 24 the year comes first, from 25 on there is none. */
EXPORT amdsmi_status_t amdsmi_get_lib_version(void *version);
EXPORT amdsmi_status_t amdsmi_get_lib_version(void *version)
{
    const uint32_t numbers[4] = {(uint32_t)knob[STANDIN_VERSION], 7, 0, 0};
    memcpy(version, numbers, sizeof numbers);
    return SUCCESS;
}

/* A socket per GPU; a CPU sits in the first. */
EXPORT amdsmi_status_t amdsmi_get_socket_handles(uint32_t *count, amdsmi_socket_handle *list);
EXPORT amdsmi_status_t amdsmi_get_socket_handles(uint32_t *count, amdsmi_socket_handle *list)
{
    uint32_t found = (uint32_t)knob[STANDIN_DEVICES];
    for (uint32_t i = 0; i < found && i < *count; i++)
        list[i] = &device[i];
    *count = found;
    return users > 0 ? SUCCESS : NOT_INIT;
}

EXPORT amdsmi_status_t amdsmi_get_processor_handles(amdsmi_socket_handle socket, uint32_t *count,
                                                    amdsmi_processor_handle *list);
EXPORT amdsmi_status_t amdsmi_get_processor_handles(amdsmi_socket_handle socket, uint32_t *count,
                                                    amdsmi_processor_handle *list)
{
    uint32_t found = 0;
    if (socket == (void *)&device[0])
        list[found++] = &cpu;
    list[found++] = socket;
    *count = found;
    return SUCCESS;
}

EXPORT amdsmi_status_t amdsmi_get_processor_type(amdsmi_processor_handle which, int *type);
EXPORT amdsmi_status_t amdsmi_get_processor_type(amdsmi_processor_handle which, int *type)
{
    *type = which == (void *)&cpu ? 2 : 1;
    return SUCCESS;
}

EXPORT amdsmi_status_t amdsmi_get_gpu_memory_usage(amdsmi_processor_handle which, int type,
                                                   uint64_t *used);
EXPORT amdsmi_status_t amdsmi_get_gpu_memory_usage(amdsmi_processor_handle which, int type,
                                                   uint64_t *used)
{
    amdsmi_status_t code = enter(which, CALL_USAGE);
    if (code == SUCCESS)
        *used = type == 0 ? 10960896 : 1;
    return code;
}

EXPORT amdsmi_status_t amdsmi_get_gpu_memory_total(amdsmi_processor_handle which, int type,
                                                   uint64_t *total);
EXPORT amdsmi_status_t amdsmi_get_gpu_memory_total(amdsmi_processor_handle which, int type,
                                                   uint64_t *total)
{
    amdsmi_status_t code = enter(which, CALL_TOTAL);
    if (code == SUCCESS)
        *total = type == 0 ? 68702699520u : 1;
    return code;
}

/* amdsmi_asic_info_t starts with the market name; 256 bytes of it in library 24.7. */
EXPORT amdsmi_status_t amdsmi_get_gpu_asic_info(amdsmi_processor_handle which, void *info);
EXPORT amdsmi_status_t amdsmi_get_gpu_asic_info(amdsmi_processor_handle which, void *info)
{
    amdsmi_status_t code = enter(which, CALL_ASIC);
    if (code == SUCCESS) {
        memset(info, 0, 1024);
        snprintf(info, 256, "AMD Instinct MI250X");
    }
    return code;
}

#ifndef STANDIN_OLD

EXPORT amdsmi_status_t amdsmi_get_gpu_device_uuid(amdsmi_processor_handle which, unsigned *length,
                                                  char *uuid);
EXPORT amdsmi_status_t amdsmi_get_gpu_device_uuid(amdsmi_processor_handle which, unsigned *length,
                                                  char *uuid)
{
    amdsmi_status_t code = enter(which, CALL_UUID);
    if (code == SUCCESS && *length < 38)
        return INVAL;
    if (code == SUCCESS)
        snprintf(uuid, *length, "d9ff7408-0000-1000-80b2-%012d", (int)((char *)which - device));
    return code;
}

/* amdsmi_engine_usage_t: three 32-bit numbers and 52 bytes. */
EXPORT amdsmi_status_t amdsmi_get_gpu_activity(amdsmi_processor_handle which, void *usage);
EXPORT amdsmi_status_t amdsmi_get_gpu_activity(amdsmi_processor_handle which, void *usage)
{
    amdsmi_status_t code = enter(which, CALL_ACTIVITY);
    const uint32_t percent[16] = {12, 3, 0xFFFF};
    if (code == SUCCESS)
        memcpy(usage, percent, sizeof percent);
    return code;
}

static void put_16(unsigned char *at, size_t offset, uint16_t value)
{
    memcpy(at + offset, &value, sizeof value);
}

/* amdsmi_gpu_metrics_t of amdsmi.h 24.7: header 4 bytes, then in this order. */
static void fill_metrics(unsigned char *metrics)
{
    const uint64_t energy = 123456789;
    static const struct {
        size_t offset;
        uint16_t value;
    } known[] = {
        {4, 35},                                  /* temperature_edge */
        {6, 38},                                  /* temperature_hotspot */
        {8, 40},                                  /* temperature_mem */
        {10, 0},                                  /* temperature_vrgfx */
        {14, 0},                                  /* temperature_vrmem */
        {22, 91},                                 /* average_socket_power */
        {54, 800},                                /* current_gfxclk */
        {56, 1000},                               /* current_socclk */
        {58, 1600},                               /* current_uclk */
        {60, 0},                                  /* current_vclk0 */
        {62, 0},                                  /* current_dclk0 */
        {72, 0},                                  /* current_fan_speed */
        {88, 40},   {90, 40}, {92, 41}, {94, 40}, /* temperature_hbm */
    };
    memset(metrics, 0xFF, METRICS_BYTES);
    memcpy(metrics + 24, &energy, sizeof energy);
    for (size_t i = 0; !knob[STANDIN_NOT_AVAILABLE] && i < sizeof known / sizeof *known; i++)
        put_16(metrics, known[i].offset, known[i].value);
    if (knob[STANDIN_NOT_AVAILABLE]) { /* a card with a hotspot sensor and one memory stack only */
        put_16(metrics, 6, 38);
        put_16(metrics, 90, 44);
        memset(metrics + 24, 0xFF, sizeof energy);
    }
}

EXPORT amdsmi_status_t amdsmi_get_gpu_metrics_info(amdsmi_processor_handle which, void *metrics);
EXPORT amdsmi_status_t amdsmi_get_gpu_metrics_info(amdsmi_processor_handle which, void *metrics)
{
    amdsmi_status_t code = enter(which, CALL_METRICS);
    if (code == SUCCESS)
        fill_metrics(metrics);
    return code;
}

#endif
