/* SPDX-License-Identifier: Apache-2.0 */
/* Temperatures from /sys/class/thermal (zones) and /sys/class/hwmon (sensors of CPU, disks and
   boards), in thousandths of a degree. Virtual machines have none. A sensor that cannot be read now
   (a sleeping device answers with an error) is left out of this reading. */
#include "base/errno_status.h"
#include "capture/machine_parsers.h"
#include "capture/row_names.h"
#include "capture/small_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { SENSORS_MAX = 128, INPUTS_PER_DEVICE = 64 };

typedef struct thermal_state {
    sonde__kernel_file file[SENSORS_MAX];
    char name[SENSORS_MAX][SONDE__NAME_BYTES];
    size_t count;
} thermal_state;

/* Two zones of one type are told apart by a number, as rows are by their names. */
static void make_unique(thermal_state *state, char *name)
{
    char plain[SONDE__NAME_BYTES];
    memcpy(plain, name, sizeof plain);
    for (unsigned copy = 2; copy < SENSORS_MAX; copy++) {
        bool taken = false;
        for (size_t i = 0; i < state->count; i++)
            taken |= strcmp(state->name[i], name) == 0;
        if (!taken)
            return;
        snprintf(name, SONDE__NAME_BYTES, "%.*s_%u", SONDE__NAME_BYTES - 6, plain, copy);
    }
}

static void add_sensor(const sonde__host *host, thermal_state *state, const char *name,
                       const char *path)
{
    if (state->count == SENSORS_MAX ||
        sonde__small_open(host, &state->file[state->count], "%s", path) != SONDE_OK)
        return;
    char unique[SONDE__NAME_BYTES];
    snprintf(unique, sizeof unique, "%s", name);
    make_unique(state, unique);
    memcpy(state->name[state->count++], unique, sizeof unique);
}

static void add_zone(sonde__host *host, thermal_state *state, const char *entry)
{
    char type[SONDE__NAME_BYTES], path[SONDE__SMALL_PATH_BYTES];
    if (strncmp(entry, "thermal_zone", 12) != 0)
        return;
    if (sonde__small_line(host, type, sizeof type, "/sys/class/thermal/%.64s/type", entry) !=
        SONDE_OK)
        snprintf(type, sizeof type, "%.31s", entry);
    snprintf(path, sizeof path, "/sys/class/thermal/%.64s/temp", entry);
    add_sensor(host, state, type, path);
}

/* tempN_input of one device, named "coretemp Core 0" by the device and the label. */
static void add_device(sonde__host *host, thermal_state *state, const char *entry)
{
    char chip[SONDE__NAME_BYTES], label[SONDE__NAME_BYTES], name[2 * SONDE__NAME_BYTES];
    char path[SONDE__SMALL_PATH_BYTES];
    if (strncmp(entry, "hwmon", 5) != 0 ||
        sonde__small_line(host, chip, sizeof chip, "/sys/class/hwmon/%.64s/name", entry) !=
            SONDE_OK)
        return;
    for (unsigned i = 1; i <= INPUTS_PER_DEVICE; i++) {
        sonde__kernel_file probe;
        snprintf(path, sizeof path, "/sys/class/hwmon/%.64s/temp%u_input", entry, i);
        if (sonde__small_open(host, &probe, "%s", path) != SONDE_OK)
            break;
        sonde__kernel_file_close(&probe);
        bool labelled =
            sonde__small_line(host, label, sizeof label, "/sys/class/hwmon/%.64s/temp%u_label",
                              entry, i) == SONDE_OK;
        snprintf(name, sizeof name, "%s%s%s", chip, labelled ? " " : "", labelled ? label : "");
        add_sensor(host, state, name, path);
    }
}

static sonde_status list_folder(sonde__host *host, thermal_state *state, const char *folder,
                                void (*add)(sonde__host *, thermal_state *, const char *))
{
    char path[SONDE__ROOT_BYTES + 64];
    if (!sonde__host_path(host, path, sizeof path, "%s", folder))
        return SONDE_ELIMIT;
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, versionsort);
    if (count < 0)
        return sonde__status_of_errno(errno);
    for (int i = 0; i < count; i++) {
        add(host, state, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return SONDE_OK;
}

static sonde_status thermal_open(sonde__host *host, void *opaque)
{
    thermal_state *state = opaque;
    sonde_status zones = list_folder(host, state, "/sys/class/thermal", add_zone);
    list_folder(host, state, "/sys/class/hwmon", add_device);
    if (state->count > 0)
        return SONDE_OK;
    return zones == SONDE_OK ? SONDE_EABSENT : zones;
}

static sonde_status thermal_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    thermal_state *state = opaque;
    sonde__rows *rows = &out->table[SONDE_TABLE_SENSORS];
    rows->status = SONDE_OK;
    sonde_status failure = SONDE_EABSENT;
    for (size_t i = 0; i < state->count; i++) {
        int64_t milli;
        sonde_status status = sonde__kernel_file_read(&state->file[i], &host->text);
        if (status == SONDE_OK)
            status = sonde__parse_signed(host->text.data, host->text.len, &milli);
        sonde__row *row = sonde__rows_add(rows, state->name[i]);
        if (!row)
            return SONDE_ENOMEM;
        row->status[0] = (int8_t)status;
        if (status != SONDE_OK) {
            failure = status;
            continue;
        }
        row->value[0].d = (double)milli / 1000.0;
        if (out->status[SONDE_FIELD_THERMAL_TEMPERATURE] != SONDE_OK ||
            row->value[0].d > out->value[SONDE_FIELD_THERMAL_TEMPERATURE].d)
            sonde__set_double(out, SONDE_FIELD_THERMAL_TEMPERATURE, row->value[0].d);
    }
    return out->status[SONDE_FIELD_THERMAL_TEMPERATURE] == SONDE_OK ? SONDE_OK : failure;
}

static void thermal_close(void *opaque)
{
    thermal_state *state = opaque;
    for (size_t i = 0; i < state->count; i++)
        sonde__kernel_file_close(&state->file[i]);
}

const sonde__source sonde__source_sys_thermal = {
    .name = "sys_thermal",
    .summary = "temperatures of CPU and board",
    .remedy = "virtual machines have no sensors; on bare metal load coretemp or k10temp",
    .types = SONDE_CAPTURE_THERMAL,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_THERMAL_TEMPERATURE, SONDE_FIELD_THERMAL_TEMPERATURE}},
    .state_bytes = sizeof(thermal_state),
    .open = thermal_open,
    .read = thermal_read,
    .close = thermal_close,
};
