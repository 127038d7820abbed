/* SPDX-License-Identifier: Apache-2.0 */
#include "record/task_metrics.h"

#include "record/metric_registry.h"
#include "record/names.h"
#include "record/own_metrics.h"
#include "record/recorder.h"
#include "sonde/task_telemetry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Handles of one activity or one device; they stay until the process ends. */
typedef struct group {
    sonde_histogram *duration;
    sonde_histogram *latency;
    sonde_counter *failed;
    sonde_counter *submitted; /* activities only, and started */
    sonde_counter *started;
    sonde_counter *unsampled; /* ended and not recorded */
    _Atomic uint32_t turn;
} group;

static _Atomic(group *) by_name[SONDE__NAMES_MAX + 1]; /* activities, by name id */

static group *make_activity(const char *name)
{
    group *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    const char *const labels[] = {"activity", name, NULL};
    made->duration = sonde_histogram_get(SONDE__OWN(TASK_DURATION), labels);
    made->latency = sonde_histogram_get(SONDE__OWN(TASK_LATENCY), labels);
    made->failed = sonde_counter_get(SONDE__OWN(TASKS_FAILED), labels);
    made->submitted = sonde_counter_get(SONDE__OWN(TASKS_SUBMITTED), labels);
    made->started = sonde_counter_get(SONDE__OWN(TASKS_STARTED), labels);
    made->unsampled = sonde_counter_get(SONDE__OWN(TASKS_UNSAMPLED), labels);
    return made;
}

static group *activity_of(uint32_t id, const char *text)
{
    if (id == 0 || id > SONDE__NAMES_MAX)
        return NULL;
    group *known = atomic_load_explicit(&by_name[id], memory_order_acquire);
    if (known || !text)
        return known;
    group *made = make_activity(text);
    if (made && !atomic_compare_exchange_strong(&by_name[id], &known, made))
        free(made); /* another thread was faster; its handles are the same */
    return atomic_load_explicit(&by_name[id], memory_order_acquire);
}

static group *activity_in(const sonde__names_view *names, uint32_t id)
{
    group *known = activity_of(id, NULL);
    if (known)
        return known;
    size_t len = 0;
    const char *text = sonde__names_view_get(names, id, &len);
    char copy[SONDE__NAME_LEN_MAX + 1];
    if (!text || len > SONDE__NAME_LEN_MAX)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return activity_of(id, copy);
}

/* What the drain looks for in a record's attributes. */
typedef struct found {
    uint64_t submitted; /* ticks, or wall nanoseconds for given times; 0: not queued */
    const char *device;
    size_t device_len;
} found;

static found look_at_attrs(const uint8_t *attrs, uint32_t bytes)
{
    found out = {0, NULL, 0};
    for (uint32_t at = 0; bytes - at >= sizeof(sonde__ring_attr);) {
        sonde__ring_attr attr;
        memcpy(&attr, attrs + at, sizeof attr);
        at += (uint32_t)sizeof attr;
        uint32_t padded = (attr.len + 7u) & ~7u;
        if (bytes - at < padded)
            break;
        if (attr.group == SONDE__GROUP_SYSTEM && attr.key == SONDE__SYS_SUBMITTED && attr.len == 8)
            memcpy(&out.submitted, attrs + at, 8);
        if (attr.group == SONDE__GROUP_SYSTEM && attr.key == SONDE__SYS_DEVICE) {
            out.device = (const char *)attrs + at;
            out.device_len = attr.len;
        }
        at += padded;
    }
    return out;
}

static double seconds_between(const sonde__rate *rate, uint64_t from, uint64_t to, bool given)
{
    uint64_t start = given ? from : sonde__rate_mono_ns(rate, from);
    uint64_t end = given ? to : sonde__rate_mono_ns(rate, to);
    return end > start ? (double)(end - start) / 1e9 : 0;
}

static void count_device(const found *what, double seconds, bool failed)
{
    static sonde_family *latency;
    static sonde_family *failures;
    if (!latency) {
        latency = sonde_histogram_family(SONDE__OWN(DEVICE_LATENCY), SONDE_KEYS("device"));
        failures = sonde_counter_family(SONDE__OWN(DEVICE_FAILED), SONDE_KEYS("device"));
    }
    char device[SONDE__LABEL_VALUE_MAX + 1];
    size_t len = what->device_len < sizeof device ? what->device_len : sizeof device - 1;
    memcpy(device, what->device, len);
    device[len] = '\0';
    sonde_histogram_observe(sonde_histogram_with(latency, SONDE_VALUES(device)), seconds);
    if (failed)
        sonde_counter_add(sonde_counter_with(failures, SONDE_VALUES(device)), 1);
}

void sonde__task_metrics_seen(const sonde__pump *pump, const sonde__names_view *names,
                              const sonde__ring_record *record, const uint8_t *attrs)
{
    if (record->kind != SONDE__KIND_TASK)
        return;
    const group *activity = activity_in(names, record->name);
    if (!activity)
        return;
    bool given = (record->flags & SONDE__GIVEN_TIMES) != 0;
    bool failed = (record->flags & SONDE__STATUS_MASK) == SONDE_ERROR;
    found what = {0, NULL, 0};
    if (record->attr_bytes)
        what = look_at_attrs(attrs, record->attr_bytes);
    double duration = seconds_between(&pump->rate, record->start, record->end, given);
    double latency = what.submitted
                         ? seconds_between(&pump->rate, what.submitted, record->end, given)
                         : duration;
    sonde_histogram_observe(activity->duration, duration);
    sonde_histogram_observe(activity->latency, latency);
    if (failed)
        sonde_counter_add(activity->failed, 1);
    if (what.device)
        count_device(&what, latency, failed);
}

void sonde__task_metrics_submitted(sonde_name *activity)
{
    const group *mine = activity_of(sonde__name_id(activity), activity->text);
    if (mine)
        sonde_counter_add(mine->submitted, 1);
}

void sonde__task_metrics_started(sonde_name *activity)
{
    const group *mine = activity_of(sonde__name_id(activity), activity->text);
    if (mine)
        sonde_counter_add(mine->started, 1);
}

bool sonde__task_metrics_sampled(sonde_name *activity)
{
    uint32_t every = __atomic_load_n(&activity->reserved, __ATOMIC_RELAXED);
    if (every == 0)
        return true;
    group *mine = activity_of(sonde__name_id(activity), activity->text);
    return !mine || atomic_fetch_add_explicit(&mine->turn, 1, memory_order_relaxed) % every == 0;
}

void sonde__task_metrics_unsampled(sonde_task task, sonde_task_status status)
{
    const group *mine = activity_of((uint32_t)task, NULL);
    if (!mine)
        return;
    sonde_counter_add(mine->unsampled, 1);
    if (status == SONDE_ERROR)
        sonde_counter_add(mine->failed, 1);
}

void sonde_name_sample(sonde_name *activity, uint32_t every)
{
    __atomic_store_n(&activity->reserved, every > 1 ? every : 0, __ATOMIC_RELAXED);
}

/* --- reading --- */

/* The value of the label that a task metric has. */
static const char *label_of(const sonde__metric_series *series)
{
    const char *text = (const char *)(series + 1);
    for (int i = 0; i < 3; i++) /* name, help, key */
        text += strlen(text) + 1;
    return text;
}

static const char *name_of(const sonde__metric_series *series)
{
    return (const char *)(series + 1);
}

static void add_series(const sonde__metric_view *view, const sonde__metric_series *series,
                       bool device, sonde__task_totals *out)
{
    const char *name = name_of(series);
    const char *latency =
        sonde__own_name(device ? SONDE__OWN_DEVICE_LATENCY : SONDE__OWN_TASK_LATENCY);
    const char *failed =
        sonde__own_name(device ? SONDE__OWN_DEVICE_FAILED : SONDE__OWN_TASKS_FAILED);
    if (strcmp(name, latency) == 0)
        sonde__metric_add_histogram(view, series->index, &out->latency);
    else if (strcmp(name, failed) == 0)
        out->failed += sonde__metric_read_counter(view, series->index);
    else if (device)
        return;
    else if (strcmp(name, sonde__own_name(SONDE__OWN_TASKS_UNSAMPLED)) == 0)
        out->unsampled += sonde__metric_read_counter(view, series->index);
    else if (strcmp(name, sonde__own_name(SONDE__OWN_TASKS_SUBMITTED)) == 0)
        out->pending += sonde__metric_read_counter(view, series->index);
    else if (strcmp(name, sonde__own_name(SONDE__OWN_TASKS_STARTED)) == 0)
        out->pending -= sonde__metric_read_counter(view, series->index);
}

void sonde__task_totals_read(const char *activity, const char *device, sonde__task_totals *out)
{
    const char *wanted = device ? device : activity;
    const sonde__metric_view *view = sonde__metric_store_in_use();
    out->failed = out->pending = out->unsampled = 0;
    sonde__merged_begin(&out->latency);
    uint64_t end = view ? atomic_load_explicit(&sonde__metric_header_of(view)->series_end,
                                               memory_order_acquire)
                        : 0;
    for (uint64_t at = 0; at < end;) {
        const sonde__metric_series *series =
            (const sonde__metric_series *)(const void *)(view->base + view->at.series + at);
        at += series->bytes;
        if (series->labels == 1 && strncmp(name_of(series), "sonde_", 6) == 0 &&
            (!wanted || strcmp(label_of(series), wanted) == 0))
            add_series(view, series, device != NULL, out);
    }
    sonde__merged_end(&out->latency);
    if ((int64_t)out->pending < 0) /* a start was read, its submission not yet */
        out->pending = 0;
}
