/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpu_table.h"

#include "cli/output.h"
#include "cli/units.h"

#include <stdio.h>
#include <string.h>

enum { LABEL_WIDTH = 12, VALUE_BYTES = 128 };

/* False when the metric was not asked for, or is not one of this vendor. */
static bool format_metric(const sonde_telemetry *t, size_t gpu, sonde_gpu_metric metric, char *out,
                          size_t cap)
{
    const sonde_gpu_metric_info *info = sonde_gpu_describe(metric);
    const char *text;
    double number = 0;
    sonde_status status = info->type == SONDE_FIELD_TYPE_TEXT
                              ? sonde_telemetry_gpu_text(t, gpu, metric, &text)
                              : sonde_telemetry_gpu_double(t, gpu, metric, &number);
    if (status == SONDE_EOFF)
        return false;
    sonde_field_info field = {.unit = info->unit, .key = info->key, .type = info->type};
    if (status != SONDE_OK)
        snprintf(out, cap, "[%s]", sonde_status_name(status));
    else if (info->type == SONDE_FIELD_TYPE_TEXT)
        snprintf(out, cap, "%s", text);
    else
        sonde__format_field(&field, number, out, cap);
    return true;
}

static void add_gpu(const sonde_telemetry *t, size_t gpu, sonde__buf *out)
{
    size_t column = LABEL_WIDTH;
    sonde__buf_printf(out, "  %-*s", LABEL_WIDTH - 2, sonde_telemetry_gpu_name(t, gpu));
    for (unsigned i = 0; i < SONDE_GPU_METRIC_COUNT; i++) {
        char value[VALUE_BYTES], cell[VALUE_BYTES + 64];
        if (!format_metric(t, gpu, (sonde_gpu_metric)i, value, sizeof value))
            continue;
        const sonde_gpu_metric_info *info = sonde_gpu_describe((sonde_gpu_metric)i);
        int len = snprintf(cell, sizeof cell, "%s%s%s %s", info->object, *info->object ? "." : "",
                           info->key, value);
        if (column > LABEL_WIDTH && column + 2 + (size_t)len > sonde__output_columns()) {
            sonde__buf_printf(out, "\n%*s", LABEL_WIDTH, "");
            column = LABEL_WIDTH;
        }
        sonde__buf_printf(out, "%s%s", column > LABEL_WIDTH ? "  " : "", cell);
        column += (size_t)len + 2;
    }
    sonde__buf_char(out, '\n');
}

void sonde__gpu_table(const sonde_telemetry *t, sonde__buf *out)
{
    for (size_t i = 0; i < sonde_telemetry_gpus(t); i++)
        add_gpu(t, i, out);
}
