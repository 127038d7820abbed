/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics that the library keeps of its own accord: their names and what they mean, for whoever
   makes them and for readers of journals, which carry no help texts. */
#ifndef SONDE_RECORD_OWN_METRICS_H
#define SONDE_RECORD_OWN_METRICS_H

#define SONDE__OWN_METRIC_MAP(X)                                                             \
    X(TASK_DURATION, "sonde_task_duration_seconds", "Time that tasks ran")                   \
    X(TASK_LATENCY, "sonde_task_latency_seconds",                                            \
      "Time from submission to end of tasks, or from their beginning")                       \
    X(TASKS_FAILED, "sonde_tasks_failed_total", "Tasks that ended with an error")            \
    X(TASKS_SUBMITTED, "sonde_tasks_submitted_total", "Work put into queues")                \
    X(TASKS_STARTED, "sonde_tasks_started_total", "Work taken out of queues")                \
    X(TASKS_UNSAMPLED, "sonde_tasks_unsampled_total",                                        \
      "Tasks counted and, by sampling, not recorded")                                        \
    X(DEVICE_LATENCY, "sonde_device_task_latency_seconds",                                   \
      "Time from submission to end of tasks, or from their beginning, by device")            \
    X(DEVICE_FAILED, "sonde_device_tasks_failed_total",                                      \
      "Tasks that ended with an error, by device")                                           \
    X(OVERHEAD_READINGS, "sonde_overhead_readings_seconds",                                  \
      "Time that readings at the edges of tasks took")                                       \
    X(OVERHEAD_CPU, "sonde_overhead_thread_cpu_seconds", "CPU time of the library's thread") \
    X(OVERHEAD_BYTES, "sonde_overhead_journal_bytes_total",                                  \
      "Bytes that the library wrote to its journals")

typedef enum sonde__own_metric {
#define SONDE__OWN_METRIC_ENUM(id, name, help) SONDE__OWN_##id,
    SONDE__OWN_METRIC_MAP(SONDE__OWN_METRIC_ENUM)
#undef SONDE__OWN_METRIC_ENUM
        SONDE__OWN_COUNT
} sonde__own_metric;

/* For calls that take a name and a help text. */
#define SONDE__OWN(id) sonde__own_name(SONDE__OWN_##id), sonde__own_help(SONDE__OWN_##id)

const char *sonde__own_name(sonde__own_metric metric);
const char *sonde__own_help(sonde__own_metric metric);

/* The help text of a metric by its name; "" when it is not one of ours. */
const char *sonde__own_help_of(const char *name);

#endif
