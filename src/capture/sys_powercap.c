/* SPDX-License-Identifier: Apache-2.0 */
/* Energy by RAPL, of Intel and AMD: /sys/class/powercap/intel-rapl:N is a package (or psys),
   intel-rapl:N:M a part of it, by Documentation/power/powercap/powercap.rst. Counters are in
   microjoules and wrap at max_energy_range_uj: 262 kJ on many machines, which a package of 200 W
   fills in 22 minutes; readings must be closer together than that, since two wraps look like one.
   What is reported are joules since the handle was opened. intel-rapl-mmio counts the same packages
   again and is not used. */
#include "base/errno_status.h"
#include "capture/machine_parsers.h"
#include "capture/small_file.h"

#include <dirent.h>
#include <errno.h>

enum { ZONES_MAX = 64, KINDS = SONDE_FIELD_ENERGY_PLATFORM - SONDE_FIELD_ENERGY_PACKAGE + 1 };

typedef struct rapl_zone {
    sonde__kernel_file file;
    unsigned kind; /* field from SONDE_FIELD_ENERGY_PACKAGE on */
    uint64_t range_uj;
    uint64_t previous_uj;
    bool started;
    uint64_t sum_uj;
} rapl_zone;

typedef struct powercap_state {
    rapl_zone zone[ZONES_MAX];
    size_t count;
    double previous_j; /* packages and memory, at the previous reading */
    bool previous_known;
} powercap_state;

/* What the kernel calls the parts: package-0, package-0-die-1, core, uncore, dram, psys. */
static bool kind_of(const char *name, unsigned *kind)
{
    static const char *const names[KINDS] = {"package", "core", "uncore", "dram", "psys"};
    for (unsigned i = 0; i < KINDS; i++) {
        if (strncmp(name, names[i], strlen(names[i])) != 0)
            continue;
        *kind = i;
        return true;
    }
    return false;
}

static sonde_status add_zone(sonde__host *host, powercap_state *state, const char *entry)
{
    char name[64];
    rapl_zone *added = &state->zone[state->count];
    if (state->count == ZONES_MAX || strncmp(entry, "intel-rapl:", 11) != 0)
        return SONDE_EABSENT;
    sonde_status status =
        sonde__small_line(host, name, sizeof name, "/sys/class/powercap/%.64s/name", entry);
    if (status != SONDE_OK || !kind_of(name, &added->kind))
        return SONDE_EABSENT;
    status = sonde__small_number(host, &added->range_uj,
                                 "/sys/class/powercap/%.64s/max_energy_range_uj", entry);
    if (status == SONDE_OK)
        status =
            sonde__small_open(host, &added->file, "/sys/class/powercap/%.64s/energy_uj", entry);
    if (status == SONDE_OK)
        state->count++;
    return status;
}

static void powercap_close(void *opaque)
{
    powercap_state *state = opaque;
    for (size_t i = 0; i < state->count; i++)
        sonde__kernel_file_close(&state->zone[i].file);
}

static sonde_status powercap_open(sonde__host *host, void *opaque)
{
    powercap_state *state = opaque;
    char path[SONDE__ROOT_BYTES + 64];
    if (!sonde__host_path(host, path, sizeof path, "/sys/class/powercap"))
        return SONDE_ELIMIT;
    DIR *dir = opendir(path);
    if (!dir)
        return sonde__status_of_errno(errno);
    sonde_status reason = SONDE_EABSENT;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        sonde_status status = add_zone(host, state, entry->d_name);
        if (status != SONDE_OK && status != SONDE_EABSENT)
            reason = status;
    }
    closedir(dir);
    return state->count > 0 ? SONDE_OK : reason;
}

static sonde_status read_zone(sonde__host *host, rapl_zone *zone)
{
    uint64_t now_uj;
    sonde_status status = sonde__kernel_file_read(&zone->file, &host->text);
    if (status == SONDE_OK)
        status = sonde__parse_number(host->text.data, host->text.len, &now_uj);
    if (status != SONDE_OK)
        return status;
    if (zone->started)
        zone->sum_uj += now_uj >= zone->previous_uj ? now_uj - zone->previous_uj
                                                    : zone->range_uj - zone->previous_uj + now_uj;
    zone->started = true;
    zone->previous_uj = now_uj;
    return SONDE_OK;
}

static void set_power(const sonde__host *host, powercap_state *state, const double joules[KINDS],
                      sonde_telemetry *out)
{
    static const unsigned dram = SONDE_FIELD_ENERGY_DRAM - SONDE_FIELD_ENERGY_PACKAGE;
    double now_j = joules[0] + joules[dram];
    if (state->previous_known && host->window_ns > 0)
        sonde__set_double(out, SONDE_FIELD_ENERGY_POWER,
                          (now_j - state->previous_j) / ((double)host->window_ns / 1e9));
    else
        out->status[SONDE_FIELD_ENERGY_POWER] = SONDE_EEARLY;
    state->previous_j = now_j;
    state->previous_known = true;
}

static sonde_status powercap_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    powercap_state *state = opaque;
    double joules[KINDS] = {0};
    sonde_status failure[KINDS] = {SONDE_OK};
    bool there[KINDS] = {false};
    for (size_t i = 0; i < state->count; i++) {
        rapl_zone *zone = &state->zone[i];
        sonde_status status = read_zone(host, zone);
        there[zone->kind] = true;
        joules[zone->kind] += (double)zone->sum_uj / 1e6;
        if (status != SONDE_OK)
            failure[zone->kind] = status;
    }
    for (unsigned i = 0; i < KINDS; i++) {
        sonde_field field = (sonde_field)(SONDE_FIELD_ENERGY_PACKAGE + i);
        if (failure[i] != SONDE_OK)
            out->status[field] = (int8_t)failure[i];
        else if (there[i])
            sonde__set_double(out, field, joules[i]);
    }
    if (there[0] && failure[0] == SONDE_OK)
        set_power(host, state, joules, out);
    else
        out->status[SONDE_FIELD_ENERGY_POWER] = (int8_t)(there[0] ? failure[0] : SONDE_EABSENT);
    return SONDE_OK;
}

const sonde__source sonde__source_sys_powercap = {
    .name = "sys_powercap",
    .summary = "energy of CPU packages and memory (RAPL)",
    .remedy =
        "readable by root only since Linux 5.10: chmod a+r "
        "/sys/class/powercap/intel-rapl:*/energy_uj (or a udev rule), or run as root; virtual "
        "machines have no counters",
    .types = SONDE_CAPTURE_ENERGY,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_ENERGY_PACKAGE, SONDE_FIELD_ENERGY_POWER}},
    .state_bytes = sizeof(powercap_state),
    .open = powercap_open,
    .read = powercap_read,
    .close = powercap_close,
};
