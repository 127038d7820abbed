/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/gpu_device.h"

static const sonde__gpu *find(const sonde_telemetry *t, size_t gpu, sonde_gpu_metric metric)
{
    return gpu < t->gpu_count && (unsigned)metric < SONDE_GPU_METRIC_COUNT ? &t->gpu[gpu] : NULL;
}

size_t sonde_telemetry_gpus(const sonde_telemetry *t)
{
    return t->gpu_count;
}

const char *sonde_telemetry_gpu_name(const sonde_telemetry *t, size_t gpu)
{
    return gpu < t->gpu_count ? t->gpu[gpu].label : NULL;
}

sonde_status sonde_telemetry_gpu_uint(const sonde_telemetry *t, size_t gpu, sonde_gpu_metric metric,
                                      uint64_t *out)
{
    const sonde__gpu *found = find(t, gpu, metric);
    if (!found || sonde_gpu_describe(metric)->type != SONDE_FIELD_TYPE_UINT)
        return SONDE_EINVAL;
    if (found->status[metric] == SONDE_OK)
        *out = found->value[metric].u;
    return (sonde_status)found->status[metric];
}

sonde_status sonde_telemetry_gpu_double(const sonde_telemetry *t, size_t gpu,
                                        sonde_gpu_metric metric, double *out)
{
    const sonde__gpu *found = find(t, gpu, metric);
    sonde_field_type type = found ? sonde_gpu_describe(metric)->type : SONDE_FIELD_TYPE_TEXT;
    if (type != SONDE_FIELD_TYPE_UINT && type != SONDE_FIELD_TYPE_DOUBLE)
        return SONDE_EINVAL;
    if (found->status[metric] == SONDE_OK)
        *out =
            type == SONDE_FIELD_TYPE_UINT ? (double)found->value[metric].u : found->value[metric].d;
    return (sonde_status)found->status[metric];
}

sonde_status sonde_telemetry_gpu_text(const sonde_telemetry *t, size_t gpu, sonde_gpu_metric metric,
                                      const char **out)
{
    const sonde__gpu *found = find(t, gpu, metric);
    if (!found || (metric != SONDE_GPU_NAME && metric != SONDE_GPU_ID))
        return SONDE_EINVAL;
    if (found->status[metric] == SONDE_OK)
        *out = metric == SONDE_GPU_NAME ? found->name : found->id;
    return (sonde_status)found->status[metric];
}
