/* SPDX-License-Identifier: Apache-2.0 */
/* File system usage of the configured paths; the first one is disk.disk_usage. By path each time: a
   kept descriptor would hold a removable disk mounted. "free" is what an unprivileged user may
   still take, "used" counts the reserve of root, so the two do not add up to the total. */
#include "base/errno_status.h"
#include "capture/source.h"

#include <errno.h>
#include <sys/vfs.h>

enum { TOTAL, USED, FREE, PERCENT, USAGE_COLUMNS };

static sonde_status read_usage(const char *path, sonde__value value[USAGE_COLUMNS])
{
    struct statfs fs;
    if (statfs(path, &fs) != 0)
        return sonde__status_of_errno(errno);
    uint64_t block = (uint64_t)(fs.f_frsize ? fs.f_frsize : fs.f_bsize);
    value[TOTAL].u = fs.f_blocks * block;
    value[USED].u = (fs.f_blocks - fs.f_bfree) * block;
    value[FREE].u = fs.f_bavail * block;
    double reachable = (double)value[USED].u + (double)value[FREE].u;
    value[PERCENT].d = reachable > 0 ? sonde__percent((double)value[USED].u, reachable) : 0.0;
    return SONDE_OK;
}

static sonde_status statfs_read(sonde__host *host, void *state, sonde_telemetry *out)
{
    (void)state;
    sonde__rows *rows = &out->table[SONDE_TABLE_PATHS];
    for (size_t i = 0; i < host->path_count; i++) {
        sonde__row *row = sonde__rows_add(rows, host->paths[i]);
        if (!row)
            return rows->status;
        memset(row->status, read_usage(host->paths[i], row->value), USAGE_COLUMNS);
    }
    rows->status = SONDE_OK;
    if (rows->count == 0)
        return SONDE_EABSENT;
    memcpy(&out->value[SONDE_FIELD_DISK_TOTAL], rows->row[0].value,
           USAGE_COLUMNS * sizeof(sonde__value));
    memcpy(&out->status[SONDE_FIELD_DISK_TOTAL], rows->row[0].status, USAGE_COLUMNS);
    return SONDE_OK;
}

const sonde__source sonde__source_statfs = {
    .name = "statfs",
    .summary = "usage of file systems",
    .remedy = "check telemetry_capture.disk_paths: each must exist",
    .types = SONDE_CAPTURE_DISK,
    .levels = SONDE__AT_FULL,
    .live_only = true,
    .fields = {{SONDE_FIELD_DISK_TOTAL, SONDE_FIELD_DISK_PERCENT}},
    .read = statfs_read,
};
