/* SPDX-License-Identifier: Apache-2.0 */
/* One counter per question: how often an action passed or failed, and was run with this version,
   network and GPU. */
#include "attributes/builders.h"

#include <ctype.h>

static void end_with_action(sonde_updates *updates, const sonde_data *data, int64_t count)
{
    SONDE__KEY_LITERAL(updates, "_action_");
    sonde__key_role(updates, data, SONDE__ROLE_ACTION);
    sonde__key_end(updates, SONDE__OP_SUM, false, count);
}

static void count_gpu(sonde_updates *updates, const sonde_data *data, const sonde__gpu_count *gpu)
{
    sonde__key_begin(updates);
    SONDE__KEY_LITERAL(updates, "gpu_");
    for (uint32_t i = 0; i < gpu->len; i++)
        sonde__buf_char(&updates->keys, (char)tolower((unsigned char)gpu->text[i]));
    end_with_action(updates, data, gpu->count);
}

static sonde_status legacy_build(void *user, const sonde_data *data,
                                 const sonde_build_context *context, sonde_updates *updates)
{
    (void)user;
    (void)context;
    sonde__key_begin(updates);
    SONDE__KEY_LITERAL(updates, "total_action_");
    sonde__key_role(updates, data, SONDE__ROLE_ACTION);
    sonde__key_text(updates, sonde__data_passed(data) ? "_pass" : "_fail", 5);
    sonde__key_end(updates, SONDE__OP_SUM, false, 1);

    sonde__key_begin(updates);
    SONDE__KEY_LITERAL(updates, "version_");
    sonde__key_role(updates, data, SONDE__ROLE_VERSION);
    end_with_action(updates, data, 1);

    sonde__key_begin(updates);
    SONDE__KEY_LITERAL(updates, "network_");
    sonde__key_role(updates, data, SONDE__ROLE_NETWORK);
    end_with_action(updates, data, 1);

    const sonde__gpu_set *gpus = sonde__updates_gpus(updates, data);
    for (size_t i = 0; gpus && i < gpus->name_count; i++)
        count_gpu(updates, data, &gpus->names[i]);
    return updates->status;
}

const sonde__builtin sonde__builder_legacy = {
    .builder = {.name = "legacy", .build = legacy_build},
    .needs = 1u << SONDE__ROLE_ACTION | 1u << SONDE__ROLE_VERSION | 1u << SONDE__ROLE_NETWORK |
             1u << SONDE__ROLE_SUCCESS | 1u << SONDE__ROLE_GPUS,
};
