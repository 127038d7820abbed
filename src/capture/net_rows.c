/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/net_rows.h"

void sonde__net_sum_add(sonde__net_sum *sum, const uint64_t *counter)
{
    sum->interfaces++;
    for (unsigned i = 0; i < SONDE__NET_COUNTERS; i++)
        sum->counter[i] += counter[i];
}

void sonde__net_sum_store(const sonde__net_sum *sum, sonde_telemetry *out)
{
    for (unsigned i = 0; i < SONDE__NET_COUNTERS; i++) {
        sonde_field field = (sonde_field)(SONDE_FIELD_NETWORK_BYTES_SENT + i);
        if (sum->garbled)
            out->status[field] = SONDE_EBADDATA;
        else if (sum->interfaces > 0)
            sonde__set_uint(out, field, sum->counter[i]);
    }
}

bool sonde__net_is_used(const uint64_t *counter)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < SONDE__NET_COUNTERS; i++)
        any |= counter[i];
    return any != 0;
}

sonde_status sonde__net_row_add(sonde__rows *rows, const char *name, const uint64_t *counter,
                                sonde_status status)
{
    sonde__row *row = sonde__rows_add(rows, name);
    if (!row)
        return rows->status;
    for (unsigned i = 0; i < SONDE__NET_COUNTERS; i++) {
        row->value[i].u = counter[i];
        row->status[i] = (int8_t)status;
    }
    return SONDE_OK;
}
