/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/gpu_json.h"

#include "capture/gpu_device.h"

#include <stdio.h>

enum { FIRST_OWN = SONDE_GPU_TOTAL };

static void write_value(sonde__json *json, const sonde__gpu *gpu, unsigned metric)
{
    sonde_field_type type = sonde_gpu_describe((sonde_gpu_metric)metric)->type;
    if (gpu->status[metric] != SONDE_OK)
        sonde__json_null(json);
    else if (type == SONDE_FIELD_TYPE_TEXT)
        sonde__json_string(json, metric == SONDE_GPU_NAME ? gpu->name : gpu->id);
    else if (type == SONDE_FIELD_TYPE_DOUBLE)
        sonde__json_double(json, gpu->value[metric].d);
    else
        sonde__json_uint(json, gpu->value[metric].u);
}

/* The stacks of memory are one list, written with the first of them. */
static bool is_present(const sonde__gpu *gpu, unsigned metric)
{
    if (metric < SONDE_GPU_HBM_0 || metric > SONDE_GPU_HBM_3)
        return gpu->status[metric] == SONDE_OK;
    bool any = false;
    for (unsigned i = SONDE_GPU_HBM_0; i <= SONDE_GPU_HBM_3; i++)
        any |= gpu->status[i] == SONDE_OK;
    return any && metric == SONDE_GPU_HBM_0;
}

/* A stack that is not there is null, since the position counts. */
static void write_stacks(sonde__json *json, const sonde__gpu *gpu)
{
    sonde__json_begin_array(json);
    for (unsigned i = SONDE_GPU_HBM_0; i <= SONDE_GPU_HBM_3; i++)
        write_value(json, gpu, i);
    sonde__json_end_array(json);
}

/* Metrics first to before last, those of one object together. */
static void write_metrics(sonde__json *json, const sonde__gpu *gpu, unsigned first, unsigned last)
{
    const char *open = "";
    for (unsigned i = first; i < last; i++) {
        const sonde_gpu_metric_info *info = sonde_gpu_describe((sonde_gpu_metric)i);
        if (!is_present(gpu, i))
            continue;
        if (strcmp(info->object, open) != 0) {
            if (*open)
                sonde__json_end_object(json);
            open = info->object;
            if (*open) {
                sonde__json_key(json, open);
                sonde__json_begin_object(json);
            }
        }
        sonde__json_key(json, info->key);
        if (i == SONDE_GPU_HBM_0)
            write_stacks(json, gpu);
        else
            write_value(json, gpu, i);
    }
    if (*open)
        sonde__json_end_object(json);
}

static void write_processes(sonde__json *json, const sonde__gpu *gpu)
{
    if (gpu->process_count == 0)
        return;
    sonde__json_key(json, "processes");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < gpu->process_count; i++) {
        sonde__json_begin_object(json);
        sonde__json_key(json, "pid");
        sonde__json_uint(json, gpu->process[i].pid);
        sonde__json_key(json, "used");
        sonde__json_uint(json, gpu->process[i].used_bytes);
        sonde__json_end_object(json);
    }
    sonde__json_end_array(json);
}

void sonde__gpu_write_section(sonde__json *json, const sonde_telemetry *t)
{
    if (t->gpu_count == 0)
        return;
    sonde__json_key(json, "gpu");
    sonde__json_begin_object(json);
    for (size_t i = 0; i < t->gpu_count; i++) {
        sonde__json_key(json, t->gpu[i].label);
        sonde__json_begin_object(json);
        write_metrics(json, &t->gpu[i], 0, FIRST_OWN);
        sonde__json_end_object(json);
    }
    sonde__json_end_object(json);
}

void sonde__gpu_write_own(sonde__json *json, const sonde_telemetry *t)
{
    if (t->gpu_count == 0)
        return;
    sonde__json_key(json, "gpu");
    sonde__json_begin_object(json);
    for (size_t i = 0; i < t->gpu_count; i++) {
        const sonde__gpu *gpu = &t->gpu[i];
        sonde__json_key(json, gpu->label);
        sonde__json_begin_object(json);
        sonde__json_key(json, "vendor");
        sonde__json_string(json, gpu->vendor == 'N' ? "nvidia" : "amd");
        sonde__json_key(json, "index");
        sonde__json_uint(json, gpu->index);
        if (gpu->backend) { /* NULL: out of a journal, by a reader of another version */
            sonde__json_key(json, "read_by");
            sonde__json_string(json, gpu->backend->name);
        }
        write_metrics(json, gpu, FIRST_OWN, SONDE_GPU_METRIC_COUNT);
        write_processes(json, gpu);
        sonde__json_end_object(json);
    }
    sonde__json_end_object(json);
}

static void write_reason(sonde__json *json, const sonde__gpu *gpu, unsigned metric)
{
    const sonde_gpu_metric_info *info = sonde_gpu_describe((sonde_gpu_metric)metric);
    char path[96];
    snprintf(path, sizeof path, "%sgpu.%s.%s%s%s", metric >= FIRST_OWN ? "sonde." : "", gpu->label,
             info->object, *info->object ? "." : "", info->key);
    sonde__json_key(json, path);
    sonde__json_string(json, sonde_status_name((sonde_status)gpu->status[metric]));
}

void sonde__gpu_write_missing(sonde__json *json, const sonde_telemetry *t)
{
    if (t->gpu_status != SONDE_OK && t->gpu_status != SONDE_EOFF) {
        sonde__json_key(json, "gpu");
        sonde__json_string(json, sonde_status_name(t->gpu_status));
    }
    for (size_t i = 0; i < t->gpu_count; i++) {
        const sonde__gpu *gpu = &t->gpu[i];
        for (unsigned metric = 0; metric < SONDE_GPU_METRIC_COUNT; metric++) {
            bool later_stack = metric > SONDE_GPU_HBM_0 && metric <= SONDE_GPU_HBM_3;
            if (!is_present(gpu, metric) && sonde__gpu_wants(gpu, (sonde_gpu_metric)metric) &&
                !later_stack)
                write_reason(json, gpu, metric);
        }
    }
}
