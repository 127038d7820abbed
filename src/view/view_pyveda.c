/* SPDX-License-Identifier: Apache-2.0 */
/* Profile pyveda: the families of PyVeda's Prometheus exporter in its order and words. Added: the
   sum and the count that a summary has, GPU families where there is a GPU, the final line feed.
   A value that is not known is left out, with its family. */
#include "view/view_text.h"

#include <math.h>
#include <string.h>

static void head(sonde__buf *out, const char *name, const char *help, const char *type, bool open)
{
    size_t len = strlen(name);
    if (open && strcmp(type, "counter") == 0)
        len -= sizeof "_total" - 1;
    if (!open && out->len > 0)
        sonde__buf_char(out, '\n'); /* the original's empty line; OpenMetrics has none */
    sonde__buf_printf(out, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)len, name, help, (int)len, name,
                      type);
}

static void counter(sonde__buf *out, const char *name, const char *help, uint64_t value,
                    const char *type, bool open)
{
    head(out, name, help, type, open);
    sonde__buf_text(out, name);
    sonde__buf_char(out, ' ');
    sonde__text_uint(out, value);
    sonde__buf_char(out, '\n');
}

static void gauge(sonde__buf *out, const char *name, const char *help, double value, bool open)
{
    if (isnan(value))
        return;
    head(out, name, help, "gauge", open);
    sonde__buf_text(out, name);
    sonde__buf_char(out, ' ');
    sonde__text_number(out, value);
    sonde__buf_char(out, '\n');
}

static void sample(sonde__buf *out, const char *start, double value)
{
    sonde__buf_text(out, start);
    sonde__text_number(out, value);
    sonde__buf_char(out, '\n');
}

static void latency(sonde__buf *out, const sonde_snapshot *s, bool open)
{
    head(out, "pyveda_latency_ms", "Task latency in milliseconds", "summary", open);
    sample(out, "pyveda_latency_ms{quantile=\"0.5\"} ", s->p50_latency_ms);
    sample(out, "pyveda_latency_ms{quantile=\"0.95\"} ", s->p95_latency_ms);
    sample(out, "pyveda_latency_ms{quantile=\"0.99\"} ", s->p99_latency_ms);
    sample(out, "pyveda_latency_ms_sum ", s->avg_latency_ms * (double)s->tasks_executed);
    sonde__buf_text(out, "pyveda_latency_ms_count ");
    sonde__text_uint(out, s->tasks_executed);
    sonde__buf_char(out, '\n');
}

void sonde__text_pyveda(sonde_view *view, bool open, sonde__buf *out)
{
    sonde_snapshot s;
    sonde_status status = sonde_view_snapshot_get(view, &s);
    if (status != SONDE_OK) {
        out->status = status;
        return;
    }
    counter(out, "pyveda_tasks_executed_total", "Total tasks executed", s.tasks_executed, "counter",
            open);
    counter(out, "pyveda_tasks_failed_total", "Total tasks failed", s.tasks_failed, "counter",
            open);
    counter(out, "pyveda_tasks_pending", "Current pending tasks", s.tasks_pending, "gauge", open);
    latency(out, &s, open);
    gauge(out, "pyveda_cpu_utilization_percent", "CPU utilization", s.cpu_utilization_percent,
          open);
    gauge(out, "pyveda_memory_used_mb", "Memory used in MB", s.memory_used_mb, open);
    gauge(out, "pyveda_throughput_tasks_per_sec", "Task throughput", s.throughput_tasks_per_sec,
          open);
    gauge(out, "pyveda_gpu_utilization_percent", "GPU utilization", s.gpu_utilization_percent,
          open);
    gauge(out, "pyveda_gpu_memory_used_mb", "GPU memory used in MB", s.gpu_memory_used_mb, open);
}
