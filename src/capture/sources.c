/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sources. Adding one: its file, a line here, a line in CMakeLists.txt. */
#include "capture/source.h"

extern const sonde__source sonde__source_proc_stat;
extern const sonde__source sonde__source_proc_cpuinfo;
extern const sonde__source sonde__source_rusage;
extern const sonde__source sonde__source_proc_pid_stat;
extern const sonde__source sonde__source_proc_pid_statm;
extern const sonde__source sonde__source_proc_pid_status;
extern const sonde__source sonde__source_proc_pid_io;
extern const sonde__source sonde__source_proc_pid_fd;
extern const sonde__source sonde__source_proc_pid_cmdline;
extern const sonde__source sonde__source_proc_meminfo;
extern const sonde__source sonde__source_proc_vmstat;
extern const sonde__source sonde__source_statfs;
extern const sonde__source sonde__source_proc_diskstats;
extern const sonde__source sonde__source_sys_block;
extern const sonde__source sonde__source_rtnl_stats;
extern const sonde__source sonde__source_cgroup;
extern const sonde__source sonde__source_proc_pressure;
extern const sonde__source sonde__source_sys_powercap;
extern const sonde__source sonde__source_proc_loadavg;
extern const sonde__source sonde__source_sys_thermal;
extern const sonde__source sonde__source_proc_tree;
extern const sonde__source sonde__source_gpu;

const sonde__source *const sonde__sources[SONDE__SOURCE_COUNT] = {
    &sonde__source_rusage,           &sonde__source_proc_pid_stat,
    &sonde__source_proc_pid_statm,   &sonde__source_proc_pid_status,
    &sonde__source_proc_pid_io,      &sonde__source_proc_pid_fd,
    &sonde__source_proc_pid_cmdline, &sonde__source_proc_stat,
    &sonde__source_proc_cpuinfo,     &sonde__source_proc_meminfo,
    &sonde__source_proc_vmstat,      &sonde__source_statfs,
    &sonde__source_proc_diskstats,   &sonde__source_sys_block,
    &sonde__source_rtnl_stats,       &sonde__source_cgroup,
    &sonde__source_proc_pressure,    &sonde__source_sys_powercap,
    &sonde__source_proc_loadavg,     &sonde__source_sys_thermal,
    &sonde__source_proc_tree,        &sonde__source_gpu,
};
