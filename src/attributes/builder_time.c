/* SPDX-License-Identifier: Apache-2.0 */
/* Seconds of today's jobs. Whether the day has changed is decided where the update is applied, by
   the map's last update at that moment, not by what it was when the record was looked at. */
#include "attributes/builders.h"

static sonde_status time_build(void *user, const sonde_data *data,
                               const sonde_build_context *context, sonde_updates *updates)
{
    (void)user;
    (void)context;
    sonde__number time;
    if (!sonde__data_time(data, &time))
        return sonde_updates_fail(updates, SONDE_EBADDATA, "time_lapsed is not a number");
    sonde__key_begin(updates);
    SONDE__KEY_LITERAL(updates, "time_lapsed_today");
    sonde__key_end(updates, SONDE__OP_DAILY, true, 1);
    return updates->status;
}

const sonde__builtin sonde__builder_time = {
    .builder = {.name = "time", .build = time_build},
    .needs = 1u << SONDE__ROLE_TIME,
};
