/* SPDX-License-Identifier: Apache-2.0 */
/* Disk counters from /proc/diskstats: a line per disk, each followed by its partitions. The sum is
   over whole disks, as psutil has it; a volume (dm, md) and the disks below it both count. Sectors
   are 512 bytes whatever the device. Columns beyond the eleventh (discards, flushes) are not used;
   lines of seven columns are partitions of kernels before 2.6.25. */
#include "capture/disk_rows.h"
#include "capture/parsers.h"
#include "capture/row_names.h"
#include "capture/source.h"

enum { SECTOR_BYTES = 512 };

/* Columns of a stat line in the kernel's order (sectors as bytes), and where psutil's order has
   them. */
static void order_counters(const uint64_t column[11], uint64_t *counter)
{
    counter[0] = column[0];
    counter[1] = column[4];
    counter[2] = column[2];
    counter[3] = column[6];
    counter[4] = column[3];
    counter[5] = column[7];
    counter[6] = column[1];
    counter[7] = column[5];
    counter[8] = column[9];
}

/* Sectors as bytes; false when that many cannot be. */
static bool scale_sectors(uint64_t *sectors)
{
    if (*sectors > UINT64_MAX / SECTOR_BYTES)
        return false;
    *sectors *= SECTOR_BYTES;
    return true;
}

/* The counters of a line, all 0 when they are not what they should be. */
static bool scan_counters(sonde__scan *line, uint64_t *counter)
{
    uint64_t column[11] = {0};
    memset(counter, 0, SONDE__DISK_COUNTERS * sizeof *counter);
    unsigned count = 0;
    while (count < 11 && sonde__scan_uint(line, &column[count]))
        count++;
    if (count == 11) {
        if (!scale_sectors(&column[2]) || !scale_sectors(&column[6]))
            return false;
        order_counters(column, counter);
        return true;
    }
    sonde__scan_blanks(line);
    if (count != 4 || line->at == line->end || *line->at != '\n' || !scale_sectors(&column[1]) ||
        !scale_sectors(&column[3]))
        return false;
    counter[0] = column[0];
    counter[1] = column[2];
    counter[2] = column[1];
    counter[3] = column[3];
    return true;
}

bool sonde__diskstats_next(sonde__scan *scan, sonde__disk_line *out)
{
    if (scan->at == scan->end)
        return false;
    sonde__scan line;
    uint64_t major, minor;
    *out = (sonde__disk_line){.name = scan->at, .garbled = true};
    if (!sonde__scan_line(scan, &line)) { /* cut off */
        scan->at = scan->end;
        return true;
    }
    if (!sonde__scan_uint(&line, &major) || !sonde__scan_uint(&line, &minor) ||
        !sonde__scan_word(&line, &out->name, &out->name_len))
        return true;
    if (out->name_len < SONDE__DISK_NAME_BYTES)
        out->garbled = !scan_counters(&line, out->counter);
    else
        out->name_len = 0;
    return true;
}

sonde_status sonde__parse_block_stat(const char *text, size_t len, uint64_t *counter)
{
    sonde__scan scan = sonde__scan_of(text, len);
    return scan_counters(&scan, counter) ? SONDE_OK : SONDE_EBADDATA;
}

bool sonde__is_partition(const char *name, size_t len, const char *disk, size_t disk_len)
{
    if (disk_len == 0 || len <= disk_len || memcmp(name, disk, disk_len) != 0)
        return false;
    size_t at = disk_len;
    bool ends_in_digit = disk[disk_len - 1] >= '0' && disk[disk_len - 1] <= '9';
    if (ends_in_digit && name[at++] != 'p')
        return false;
    if (at == len)
        return false;
    while (at < len && name[at] >= '0' && name[at] <= '9')
        at++;
    return at == len;
}

bool sonde__is_idle_virtual(const sonde__disk_line *line)
{
    static const char *const prefixes[] = {"loop", "zram", "ram"};
    bool is_virtual = false;
    for (unsigned i = 0; i < 3; i++)
        if (line->name_len > strlen(prefixes[i]) &&
            memcmp(line->name, prefixes[i], strlen(prefixes[i])) == 0)
            is_virtual = true;
    uint64_t any = 0;
    for (unsigned i = 0; i < SONDE__DISK_COUNTERS; i++)
        any |= line->counter[i];
    return is_virtual && any == 0 && !line->garbled;
}

typedef struct diskstats_state {
    sonde__names names; /* of the rows */
} diskstats_state;

static sonde_status add_row(diskstats_state *state, const sonde__disk_line *line, sonde__rows *rows)
{
    if (!sonde__names_put(&state->names, rows->count, line->name, line->name_len))
        return SONDE_ENOMEM;
    sonde__row *row = sonde__rows_add(rows, "");
    if (!row)
        return rows->status;
    for (unsigned i = 0; i < SONDE__DISK_COUNTERS; i++) {
        row->value[i].u = line->counter[i];
        row->status[i] = line->garbled ? SONDE_EBADDATA : SONDE_OK;
    }
    return SONDE_OK;
}

static sonde_status diskstats_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    diskstats_state *state = opaque;
    sonde_status status = SONDE_OK;
    sonde__disk_sum sum = {0};
    sonde__rows *rows = &out->table[SONDE_TABLE_DISKS];
    sonde__scan scan = sonde__scan_of(host->text.data, host->text.len);
    sonde__disk_line line;
    while (sonde__diskstats_next(&scan, &line)) {
        sonde__disk_sum_add(&sum, &line);
        if (status == SONDE_OK && host->level == SONDE_LEVEL_FULL && line.name_len > 0 &&
            (host->idle_disks || !sonde__is_idle_virtual(&line)))
            status = add_row(state, &line, rows);
    }
    sonde__names_apply(&state->names, rows);
    if (host->level == SONDE_LEVEL_FULL)
        rows->status = status;
    sonde__disk_sum_store(&sum, out);
    return status;
}

static void diskstats_close(void *opaque)
{
    diskstats_state *state = opaque;
    sonde__names_free(&state->names);
}

const sonde__source sonde__source_proc_diskstats = {
    .name = "proc_diskstats",
    .summary = "disk counters, in all and per disk and partition",
    .remedy = "the kernel shows no block devices; network file systems have no counters here",
    .types = SONDE_CAPTURE_DISK,
    .levels = SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_DISK_READ_COUNT, SONDE_FIELD_DISK_BUSY_TIME}},
    .file = "/proc/diskstats",
    .file_kind = SONDE__FILE_LINES,
    .state_bytes = sizeof(diskstats_state),
    .read = diskstats_read,
    .close = diskstats_close,
};
