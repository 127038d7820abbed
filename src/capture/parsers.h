/* SPDX-License-Identifier: Apache-2.0 */
/* The pure parsers of capture: bytes in, values out, no state. Each is tested from fixtures and
   fuzzed. Those named _next hand out one item a call and return false at the end of the text. */
#ifndef SONDE_CAPTURE_PARSERS_H
#define SONDE_CAPTURE_PARSERS_H

#include "capture/scan.h"
#include "sonde/status.h"

enum {
    SONDE__CPU_TIMES = 10,
    SONDE__DISK_COUNTERS = 9,
    SONDE__NET_COUNTERS = 8,
    SONDE__DISK_NAME_BYTES = 32, /* the kernel's DISK_NAME_LEN */
    SONDE__NET_NAME_BYTES = 16,  /* the kernel's IFNAMSIZ */
};

/* /proc/stat: the line "cpu" and the lines "cpuN". */
enum { SONDE__CPU_TOTAL = -1, SONDE__CPU_UNKNOWN = -2 };
typedef struct sonde__cpu_line {
    int id;           /* N, or one of the above; UNKNOWN: a line whose number is garbled */
    unsigned columns; /* times found; older kernels have fewer; 0: the line is garbled */
    uint64_t ticks[SONDE__CPU_TIMES];
} sonde__cpu_line;
bool sonde__proc_stat_next(sonde__scan *scan, sonde__cpu_line *out);

/* /proc/cpuinfo: the mean of the "cpu MHz" lines. EABSENT when there is none. */
sonde_status sonde__cpuinfo_mhz(const char *text, size_t len, double *mhz);
/* Whether the CPUs report a frequency that follows the load (flag aperfmperf). */
bool sonde__cpuinfo_is_dynamic(const char *text, size_t len);

/* /proc/meminfo, in bytes; known tells which were there (bit n: value n). */
enum {
    SONDE__MEM_TOTAL,
    SONDE__MEM_FREE,
    SONDE__MEM_AVAILABLE,
    SONDE__MEM_BUFFERS,
    SONDE__MEM_CACHED,
    SONDE__MEM_ACTIVE,
    SONDE__MEM_INACTIVE,
    SONDE__MEM_SWAP_TOTAL,
    SONDE__MEM_SWAP_FREE,
    SONDE__MEM_SHMEM,
    SONDE__MEM_SLAB,
    SONDE__MEM_SRECLAIMABLE,
    SONDE__MEM_COUNT
};
typedef struct sonde__meminfo {
    unsigned known;
    unsigned garbled;
    uint64_t bytes[SONDE__MEM_COUNT];
} sonde__meminfo;
void sonde__parse_meminfo(const char *text, size_t len, sonde__meminfo *out);

/* /proc/vmstat: pages swapped in and out since boot. */
sonde_status sonde__parse_vmstat(const char *text, size_t len, uint64_t *in, uint64_t *out);

/* /proc/diskstats and /sys/block/NAME/stat, counters in psutil's order and units:
   reads, writes, read bytes, written bytes, read ms, write ms, reads merged, writes merged, busy
   ms. */
typedef struct sonde__disk_line {
    const char *name; /* within the text */
    size_t name_len;  /* 0: not even the name could be read */
    bool garbled;     /* counters are 0 */
    uint64_t counter[SONDE__DISK_COUNTERS];
} sonde__disk_line;
bool sonde__diskstats_next(sonde__scan *scan, sonde__disk_line *out);
sonde_status sonde__parse_block_stat(const char *text, size_t len, uint64_t *counter);
/* Whether name is a partition of disk by the kernel's naming rule (sda1, nvme0n1p1). */
bool sonde__is_partition(const char *name, size_t len, const char *disk, size_t disk_len);

/* /proc/net/dev and RTM_NEWSTATS messages, counters in psutil's order: bytes sent, bytes received,
   packets sent, packets received, errors in, errors out, drops in, drops out. */
typedef struct sonde__net_line {
    const char *name; /* within the text */
    size_t name_len;  /* 0: not even the name could be read */
    bool garbled;
    uint64_t counter[SONDE__NET_COUNTERS];
} sonde__net_line;
bool sonde__net_dev_next(sonde__scan *scan, sonde__net_line *out);

typedef struct sonde__link_stats {
    int index;
    uint64_t counter[SONDE__NET_COUNTERS];
} sonde__link_stats;
typedef enum sonde__link_step {
    SONDE__LINK_ITEM, /* *out is filled */
    SONDE__LINK_MORE, /* the end of this datagram, more follow */
    SONDE__LINK_DONE, /* the end of the dump */
    SONDE__LINK_BAD,  /* an error message, or bytes that are none of ours */
} sonde__link_step;
sonde__link_step sonde__link_stats_next(sonde__scan *scan, uint32_t sequence,
                                        sonde__link_stats *out);

/* /proc/PID/stat */
typedef struct sonde__pid_stat {
    uint64_t pid;
    uint64_t user_ticks;
    uint64_t system_ticks;
    uint64_t children_user_ticks;
    uint64_t children_system_ticks;
    uint64_t threads;
    uint64_t start_ticks;
    uint64_t cpu;          /* last run on */
    uint64_t iowait_ticks; /* 0 where the kernel does not count it */
} sonde__pid_stat;
sonde_status sonde__parse_pid_stat(const char *text, size_t len, sonde__pid_stat *out);

/* /proc/PID/statm: size, resident, shared, text, lib, data, dirty, in pages. */
sonde_status sonde__parse_statm(const char *text, size_t len, uint64_t pages[7]);

/* /proc/PID/status: context switches of the main thread. */
sonde_status sonde__parse_pid_status(const char *text, size_t len, uint64_t *voluntary,
                                     uint64_t *involuntary);

/* /proc/PID/io: syscr, syscw, read_bytes, write_bytes, rchar, wchar. */
sonde_status sonde__parse_pid_io(const char *text, size_t len, uint64_t counter[6]);

/* /proc/PID/cmdline: splits in place, each argument ended by NUL, and returns how many. text has
   room for one byte more than len. A program that wrote its title over its arguments is split at
   blanks, as psutil does. */
size_t sonde__split_cmdline(char *text, size_t len);

#endif
