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
      "outgoing packets dropped")

/* X(name, key): the sections of a capture, in output order. */
#define SONDE_SECTION_MAP(X) \
    X(CPU, "cpu")            \
    X(PROCESS, "process")    \
    X(MEMORY, "memory")      \
    X(DISK, "disk")          \
    X(NETWORK, "network")

/* X(name, section, key, first field, last field, summary): values per item beside the total. */
#define SONDE_TABLE_MAP(X)                                                                 \
    X(CPUS, CPU, "times_per_cpu", CPU_USER, CPU_PERCENT, "one row per CPU that is online") \
    X(PATHS, DISK, "disk_usage", DISK_TOTAL, DISK_PERCENT, "one row per configured path")  \
    X(DISKS, DISK, "io_per_disk", DISK_READ_COUNT, DISK_BUSY_TIME,                         \
      "one row per disk and partition; idle loop, ram and zram devices only on request")   \
    X(INTERFACES, NETWORK, "netio_per_interface", NETWORK_BYTES_SENT, NETWORK_DROPOUT,     \
      "one row per interface that has seen traffic")

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
