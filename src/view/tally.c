/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tally.h"

#include "base/buf.h"
#include "base/number_format.h"

#include <string.h>

const char *sonde__tally_by_name(sonde__tally_by by)
{
    static const char *const names[] = {"activity", "worker", "layer", "device"};
    return names[by];
}

void sonde__tally_init(sonde__tally *tally, unsigned tables)
{
    *tally = (sonde__tally){.tables = tables | SONDE__TALLY_SUMMARY, .first_start_ns = UINT64_MAX};
    tally->by[SONDE__BY_DEVICE].with_busy = true;
}

void sonde__tally_free(sonde__tally *tally)
{
    for (int by = 0; by < SONDE__BY_COUNT; by++)
        sonde__group_table_free(&tally->by[by]);
    sonde__group_table_free(&tally->experts);
    sonde__group_table_free(&tally->expert_layers);
}

/* Packets arrive by their ends: one that began before the last end of the other device ran beside
   it. A pair is counted once, with the packet that ended later. */
static void count_contention(sonde__tally *tally, uint64_t start_ns, uint64_t end_ns, bool cpu,
                             bool igpu)
{
    if (!cpu && !igpu)
        return;
    uint64_t *mine = cpu ? &tally->cpu_end_ns : &tally->igpu_end_ns;
    uint64_t other = cpu ? tally->igpu_end_ns : tally->cpu_end_ns;
    if (start_ns < other && start_ns < end_ns)
        tally->contention++;
    if (end_ns > *mine)
        *mine = end_ns;
}

static void count_text(sonde__group_table *table, const char *text, size_t len)
{
    sonde__group *group = sonde__group_get(table, (sonde__text){text, len}, 0);
    if (group)
        group->count++;
}

/* expert_N where the packet says which experts; where only the operation's name speaks of experts,
   the original's OPERATION_layer_N. */
static void count_experts(sonde__tally *tally, const sonde__packet *packet)
{
    char text[SONDE__WORKER_TEXT_MAX + 32] = "expert_";
    for (unsigned i = 0; i < packet->experts; i++)
        count_text(&tally->experts, text, 7 + sonde__format_int(packet->expert[i], text + 7));
    sonde__text operation = packet->operation;
    if (packet->experts > 0 || operation.len > SONDE__WORKER_TEXT_MAX)
        return;
    sonde__buf key;
    sonde__buf_init_fixed(&key, text, sizeof text);
    sonde__buf_append(&key, operation.data, operation.len);
    sonde__buf_text(&key, "_layer_");
    count_text(&tally->expert_layers, text,
               key.len + sonde__format_int(packet->layer, text + key.len));
}

static void add_to(sonde__tally *tally, sonde__tally_by by, sonde__text name,
                   const sonde__packet *packet, const sonde__group *device)
{
    sonde__group *group = sonde__group_get(&tally->by[by], name, packet->layer);
    if (group)
        sonde__group_add(group, packet, device);
    else
        tally->unplaced++;
}

/* By activity and device, and by the others that are kept. */
static void add_to_groups(sonde__tally *tally, const sonde__packet *packet, sonde__group *activity,
                          sonde__group *device)
{
    sonde__group_add(activity, packet, device);
    sonde__group_add(device, packet, device);
    if (tally->tables & 1u << SONDE__BY_WORKER)
        add_to(tally, SONDE__BY_WORKER, packet->worker, packet, device);
    if (tally->tables & 1u << SONDE__BY_LAYER && packet->layer != SONDE__NO_LAYER) {
        char text[SONDE__INT_TEXT_MAX];
        sonde__text name = {text, sonde__format_int(packet->layer, text)};
        add_to(tally, SONDE__BY_LAYER, name, packet, device);
    }
}

static bool is_fallback(const sonde__packet *packet)
{
    sonde__text target = packet->target, device = packet->device;
    return !sonde__text_is(target, "auto") &&
           (target.len != device.len || memcmp(target.data, device.data, target.len) != 0);
}

void sonde__tally_add(sonde__tally *tally, const sonde__packet *packet)
{
    uint64_t end_ns = packet->end_ns, start_ns = sonde__packet_start_ns(packet);
    tally->packets++;
    tally->failed += !packet->success;
    if (start_ns < tally->first_start_ns)
        tally->first_start_ns = start_ns;
    if (end_ns > tally->last_end_ns)
        tally->last_end_ns = end_ns;
    if (packet->target.len > 0) {
        tally->targets++;
        tally->fallbacks += is_fallback(packet);
    }
    sonde__busy_add(&tally->busy, start_ns, end_ns);
    sonde__group *device =
        sonde__group_get(&tally->by[SONDE__BY_DEVICE], packet->device, packet->layer);
    sonde__group *activity =
        sonde__group_get(&tally->by[SONDE__BY_ACTIVITY], packet->operation, packet->layer);
    if (!device || !activity) {
        tally->unplaced++;
        return;
    }
    count_contention(tally, start_ns, end_ns, device->is_cpu, device->is_igpu);
    if (packet->experts > 0 || activity->has_expert)
        count_experts(tally, packet);
    add_to_groups(tally, packet, activity, device);
}

uint64_t sonde__tally_device_packets(const sonde__tally *tally, const char *device)
{
    const sonde__group *group = sonde__group_find(&tally->by[SONDE__BY_DEVICE], device);
    return group ? group->times.count : 0;
}

uint64_t sonde__tally_device_ns(const sonde__tally *tally, const char *device)
{
    const sonde__group *group = sonde__group_find(&tally->by[SONDE__BY_DEVICE], device);
    return group ? group->times.sum_ns : 0;
}
