/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/disk_rows.h"

bool sonde__disk_sum_add(sonde__disk_sum *sum, const sonde__disk_line *line)
{
    if (sonde__is_partition(line->name, line->name_len, sum->disk, sum->disk_len))
        return false;
    sum->disk = line->name;
    sum->disk_len = line->name_len;
    sum->disks++;
    sum->garbled |= line->garbled;
    for (unsigned i = 0; i < SONDE__DISK_COUNTERS; i++)
        sum->counter[i] += line->counter[i];
    return true;
}

void sonde__disk_sum_store(const sonde__disk_sum *sum, sonde_telemetry *out)
{
    for (unsigned i = 0; i < SONDE__DISK_COUNTERS; i++) {
        sonde_field field = (sonde_field)(SONDE_FIELD_DISK_READ_COUNT + i);
        if (sum->garbled)
            out->status[field] = SONDE_EBADDATA;
        else if (sum->disks > 0)
            sonde__set_uint(out, field, sum->counter[i]);
    }
}
