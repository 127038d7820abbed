/* SPDX-License-Identifier: Apache-2.0 */
/* The pure parsers of what Sonde captures beyond Flowcept: bytes in, values out, no state. Each is
   tested from fixtures and fuzzed. Outputs are untouched on failure. */
#ifndef SONDE_CAPTURE_MACHINE_PARSERS_H
#define SONDE_CAPTURE_MACHINE_PARSERS_H

#include "capture/scan.h"
#include "sonde/status.h"

enum { SONDE__CGROUP_PATH_BYTES = 512 }; /* longest path of a cgroup or of its mount, with NUL */

/* A file of one number: "42\n". EABSENT for "max", which is no limit; EBADDATA for anything else.
 */
sonde_status sonde__parse_number(const char *text, size_t len, uint64_t *out);

/* The same with a sign, for temperatures. */
sonde_status sonde__parse_signed(const char *text, size_t len, int64_t *out);

/* The number after key in lines "key number" or "key: number" (memory.stat, smaps_rollup). EABSENT
   when no line has the key. */
sonde_status sonde__parse_keyed(const char *text, size_t len, const char *key, uint64_t *out);

/* /proc/loadavg: the three means, tasks running, tasks in all. */
typedef struct sonde__loadavg {
    double mean[3];
    uint64_t running;
    uint64_t tasks;
} sonde__loadavg;
sonde_status sonde__parse_loadavg(const char *text, size_t len, sonde__loadavg *out);

/* One file of /proc/pressure, by the kernel's Documentation/accounting/psi.rst. The line "full" is
   not there for the CPU before Linux 5.13. */
enum { SONDE__PRESSURE_SOME, SONDE__PRESSURE_FULL, SONDE__PRESSURE_LINES };
enum { SONDE__PRESSURE_AVERAGES = 3 };
typedef struct sonde__pressure {
    unsigned known;                              /* bit n: line n is there */
    double percent[2][SONDE__PRESSURE_AVERAGES]; /* over 10, 60 and 300 s */
    uint64_t total_us[2];
} sonde__pressure;
sonde_status sonde__parse_pressure(const char *text, size_t len, sonde__pressure *out);

/* cpu.max of cgroup v2, "50000 100000", as CPUs. EABSENT for "max 100000". */
sonde_status sonde__parse_cpu_max(const char *text, size_t len, double *cpus);

/* /proc/PID/cgroup: "4:memory:/a/b", "0::/a/b". Lines that are not so are passed over. */
typedef struct sonde__cgroup_line {
    const char *controllers; /* within the text; "" of v2 */
    size_t controllers_len;
    const char *path;
    size_t path_len;
    bool v2;
} sonde__cgroup_line;
bool sonde__cgroup_next(sonde__scan *scan, sonde__cgroup_line *out);

/* /proc/PID/mountinfo: the mounts of cgroup file systems, escapes in paths decoded. Those with
   longer paths than fit are passed over. */
typedef struct sonde__cgroup_mount {
    bool v2;
    char root[SONDE__CGROUP_PATH_BYTES];  /* the part of the hierarchy that is mounted */
    char point[SONDE__CGROUP_PATH_BYTES]; /* where */
    const char *options;                  /* of v1 with its controllers, within the text */
    size_t options_len;
} sonde__cgroup_mount;
bool sonde__cgroup_mount_next(sonde__scan *scan, sonde__cgroup_mount *out);

/* Whether the comma-separated list holds name. */
bool sonde__list_has(const char *list, size_t len, const char *name);

/* /proc/PID/task/TID/children: process ids. False at the end. */
bool sonde__children_next(sonde__scan *scan, uint64_t *pid);

/* The parent in /proc/PID/stat, which sonde__parse_pid_stat leaves out. */
sonde_status sonde__parse_pid_parent(const char *text, size_t len, uint64_t *parent);

#endif
