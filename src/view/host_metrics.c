/* SPDX-License-Identifier: Apache-2.0 */
/* A reading of the machine as metrics: one row for each field that is shown, with its name and what
   makes a base unit of it. Per-item tables give one series for each item; where the reading has
   none (level regular), the total stands alone. What has no value is left out. */
#include "record/metric_fill.h"
#include "sonde/encode.h"
#include "sonde/gpu.h"

enum { NO_TABLE = SONDE_TABLE_COUNT, LABELS_MAX = 2 };

#define MS      1e-3
#define PERCENT 1e-2

typedef struct host_row {
    unsigned table; /* NO_TABLE: the total */
    sonde_field field;
    sonde_metric_kind kind;
    double scale;
    const char *name;
    const char *help;
    const char *key; /* NULL: no label beside the item's */
    const char *value;
} host_row;

#define CPU(field, mode)                                                                 \
    {                                                                                    \
        SONDE_TABLE_CPUS, SONDE_FIELD_CPU_##field, SONDE_METRIC_SUM, 1,                  \
            "sonde_host_cpu_seconds_total", "Time CPUs spent in each mode", "mode", mode \
    }
#define MEMORY(field, kind)                                                              \
    {                                                                                    \
        NO_TABLE, SONDE_FIELD_##field, SONDE_METRIC_GAUGE, 1, "sonde_host_memory_bytes", \
            "Memory of the machine", "kind", kind                                        \
    }
#define SWAP(field, kind)                                                                   \
    {                                                                                       \
        NO_TABLE, SONDE_FIELD_SWAP_##field, SONDE_METRIC_GAUGE, 1, "sonde_host_swap_bytes", \
            "Swap space", "kind", kind                                                      \
    }
#define PATH(field, kind)                                                        \
    {                                                                            \
        SONDE_TABLE_PATHS, SONDE_FIELD_DISK_##field, SONDE_METRIC_GAUGE, 1,      \
            "sonde_host_filesystem_bytes", "Space of file systems", "kind", kind \
    }
#define DISK(field, scale, name, help)                                        \
    {                                                                         \
        SONDE_TABLE_DISKS, SONDE_FIELD_DISK_##field, SONDE_METRIC_SUM, scale, \
            "sonde_host_disk_" name, help, NULL, NULL                         \
    }
#define NET(field, name, help)                                                    \
    {                                                                             \
        SONDE_TABLE_INTERFACES, SONDE_FIELD_NETWORK_##field, SONDE_METRIC_SUM, 1, \
            "sonde_host_network_" name, help, NULL, NULL                          \
    }
#define PRESSURE(what, kind, resource)                                                        \
    {                                                                                         \
        NO_TABLE, SONDE_FIELD_PRESSURE_##what, SONDE_METRIC_SUM, 1,                           \
            "sonde_host_pressure_" kind "_seconds_total", "Time tasks waited for a resource", \
            "resource", resource                                                              \
    }
#define LOAD(field, window)                                                                   \
    {                                                                                         \
        NO_TABLE, SONDE_FIELD_LOAD_##field, SONDE_METRIC_GAUGE, 1, "sonde_host_load_average", \
            "Tasks that run or wait, on average", "window", window                            \
    }
#define ENERGY(field, domain)                                                                  \
    {                                                                                          \
        NO_TABLE, SONDE_FIELD_ENERGY_##field, SONDE_METRIC_SUM, 1,                             \
            "sonde_host_energy_joules_total", "Energy used since the reading began", "domain", \
            domain                                                                             \
    }
#define ONE(field, kind, scale, name, help)                                               \
    {                                                                                     \
        NO_TABLE, SONDE_FIELD_##field, SONDE_METRIC_##kind, scale, name, help, NULL, NULL \
    }

static const host_row rows[] = {
    CPU(USER, "user"),
    CPU(NICE, "nice"),
    CPU(SYSTEM, "system"),
    CPU(IDLE, "idle"),
    CPU(IOWAIT, "iowait"),
    CPU(IRQ, "irq"),
    CPU(SOFTIRQ, "softirq"),
    CPU(STEAL, "steal"),
    ONE(CPU_PERCENT, GAUGE, PERCENT, "sonde_host_cpu_utilization_ratio",
        "Busy share of all CPUs since the previous reading"),
    ONE(CPU_FREQUENCY, GAUGE, 1e6, "sonde_host_cpu_frequency_hertz", "Mean frequency of the CPUs"),
    MEMORY(MEMORY_TOTAL, "total"),
    MEMORY(MEMORY_AVAILABLE, "available"),
    MEMORY(MEMORY_USED, "used"),
    MEMORY(MEMORY_FREE, "free"),
    MEMORY(MEMORY_ACTIVE, "active"),
    MEMORY(MEMORY_INACTIVE, "inactive"),
    MEMORY(MEMORY_BUFFERS, "buffers"),
    MEMORY(MEMORY_CACHED, "cached"),
    MEMORY(MEMORY_SHARED, "shared"),
    MEMORY(MEMORY_SLAB, "slab"),
    SWAP(TOTAL, "total"),
    SWAP(USED, "used"),
    SWAP(FREE, "free"),
    ONE(SWAP_IN, SUM, 1, "sonde_host_swap_in_bytes_total", "Swapped in since boot"),
    ONE(SWAP_OUT, SUM, 1, "sonde_host_swap_out_bytes_total", "Swapped out since boot"),
    PATH(TOTAL, "total"),
    PATH(USED, "used"),
    PATH(FREE, "free"),
    DISK(READ_COUNT, 1, "reads_total", "Reads completed"),
    DISK(WRITE_COUNT, 1, "writes_total", "Writes completed"),
    DISK(READ_BYTES, 1, "read_bytes_total", "Bytes read"),
    DISK(WRITE_BYTES, 1, "written_bytes_total", "Bytes written"),
    DISK(READ_TIME, MS, "read_seconds_total", "Time of all reads added up"),
    DISK(WRITE_TIME, MS, "write_seconds_total", "Time of all writes added up"),
    DISK(BUSY_TIME, MS, "busy_seconds_total", "Time with any I/O in flight"),
    NET(BYTES_RECV, "receive_bytes_total", "Bytes received"),
    NET(BYTES_SENT, "transmit_bytes_total", "Bytes sent"),
    NET(PACKETS_RECV, "receive_packets_total", "Packets received"),
    NET(PACKETS_SENT, "transmit_packets_total", "Packets sent"),
    NET(ERRIN, "receive_errors_total", "Errors while receiving"),
    NET(ERROUT, "transmit_errors_total", "Errors while sending"),
    NET(DROPIN, "receive_drops_total", "Incoming packets dropped"),
    NET(DROPOUT, "transmit_drops_total", "Outgoing packets dropped"),
    LOAD(1, "1m"),
    LOAD(5, "5m"),
    LOAD(15, "15m"),
    PRESSURE(CPU_SOME_TOTAL, "some", "cpu"),
    PRESSURE(MEMORY_SOME_TOTAL, "some", "memory"),
    PRESSURE(IO_SOME_TOTAL, "some", "io"),
    PRESSURE(MEMORY_FULL_TOTAL, "full", "memory"),
    PRESSURE(IO_FULL_TOTAL, "full", "io"),
    ENERGY(PACKAGE, "package"),
    ENERGY(DRAM, "dram"),
    ENERGY(PLATFORM, "platform"),
    {SONDE_TABLE_SENSORS, SONDE_FIELD_THERMAL_TEMPERATURE, SONDE_METRIC_GAUGE, 1,
     "sonde_host_temperature_celsius", "Temperature of sensors", NULL, NULL},
};

/* Metrics of each GPU; those that do not exist for its vendor are absent. */
static const struct gpu_row {
    sonde_gpu_metric metric;
    sonde_metric_kind kind;
    double scale;
    const char *name;
    const char *help;
} gpu_rows[] = {
    {SONDE_GPU_UTILIZATION, SONDE_METRIC_GAUGE, PERCENT, "sonde_gpu_utilization_ratio",
     "Time in which anything ran"},
    {SONDE_GPU_USED, SONDE_METRIC_GAUGE, 1, "sonde_gpu_memory_used_bytes", "Device memory in use"},
    {SONDE_GPU_TOTAL, SONDE_METRIC_GAUGE, 1, "sonde_gpu_memory_size_bytes", "Device memory"},
    {SONDE_GPU_POWER, SONDE_METRIC_GAUGE, MS, "sonde_gpu_power_watts", "Power draw"},
    {SONDE_GPU_SOCKET_POWER, SONDE_METRIC_GAUGE, 1, "sonde_gpu_power_watts", "Power draw"},
    {SONDE_GPU_TEMPERATURE, SONDE_METRIC_GAUGE, 1, "sonde_gpu_temperature_celsius",
     "Temperature of the chip"},
    {SONDE_GPU_EDGE, SONDE_METRIC_GAUGE, 1, "sonde_gpu_temperature_celsius",
     "Temperature of the chip"},
    {SONDE_GPU_ENERGY, SONDE_METRIC_SUM, 1, "sonde_gpu_energy_joules_total",
     "Energy since the driver was loaded"},
};

static const char *item_key(unsigned table)
{
    static const char *const keys[SONDE_TABLE_COUNT] = {
        [SONDE_TABLE_CPUS] = "cpu",       [SONDE_TABLE_PATHS] = "path",
        [SONDE_TABLE_DISKS] = "device",   [SONDE_TABLE_INTERFACES] = "interface",
        [SONDE_TABLE_SENSORS] = "sensor",
    };
    return keys[table];
}

static void put(sonde_metric_set *set, const host_row *row, const char *item, double value)
{
    sonde_label labels[LABELS_MAX];
    size_t count = 0;
    if (item)
        labels[count++] = (sonde_label){item_key(row->table), item};
    if (row->key)
        labels[count++] = (sonde_label){row->key, row->value};
    sonde_metric metric = {.kind = row->kind,
                           .name = row->name,
                           .help = row->help,
                           .labels = labels,
                           .label_count = count,
                           .gauge = value * row->scale};
    sonde__metric_set_put(set, &metric);
}

static void put_row(sonde_metric_set *set, const sonde_telemetry *t, const host_row *row)
{
    double value;
    size_t items = row->table == NO_TABLE ? 0 : sonde_telemetry_rows(t, (sonde_table)row->table);
    for (size_t i = 0; i < items; i++)
        if (sonde_telemetry_row_double(t, (sonde_table)row->table, i, row->field, &value) ==
            SONDE_OK)
            put(set, row, sonde_telemetry_row_name(t, (sonde_table)row->table, i), value);
    if (items == 0 && sonde_telemetry_double(t, row->field, &value) == SONDE_OK)
        put(set, row, NULL, value);
}

static void put_gpu(sonde_metric_set *set, const sonde_telemetry *t, const struct gpu_row *row)
{
    for (size_t gpu = 0; gpu < sonde_telemetry_gpus(t); gpu++) {
        double value;
        if (sonde_telemetry_gpu_double(t, gpu, row->metric, &value) != SONDE_OK)
            continue;
        sonde_label label = {"gpu", sonde_telemetry_gpu_name(t, gpu)};
        sonde_metric metric = {.kind = row->kind,
                               .name = row->name,
                               .help = row->help,
                               .labels = &label,
                               .label_count = 1,
                               .gauge = value * row->scale};
        sonde__metric_set_put(set, &metric);
    }
}

sonde_status sonde_metric_set_telemetry(sonde_metric_set *set, const sonde_telemetry *telemetry)
{
    sonde__metric_set_begin(set);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        put_row(set, telemetry, &rows[i]);
    for (size_t i = 0; i < sizeof gpu_rows / sizeof *gpu_rows; i++)
        put_gpu(set, telemetry, &gpu_rows[i]);
    return sonde__metric_set_end(set);
}
