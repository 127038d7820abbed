/* SPDX-License-Identifier: Apache-2.0 */
/* Every value a capture can hold, once: JSON, tables, documentation and tests come from this list.
   Keys and nesting are Flowcept's, meaning and units psutil's. */
#ifndef SONDE_FIELDS_H
#define SONDE_FIELDS_H

#include "sonde/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, section, object, key, type, unit, source, summary). A field stands at section.object.key,
   or at section.key where object is "". Within one object the fields are adjacent. */
#define SONDE_FIELD_MAP(X)                                                                         \
    X(CPU_USER, CPU, "times_avg", "user", DOUBLE, "s", "/proc/stat", "user mode, guests included") \
    X(CPU_NICE, CPU, "times_avg", "nice", DOUBLE, "s", "/proc/stat", "user mode at low priority")  \
    X(CPU_SYSTEM, CPU, "times_avg", "system", DOUBLE, "s", "/proc/stat", "kernel mode")            \
    X(CPU_IDLE, CPU, "times_avg", "idle", DOUBLE, "s", "/proc/stat", "nothing to run")             \
    X(CPU_IOWAIT, CPU, "times_avg", "iowait", DOUBLE, "s", "/proc/stat", "idle with I/O pending")  \
    X(CPU_IRQ, CPU, "times_avg", "irq", DOUBLE, "s", "/proc/stat", "hardware interrupts")          \
    X(CPU_SOFTIRQ, CPU, "times_avg", "softirq", DOUBLE, "s", "/proc/stat", "software interrupts")  \
    X(CPU_STEAL, CPU, "times_avg", "steal", DOUBLE, "s", "/proc/stat", "taken by the hypervisor")  \
    X(CPU_GUEST, CPU, "times_avg", "guest", DOUBLE, "s", "/proc/stat", "running a guest")          \
    X(CPU_GUEST_NICE, CPU, "times_avg", "guest_nice", DOUBLE, "s", "/proc/stat",                   \
      "running a guest at low priority")                                                           \
    X(CPU_PERCENT, CPU, "", "percent_all", DOUBLE, "%", "/proc/stat",                              \
      "busy share since this handle's previous reading")                                           \
    X(CPU_FREQUENCY, CPU, "", "frequency", DOUBLE, "MHz", "/proc/cpuinfo or cpufreq",              \
      "current frequency, mean over CPUs")                                                         \
    X(PROCESS_PID, PROCESS, "", "pid", UINT, "", "getpid", "process id")                           \
    X(PROCESS_CPU_NUMBER, PROCESS, "", "cpu_number", UINT, "", "/proc/PID/stat",                   \
      "CPU the main thread last ran on")                                                           \
    X(PROCESS_RSS, PROCESS, "memory", "rss", UINT, "bytes", "/proc/PID/statm", "resident memory")  \
    X(PROCESS_VMS, PROCESS, "memory", "vms", UINT, "bytes", "/proc/PID/statm", "address space")    \
    X(PROCESS_SHARED, PROCESS, "memory", "shared", UINT, "bytes", "/proc/PID/statm",               \
      "resident memory backed by files or shared")                                                 \
    X(PROCESS_TEXT, PROCESS, "memory", "text", UINT, "bytes", "/proc/PID/statm", "code")           \
    X(PROCESS_LIB, PROCESS, "memory", "lib", UINT, "bytes", "/proc/PID/statm",                     \
      "always 0 since Linux 2.6")                                                                  \
    X(PROCESS_DATA, PROCESS, "memory", "data", UINT, "bytes", "/proc/PID/statm", "data and stack") \
    X(PROCESS_DIRTY, PROCESS, "memory", "dirty", UINT, "bytes", "/proc/PID/statm",                 \
      "always 0 since Linux 2.6")                                                                  \
    X(PROCESS_MEMORY_PERCENT, PROCESS, "", "memory_percent", DOUBLE, "%", "/proc/PID/statm",       \
      "rss as a share of the machine's memory")                                                    \
    X(PROCESS_USER, PROCESS, "cpu_times", "user", DOUBLE, "s", "getrusage or /proc/PID/stat",      \
      "CPU time in user mode, all threads")                                                        \
    X(PROCESS_SYSTEM, PROCESS, "cpu_times", "system", DOUBLE, "s", "getrusage or /proc/PID/stat",  \
      "CPU time in kernel mode, all threads")                                                      \
    X(PROCESS_CHILDREN_USER, PROCESS, "cpu_times", "children_user", DOUBLE, "s", "/proc/PID/stat", \
      "user time of children waited for")                                                          \
    X(PROCESS_CHILDREN_SYSTEM, PROCESS, "cpu_times", "children_system", DOUBLE, "s",               \
      "/proc/PID/stat", "kernel time of children waited for")                                      \
    X(PROCESS_IOWAIT, PROCESS, "cpu_times", "iowait", DOUBLE, "s", "/proc/PID/stat",               \
      "time waiting for block I/O; 0 where delay accounting is off")                               \
    X(PROCESS_CPU_PERCENT, PROCESS, "", "cpu_percent", DOUBLE, "%", "getrusage or /proc/PID/stat", \
      "of one CPU, since this handle's previous reading")                                          \
    X(PROCESS_EXECUTABLE, PROCESS, "", "executable", TEXT, "", "/proc/PID/exe",                    \
      "absolute path of the program")                                                              \
    X(PROCESS_CMD_LINE, PROCESS, "", "cmd_line", LIST, "", "/proc/PID/cmdline", "arguments")       \
    X(PROCESS_DESCRIPTORS, PROCESS, "", "num_open_file_descriptors", UINT, "", "/proc/PID/fd",     \
      "open descriptors of any kind")                                                              \
    X(PROCESS_CONNECTIONS, PROCESS, "", "num_connections", UINT, "",                               \
      "/proc/PID/fd and getsockopt", "TCP and UDP sockets, v4 and v6, bound or connected")         \
    X(PROCESS_READ_COUNT, PROCESS, "io_counters", "read_count", UINT, "", "/proc/PID/io",          \
      "read system calls")                                                                         \
    X(PROCESS_WRITE_COUNT, PROCESS, "io_counters", "write_count", UINT, "", "/proc/PID/io",        \
      "write system calls")                                                                        \
    X(PROCESS_READ_BYTES, PROCESS, "io_counters", "read_bytes", UINT, "bytes", "/proc/PID/io",     \
      "fetched from storage")                                                                      \
    X(PROCESS_WRITE_BYTES, PROCESS, "io_counters", "write_bytes", UINT, "bytes", "/proc/PID/io",   \
      "sent towards storage")                                                                      \
    X(PROCESS_READ_CHARS, PROCESS, "io_counters", "read_chars", UINT, "bytes", "/proc/PID/io",     \
      "returned by read calls, page cache included")                                               \
    X(PROCESS_WRITE_CHARS, PROCESS, "io_counters", "write_chars", UINT, "bytes", "/proc/PID/io",   \
      "passed to write calls")                                                                     \
    X(PROCESS_FILES, PROCESS, "", "num_open_files", UINT, "", "/proc/PID/fd and fstat",            \
      "descriptors of regular files that have a name")                                             \
    X(PROCESS_THREADS, PROCESS, "", "num_threads", UINT, "", "/proc/PID/stat", "threads")          \
    X(PROCESS_SWITCHES_VOLUNTARY, PROCESS, "num_ctx_switches", "voluntary", UINT, "",              \
      "/proc/PID/status", "times the main thread gave up the CPU")                                 \
    X(PROCESS_SWITCHES_INVOLUNTARY, PROCESS, "num_ctx_switches", "involuntary", UINT, "",          \
      "/proc/PID/status", "times the main thread was preempted")                                   \
    X(MEMORY_TOTAL, MEMORY, "virtual", "total", UINT, "bytes", "/proc/meminfo", "physical memory") \
    X(MEMORY_AVAILABLE, MEMORY, "virtual", "available", UINT, "bytes", "/proc/meminfo",            \
      "can be had without swapping")                                                               \
    X(MEMORY_PERCENT, MEMORY, "virtual", "percent", DOUBLE, "%", "/proc/meminfo",                  \
      "(total - available) / total")                                                               \
    X(MEMORY_USED, MEMORY, "virtual", "used", UINT, "bytes", "/proc/meminfo",                      \
      "total - free - cached - buffers")                                                           \
    X(MEMORY_FREE, MEMORY, "virtual", "free", UINT, "bytes", "/proc/meminfo", "not used at all")   \
    X(MEMORY_ACTIVE, MEMORY, "virtual", "active", UINT, "bytes", "/proc/meminfo", "recently used") \
    X(MEMORY_INACTIVE, MEMORY, "virtual", "inactive", UINT, "bytes", "/proc/meminfo",              \
      "not recently used")                                                                         \
    X(MEMORY_BUFFERS, MEMORY, "virtual", "buffers", UINT, "bytes", "/proc/meminfo",                \
      "block device cache")                                                                        \
    X(MEMORY_CACHED, MEMORY, "virtual", "cached", UINT, "bytes", "/proc/meminfo",                  \
      "page cache and reclaimable slab")                                                           \
    X(MEMORY_SHARED, MEMORY, "virtual", "shared", UINT, "bytes", "/proc/meminfo",                  \
      "tmpfs and shared memory")                                                                   \
    X(MEMORY_SLAB, MEMORY, "virtual", "slab", UINT, "bytes", "/proc/meminfo", "kernel objects")    \
    X(SWAP_TOTAL, MEMORY, "swap", "total", UINT, "bytes", "/proc/meminfo", "swap space")           \
    X(SWAP_USED, MEMORY, "swap", "used", UINT, "bytes", "/proc/meminfo", "swap in use")            \
    X(SWAP_FREE, MEMORY, "swap", "free", UINT, "bytes", "/proc/meminfo", "swap not in use")        \
    X(SWAP_PERCENT, MEMORY, "swap", "percent", DOUBLE, "%", "/proc/meminfo", "used / total")       \
    X(SWAP_IN, MEMORY, "swap", "sin", UINT, "bytes", "/proc/vmstat", "swapped in since boot")      \
    X(SWAP_OUT, MEMORY, "swap", "sout", UINT, "bytes", "/proc/vmstat", "swapped out since boot")   \
    X(DISK_TOTAL, DISK, "disk_usage", "total", UINT, "bytes", "statfs", "size of the file system") \
    X(DISK_USED, DISK, "disk_usage", "used", UINT, "bytes", "statfs", "in use")                    \
    X(DISK_FREE, DISK, "disk_usage", "free", UINT, "bytes", "statfs",                              \
      "free for unprivileged users")                                                               \
    X(DISK_PERCENT, DISK, "disk_usage", "percent", DOUBLE, "%", "statfs", "used / (used + free)")  \
    X(DISK_READ_COUNT, DISK, "io_sum", "read_count", UINT, "", "/proc/diskstats",                  \
      "reads completed")                                                                           \
    X(DISK_WRITE_COUNT, DISK, "io_sum", "write_count", UINT, "", "/proc/diskstats",                \
      "writes completed")                                                                          \
    X(DISK_READ_BYTES, DISK, "io_sum", "read_bytes", UINT, "bytes", "/proc/diskstats", "read")     \
    X(DISK_WRITE_BYTES, DISK, "io_sum", "write_bytes", UINT, "bytes", "/proc/diskstats",           \
      "written")                                                                                   \
    X(DISK_READ_TIME, DISK, "io_sum", "read_time", UINT, "ms", "/proc/diskstats",                  \
      "time of all reads added up")                                                                \
    X(DISK_WRITE_TIME, DISK, "io_sum", "write_time", UINT, "ms", "/proc/diskstats",                \
      "time of all writes added up")                                                               \
    X(DISK_READ_MERGED, DISK, "io_sum", "read_merged_count", UINT, "", "/proc/diskstats",          \
      "reads merged with another")                                                                 \
    X(DISK_WRITE_MERGED, DISK, "io_sum", "write_merged_count", UINT, "", "/proc/diskstats",        \
      "writes merged with another")                                                                \
    X(DISK_BUSY_TIME, DISK, "io_sum", "busy_time", UINT, "ms", "/proc/diskstats",                  \
      "time with any I/O in flight")                                                               \
    X(NETWORK_BYTES_SENT, NETWORK, "netio_sum", "bytes_sent", UINT, "bytes",                       \
      "rtnetlink or /proc/net/dev", "sent")                                                        \
    X(NETWORK_BYTES_RECV, NETWORK, "netio_sum", "bytes_recv", UINT, "bytes",                       \
      "rtnetlink or /proc/net/dev", "received")                                                    \
    X(NETWORK_PACKETS_SENT, NETWORK, "netio_sum", "packets_sent", UINT, "",                        \
      "rtnetlink or /proc/net/dev", "packets sent")                                                \
    X(NETWORK_PACKETS_RECV, NETWORK, "netio_sum", "packets_recv", UINT, "",                        \
      "rtnetlink or /proc/net/dev", "packets received")                                            \
    X(NETWORK_ERRIN, NETWORK, "netio_sum", "errin", UINT, "", "rtnetlink or /proc/net/dev",        \
      "errors while receiving")                                                                    \
    X(NETWORK_ERROUT, NETWORK, "netio_sum", "errout", UINT, "", "rtnetlink or /proc/net/dev",      \
      "errors while sending")                                                                      \
    X(NETWORK_DROPIN, NETWORK, "netio_sum", "dropin", UINT, "", "rtnetlink or /proc/net/dev",      \
      "incoming packets dropped")                                                                  \
    X(NETWORK_DROPOUT, NETWORK, "netio_sum", "dropout", UINT, "", "rtnetlink or /proc/net/dev",    \
      "outgoing packets dropped")                                                                  \
    X(CGROUP_VERSION, CGROUP, "", "version", UINT, "", "/proc/PID/cgroup",                         \
      "1 or 2: whose memory controller counts")                                                    \
    X(CGROUP_CPU_LIMIT, CGROUP, "cpu", "limit", DOUBLE, "CPUs", "cgroup v1 or v2",                 \
      "CPU time allowed per second: the tightest quota on the way up")                             \
    X(CGROUP_CPU_AVAILABLE, CGROUP, "cpu", "available", DOUBLE, "CPUs",                            \
      "sched_getaffinity and quota",                                                               \
      "what the process may use: the CPUs it is bound to, or the quota")                           \
    X(CGROUP_CPU_USAGE, CGROUP, "cpu", "usage", DOUBLE, "s", "cgroup v1 or v2",                    \
      "CPU time of the cgroup")                                                                    \
    X(CGROUP_CPU_PERCENT, CGROUP, "cpu", "percent", DOUBLE, "%", "cgroup v1 or v2",                \
      "usage since the previous reading, of what is available")                                    \
    X(CGROUP_CPU_PERIODS, CGROUP, "cpu", "periods", UINT, "", "cgroup v1 or v2",                   \
      "scheduling periods under the quota")                                                        \
    X(CGROUP_CPU_THROTTLED, CGROUP, "cpu", "throttled_periods", UINT, "", "cgroup v1 or v2",       \
      "periods in which the quota was used up")                                                    \
    X(CGROUP_CPU_THROTTLED_TIME, CGROUP, "cpu", "throttled_time", DOUBLE, "s", "cgroup v1 or v2",  \
      "time spent waiting for the next period")                                                    \
    X(CGROUP_MEMORY_LIMIT, CGROUP, "memory", "limit", UINT, "bytes", "cgroup v1 or v2",            \
      "the tightest limit on the way up")                                                          \
    X(CGROUP_MEMORY_USAGE, CGROUP, "memory", "usage", UINT, "bytes", "cgroup v1 or v2",            \
      "of the cgroup that sets the limit, page cache included")                                    \
    X(CGROUP_MEMORY_WORKING_SET, CGROUP, "memory", "working_set", UINT, "bytes",                   \
      "cgroup v1 or v2", "usage without inactive page cache: what counts towards an OOM kill")     \
    X(CGROUP_MEMORY_PEAK, CGROUP, "memory", "peak", UINT, "bytes", "cgroup v1 or v2",              \
      "highest usage so far")                                                                      \
    X(CGROUP_MEMORY_PERCENT, CGROUP, "memory", "percent", DOUBLE, "%", "cgroup v1 or v2",          \
      "working set as a share of the limit")                                                       \
    X(CGROUP_MEMORY_OOM_KILLS, CGROUP, "memory", "oom_kills", UINT, "", "cgroup v1 or v2",         \
      "processes killed for lack of memory")                                                       \
    X(CGROUP_PIDS_CURRENT, CGROUP, "pids", "current", UINT, "", "cgroup v1 or v2",                 \
      "processes and threads")                                                                     \
    X(CGROUP_PIDS_LIMIT, CGROUP, "pids", "limit", UINT, "", "cgroup v1 or v2",                     \
      "how many there may be")                                                                     \
    X(PRESSURE_CPU_SOME_AVG10, PRESSURE, "cpu", "some_avg10", DOUBLE, "%", "/proc/pressure/cpu",   \
      "time in which some task waited, over 10 s")                                                 \
    X(PRESSURE_CPU_SOME_AVG60, PRESSURE, "cpu", "some_avg60", DOUBLE, "%", "/proc/pressure/cpu",   \
      "time in which some task waited, over 60 s")                                                 \
    X(PRESSURE_CPU_SOME_AVG300, PRESSURE, "cpu", "some_avg300", DOUBLE, "%", "/proc/pressure/cpu", \
      "time in which some task waited, over 300 s")                                                \
    X(PRESSURE_CPU_SOME_TOTAL, PRESSURE, "cpu", "some_total", DOUBLE, "s", "/proc/pressure/cpu",   \
      "time in which some task waited, since boot")                                                \
    X(PRESSURE_CPU_FULL_AVG10, PRESSURE, "cpu", "full_avg10", DOUBLE, "%", "/proc/pressure/cpu",   \
      "time in which all tasks waited, over 10 s")                                                 \
    X(PRESSURE_CPU_FULL_AVG60, PRESSURE, "cpu", "full_avg60", DOUBLE, "%", "/proc/pressure/cpu",   \
      "time in which all tasks waited, over 60 s")                                                 \
    X(PRESSURE_CPU_FULL_AVG300, PRESSURE, "cpu", "full_avg300", DOUBLE, "%", "/proc/pressure/cpu", \
      "time in which all tasks waited, over 300 s")                                                \
    X(PRESSURE_CPU_FULL_TOTAL, PRESSURE, "cpu", "full_total", DOUBLE, "s", "/proc/pressure/cpu",   \
      "time in which all tasks waited, since boot")                                                \
    X(PRESSURE_MEMORY_SOME_AVG10, PRESSURE, "memory", "some_avg10", DOUBLE, "%",                   \
      "/proc/pressure/memory", "time in which some task waited, over 10 s")                        \
    X(PRESSURE_MEMORY_SOME_AVG60, PRESSURE, "memory", "some_avg60", DOUBLE, "%",                   \
      "/proc/pressure/memory", "time in which some task waited, over 60 s")                        \
    X(PRESSURE_MEMORY_SOME_AVG300, PRESSURE, "memory", "some_avg300", DOUBLE, "%",                 \
      "/proc/pressure/memory", "time in which some task waited, over 300 s")                       \
    X(PRESSURE_MEMORY_SOME_TOTAL, PRESSURE, "memory", "some_total", DOUBLE, "s",                   \
      "/proc/pressure/memory", "time in which some task waited, since boot")                       \
    X(PRESSURE_MEMORY_FULL_AVG10, PRESSURE, "memory", "full_avg10", DOUBLE, "%",                   \
      "/proc/pressure/memory", "time in which all tasks waited, over 10 s")                        \
    X(PRESSURE_MEMORY_FULL_AVG60, PRESSURE, "memory", "full_avg60", DOUBLE, "%",                   \
      "/proc/pressure/memory", "time in which all tasks waited, over 60 s")                        \
    X(PRESSURE_MEMORY_FULL_AVG300, PRESSURE, "memory", "full_avg300", DOUBLE, "%",                 \
      "/proc/pressure/memory", "time in which all tasks waited, over 300 s")                       \
    X(PRESSURE_MEMORY_FULL_TOTAL, PRESSURE, "memory", "full_total", DOUBLE, "s",                   \
      "/proc/pressure/memory", "time in which all tasks waited, since boot")                       \
    X(PRESSURE_IO_SOME_AVG10, PRESSURE, "io", "some_avg10", DOUBLE, "%", "/proc/pressure/io",      \
      "time in which some task waited, over 10 s")                                                 \
    X(PRESSURE_IO_SOME_AVG60, PRESSURE, "io", "some_avg60", DOUBLE, "%", "/proc/pressure/io",      \
      "time in which some task waited, over 60 s")                                                 \
    X(PRESSURE_IO_SOME_AVG300, PRESSURE, "io", "some_avg300", DOUBLE, "%", "/proc/pressure/io",    \
      "time in which some task waited, over 300 s")                                                \
    X(PRESSURE_IO_SOME_TOTAL, PRESSURE, "io", "some_total", DOUBLE, "s", "/proc/pressure/io",      \
      "time in which some task waited, since boot")                                                \
    X(PRESSURE_IO_FULL_AVG10, PRESSURE, "io", "full_avg10", DOUBLE, "%", "/proc/pressure/io",      \
      "time in which all tasks waited, over 10 s")                                                 \
    X(PRESSURE_IO_FULL_AVG60, PRESSURE, "io", "full_avg60", DOUBLE, "%", "/proc/pressure/io",      \
      "time in which all tasks waited, over 60 s")                                                 \
    X(PRESSURE_IO_FULL_AVG300, PRESSURE, "io", "full_avg300", DOUBLE, "%", "/proc/pressure/io",    \
      "time in which all tasks waited, over 300 s")                                                \
    X(PRESSURE_IO_FULL_TOTAL, PRESSURE, "io", "full_total", DOUBLE, "s", "/proc/pressure/io",      \
      "time in which all tasks waited, since boot")                                                \
    X(ENERGY_PACKAGE, ENERGY, "", "package", DOUBLE, "J", "/sys/class/powercap",                   \
      "CPU packages, since the handle was opened")                                                 \
    X(ENERGY_CORE, ENERGY, "", "core", DOUBLE, "J", "/sys/class/powercap", "their cores")          \
    X(ENERGY_UNCORE, ENERGY, "", "uncore", DOUBLE, "J", "/sys/class/powercap",                     \
      "their graphics and other parts")                                                            \
    X(ENERGY_DRAM, ENERGY, "", "dram", DOUBLE, "J", "/sys/class/powercap", "memory")               \
    X(ENERGY_PLATFORM, ENERGY, "", "platform", DOUBLE, "J", "/sys/class/powercap",                 \
      "the whole board (psys)")                                                                    \
    X(ENERGY_POWER, ENERGY, "", "power", DOUBLE, "W", "/sys/class/powercap",                       \
      "packages and memory, since the previous reading")                                           \
    X(LOAD_1, LOAD, "", "avg1", DOUBLE, "", "/proc/loadavg",                                       \
      "tasks that run or wait, mean of 1 minute")                                                  \
    X(LOAD_5, LOAD, "", "avg5", DOUBLE, "", "/proc/loadavg", "mean of 5 minutes")                  \
    X(LOAD_15, LOAD, "", "avg15", DOUBLE, "", "/proc/loadavg", "mean of 15 minutes")               \
    X(LOAD_RUNNING, LOAD, "", "running", UINT, "", "/proc/loadavg", "tasks that run now")          \
    X(LOAD_TASKS, LOAD, "", "tasks", UINT, "", "/proc/loadavg",                                    \
      "processes and threads on the machine")                                                      \
    X(THERMAL_TEMPERATURE, THERMAL, "hottest", "temperature", DOUBLE, "C",                         \
      "/sys/class/thermal, /sys/class/hwmon", "of the hottest sensor")                             \
    X(TREE_PROCESSES, TREE, "", "processes", UINT, "", "/proc/PID/task/*/children",                \
      "the process and its descendants")                                                           \
    X(TREE_THREADS, TREE, "", "threads", UINT, "", "/proc/PID/stat", "threads of all of them")     \
    X(TREE_USER, TREE, "cpu_times", "user", DOUBLE, "s", "/proc/PID/stat",                         \
      "CPU time in user mode, those that ended included")                                          \
    X(TREE_SYSTEM, TREE, "cpu_times", "system", DOUBLE, "s", "/proc/PID/stat",                     \
      "CPU time in kernel mode, those that ended included")                                        \
    X(TREE_CPU_PERCENT, TREE, "", "cpu_percent", DOUBLE, "%", "/proc/PID/stat",                    \
      "of one CPU, since this handle's previous reading")                                          \
    X(TREE_RSS, TREE, "memory", "rss", UINT, "bytes", "/proc/PID/statm",                           \
      "resident memory; what is shared counts for each")                                           \
    X(TREE_PSS, TREE, "memory", "pss", UINT, "bytes", "/proc/PID/smaps_rollup",                    \
      "resident memory; what is shared counts once")                                               \
    X(TREE_READ_BYTES, TREE, "io_counters", "read_bytes", UINT, "bytes", "/proc/PID/io",           \
      "fetched from storage")                                                                      \
    X(TREE_WRITE_BYTES, TREE, "io_counters", "write_bytes", UINT, "bytes", "/proc/PID/io",         \
      "sent towards storage")                                                                      \
    X(TREE_READ_CHARS, TREE, "io_counters", "read_chars", UINT, "bytes", "/proc/PID/io",           \
      "returned by read calls, page cache included")                                               \
    X(TREE_WRITE_CHARS, TREE, "io_counters", "write_chars", UINT, "bytes", "/proc/PID/io",         \
      "passed to write calls")

/* X(name, key): the sections of a capture, in output order. From CGROUP on they are Sonde's own and
   stand under the key "sonde". */
#define SONDE_SECTION_MAP(X) \
    X(CPU, "cpu")            \
    X(PROCESS, "process")    \
    X(MEMORY, "memory")      \
    X(DISK, "disk")          \
    X(NETWORK, "network")    \
    X(CGROUP, "cgroup")      \
    X(PRESSURE, "pressure")  \
    X(ENERGY, "energy")      \
    X(LOAD, "load")          \
    X(THERMAL, "thermal")    \
    X(TREE, "tree")

/* X(name, section, key, first field, last field, summary): values per item beside the total. */
#define SONDE_TABLE_MAP(X)                                                                 \
    X(CPUS, CPU, "times_per_cpu", CPU_USER, CPU_PERCENT, "one row per CPU that is online") \
    X(PATHS, DISK, "disk_usage", DISK_TOTAL, DISK_PERCENT, "one row per configured path")  \
    X(DISKS, DISK, "io_per_disk", DISK_READ_COUNT, DISK_BUSY_TIME,                         \
      "one row per disk and partition; idle loop, ram and zram devices only on request")   \
    X(INTERFACES, NETWORK, "netio_per_interface", NETWORK_BYTES_SENT, NETWORK_DROPOUT,     \
      "one row per interface that has seen traffic")                                       \
    X(SENSORS, THERMAL, "sensors", THERMAL_TEMPERATURE, THERMAL_TEMPERATURE, "one row per sensor")

typedef enum sonde_field {
#define SONDE_FIELD_ENUM(name, ...) SONDE_FIELD_##name,
    SONDE_FIELD_MAP(SONDE_FIELD_ENUM)
#undef SONDE_FIELD_ENUM
        SONDE_FIELD_COUNT
} sonde_field;

typedef enum sonde_section {
#define SONDE_SECTION_ENUM(name, key) SONDE_SECTION_##name,
    SONDE_SECTION_MAP(SONDE_SECTION_ENUM)
#undef SONDE_SECTION_ENUM
        SONDE_SECTION_COUNT
} sonde_section;

typedef enum sonde_table {
#define SONDE_TABLE_ENUM(name, ...) SONDE_TABLE_##name,
    SONDE_TABLE_MAP(SONDE_TABLE_ENUM)
#undef SONDE_TABLE_ENUM
        SONDE_TABLE_COUNT
} sonde_table;

typedef enum sonde_field_type {
    SONDE_FIELD_TYPE_UINT,
    SONDE_FIELD_TYPE_DOUBLE,
    SONDE_FIELD_TYPE_TEXT,
    SONDE_FIELD_TYPE_LIST
} sonde_field_type;

typedef struct sonde_field_info {
    const char *path;   /* "process.memory.rss" */
    const char *object; /* "memory", or "" */
    const char *key;    /* "rss" */
    const char *unit;   /* "bytes", or "" for counts and names */
    const char *source; /* where it is read */
    const char *summary;
    sonde_section section;
    sonde_field_type type;
} sonde_field_info;

typedef struct sonde_table_info {
    const char *key; /* "io_per_disk" */
    const char *summary;
    sonde_section section;
    sonde_field first; /* columns: first to last, both included */
    sonde_field last;
} sonde_table_info;

/* Static storage; NULL when the number is out of range. Any thread. */
SONDE_API const sonde_field_info *sonde_field_describe(sonde_field field);
SONDE_API const sonde_table_info *sonde_table_describe(sonde_table table);
SONDE_API const char *sonde_section_name(sonde_section section);

#ifdef __cplusplus
}
#endif

#endif
