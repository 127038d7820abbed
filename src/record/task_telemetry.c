/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks with readings. */
#include "sonde/task_telemetry.h"

#include "record/reading.h"
#include "record/recorder.h"
#include "record/task_impl.h"
#include "record/task_metrics.h"
#include "record/task_telemetry_hooks.h"

#include <string.h>

static void put(sonde_task task, unsigned key, unsigned type, const void *data, size_t len)
{
    sonde__lane_local *lane = task ? sonde__lane_enter(true) : NULL;
    if (!lane)
        return;
    sonde__task_attr(lane, sonde__ref_of(task), SONDE__GROUP_SYSTEM, key, type, data, len);
    sonde__lane_leave(lane);
}

void sonde__reading_at_start(sonde_task task, const sonde__reading *reading)
{
    if (reading->id)
        put(task, SONDE__SYS_TELEMETRY_START, SONDE_ATTR_UINT, &reading->id, 8);
    if (reading->has_point)
        put(task, SONDE__SYS_POINT, SONDE_ATTR_BYTES, &reading->point,
            sonde__point_bytes(&reading->point));
}

/* The point that was put into the slot at the start; false when it is not there (any more). */
static bool find_point(const sonde__slot *slot, sonde__point *out)
{
    uint32_t bytes = atomic_load_explicit(&slot->attr_bytes, memory_order_relaxed);
    for (uint32_t at = 0; at + sizeof(sonde__ring_attr) <= bytes;) {
        sonde__ring_attr attr;
        memcpy(&attr, slot->attrs + at, sizeof attr);
        at += (uint32_t)sizeof attr;
        if (attr.group == SONDE__GROUP_SYSTEM && attr.key == SONDE__SYS_POINT &&
            bytes - at >= attr.len)
            return sonde__point_load(slot->attrs + at, attr.len, out);
        at += (attr.len + 7u) & ~7u;
    }
    return false;
}

/* Of a task of this thread that is open. */
static bool start_point(sonde_task task, sonde__point *out)
{
    sonde__lane_local *lane = sonde__lane_enter(true);
    if (!lane)
        return false;
    sonde__ref ref = sonde__ref_of(task);
    const sonde__slot *slot = &lane->slots[ref.slot];
    bool found = ref.lane == lane->index &&
                 atomic_load_explicit(&slot->state, memory_order_relaxed) ==
                     (ref.number << 2 | SONDE__SLOT_OPEN) &&
                 find_point(slot, out);
    sonde__lane_leave(lane);
    return found;
}

static uint64_t stamp(void)
{
    sonde__lane_local *lane = sonde__lane_enter(true);
    uint64_t now = lane ? sonde__ticks_now(lane->tsc) : 0;
    if (lane)
        sonde__lane_leave(lane);
    return now;
}

sonde_task sonde_task_begin_measured(sonde_name *activity, sonde_measure measure)
{
    sonde__reading reading;
    if (!sonde_enabled())
        return 0;
    if (!sonde__task_metrics_sampled(activity))
        return SONDE__UNSAMPLED | sonde__name_id(activity);
    bool have = sonde__reading_take(measure, 0, &reading);
    sonde_task task = sonde__task_begin_plain(activity);
    if (task && have)
        sonde__reading_at_start(task, &reading);
    return task;
}

void sonde__task_end_measured(sonde_task task, sonde_task_status status, const char *error,
                              size_t error_len, sonde_measure measure)
{
    uint64_t end = task & SONDE__UNSAMPLED ? 0 : stamp();
    sonde__reading reading;
    sonde__point from;
    if (end != 0 && sonde__reading_take(measure, end, &reading)) {
        if (reading.id)
            put(task, SONDE__SYS_TELEMETRY_END, SONDE_ATTR_UINT, &reading.id, 8);
        if (reading.has_point && start_point(task, &from)) {
            sonde_task_usage usage = sonde__usage_between(&from, &reading.point);
            put(task, SONDE__SYS_USAGE, SONDE_ATTR_BYTES, &usage, sonde__usage_bytes(&usage));
        }
    }
    sonde__task_end_at(task, status, error, error_len, end);
}

void sonde_task_end_measured(sonde_task task, sonde_task_status status, const char *error,
                             sonde_measure measure)
{
    if (task)
        sonde__task_end_measured(task, status, error, error ? strlen(error) : 0, measure);
}

void sonde_task_measure(sonde_task task, sonde_measure measure)
{
    sonde__reading reading;
    if (task && sonde__reading_take(measure, 0, &reading) && reading.id)
        put(task, SONDE__SYS_TELEMETRY_INSIDE, SONDE_ATTR_UINT, &reading.id, 8);
}
