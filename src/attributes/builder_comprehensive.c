/* SPDX-License-Identifier: Apache-2.0 */
/* One counter per combination of all attributes, in one long name. The status stands before the
   first attribute of order 4 or more. The original asks whether the word "status" is among the
   parts already, and so loses the status of a network of that name: kept in compat. */
#include "attributes/builders.h"

#include <string.h>

enum { STATUS_ORDER = 4 };

static void put_part(sonde_updates *updates, const char *text, size_t len)
{
    if (updates->keys.len > updates->key_start)
        sonde__buf_char(&updates->keys, '_');
    sonde__key_text(updates, text, len);
}

static bool says_status(const sonde_data *data, int attribute)
{
    const sonde__datum *datum = &data->values[attribute];
    return data->table->compat && datum->kind == SONDE__DATUM_TEXT && datum->len == 6 &&
           memcmp(sonde__datum_text(data, datum), "status", 6) == 0;
}

static void put_status(sonde_updates *updates, const sonde_data *data)
{
    put_part(updates, sonde__data_passed(data) ? "status_pass" : "status_fail", 11);
}

static sonde_status comprehensive_build(void *user, const sonde_data *data,
                                        const sonde_build_context *context, sonde_updates *updates)
{
    (void)user;
    (void)context;
    const sonde_attributes *table = data->table;
    const sonde__gpu_set *gpus = sonde__updates_gpus(updates, data);
    if (!gpus)
        return updates->status;
    sonde__key_begin(updates);
    bool placed = false;
    for (size_t i = 0; i < table->named_count; i++) {
        int attribute = table->named[i];
        const sonde__row *row = &table->rows[attribute];
        if (!placed && row->view.metric_order >= STATUS_ORDER) {
            put_status(updates, data);
            placed = true;
        }
        put_part(updates, row->name, row->name_len);
        sonde__buf_char(&updates->keys, '_');
        sonde__key_value(updates, data, attribute);
        placed = placed || says_status(data, attribute);
    }
    if (!placed)
        put_status(updates, data);
    SONDE__KEY_LITERAL(updates, "_gpu_");
    sonde__gpu_set_identifier(gpus, &updates->keys);
    sonde__key_end(updates, SONDE__OP_SUM, false, 1);
    return updates->status;
}

const sonde__builtin sonde__builder_comprehensive = {
    .builder = {.name = "comprehensive", .build = comprehensive_build},
    .needs = 1u << SONDE__ROLE_SUCCESS | 1u << SONDE__ROLE_GPUS,
};
