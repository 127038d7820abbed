/* SPDX-License-Identifier: Apache-2.0 */
/* What the process may use, and what of it is used: limits and counters of its cgroup, v1
   (Documentation/admin-guide/cgroup-v1) and v2 (admin-guide/cgroup-v2.rst). Limits of the cgroups
   above hold as well: the tightest counts, and memory and throttling are told of the cgroup that
   sets it, since it is that one that runs full. Places and limits are looked at again at each
   recheck; the counters are kept open. */
#include "capture/cgroup_place.h"
#include "capture/small_file.h"

#include <sched.h>
#include <stdlib.h>

#define V1_NO_LIMIT ((uint64_t)1 << 62) /* v1 has no word for it, only a number near 2^63 */

enum { COUNTERS = 7 };
enum { CPU_STAT, CPU_USAGE, MEMORY_USAGE, MEMORY_STAT, MEMORY_PEAK, MEMORY_EVENTS, PIDS_CURRENT };

typedef struct cgroup_state {
    sonde_status located;
    unsigned version[SONDE__CONTROLLER_COUNT];
    sonde__kernel_file file[COUNTERS];
    sonde_status open_status[COUNTERS];
    double cpu_limit; /* CPUs */
    uint64_t memory_limit;
    uint64_t pids_limit;
    sonde_status cpu_limit_status, memory_limit_status, pids_limit_status;
    double cpus_bound; /* that the process may run on; 0: not known */
    double usage_previous_s;
    bool usage_known;
} cgroup_state;

static sonde_status read_cpu_limit(sonde__host *host, const sonde__cgroup_place *place,
                                   double *cpus)
{
    if (place->version == 2) {
        sonde_status status = sonde__small_read(host, "%s/cpu.max", place->folder);
        return status != SONDE_OK ? status
                                  : sonde__parse_cpu_max(host->text.data, host->text.len, cpus);
    }
    uint64_t period_us;
    int64_t quota_us;
    sonde_status status = sonde__small_read(host, "%s/cpu.cfs_quota_us", place->folder);
    if (status == SONDE_OK)
        status = sonde__parse_signed(host->text.data, host->text.len, &quota_us);
    if (status == SONDE_OK && quota_us < 0)
        return SONDE_EABSENT;
    if (status == SONDE_OK)
        status = sonde__small_number(host, &period_us, "%s/cpu.cfs_period_us", place->folder);
    if (status != SONDE_OK || period_us == 0)
        return status != SONDE_OK ? status : SONDE_EBADDATA;
    *cpus = (double)quota_us / (double)period_us;
    return SONDE_OK;
}

static sonde_status read_memory_limit(sonde__host *host, const sonde__cgroup_place *place,
                                      double *bytes)
{
    uint64_t limit;
    const char *name = place->version == 2 ? "memory.max" : "memory.limit_in_bytes";
    sonde_status status = sonde__small_number(host, &limit, "%s/%s", place->folder, name);
    if (status == SONDE_OK && limit >= V1_NO_LIMIT)
        return SONDE_EABSENT;
    if (status == SONDE_OK)
        *bytes = (double)limit;
    return status;
}

static sonde_status read_pids_limit(sonde__host *host, const sonde__cgroup_place *place,
                                    double *count)
{
    uint64_t limit;
    sonde_status status = sonde__small_number(host, &limit, "%s/pids.max", place->folder);
    if (status == SONDE_OK)
        *count = (double)limit;
    return status;
}

/* The tightest limit from the cgroup up to the mount point. *place becomes the cgroup that sets it;
   it stays where it is when there is none. */
static sonde_status find_limit(sonde__host *host, sonde__cgroup_place *place, double *limit,
                               sonde_status (*read)(sonde__host *, const sonde__cgroup_place *,
                                                    double *))
{
    sonde__cgroup_place up = *place;
    sonde_status found = SONDE_EABSENT;
    if (up.version == 0)
        return SONDE_EABSENT;
    do {
        double value;
        sonde_status status = read(host, &up, &value);
        if (status == SONDE_OK && (found != SONDE_OK || value < *limit)) {
            *limit = value;
            *place = up;
        }
        if (status == SONDE_OK || (found != SONDE_OK && status != SONDE_EABSENT))
            found = status;
    } while (sonde__cgroup_up(&up));
    return found;
}

static void open_counter(const sonde__host *host, cgroup_state *state, unsigned counter,
                         const sonde__cgroup_place *place, const char *v1, const char *v2)
{
    const char *name = place->version == 2 ? v2 : v1;
    sonde__kernel_file_close(&state->file[counter]);
    state->open_status[counter] =
        place->version == 0 || !name
            ? SONDE_EABSENT
            : sonde__small_open(host, &state->file[counter], "%s/%s", place->folder, name);
}

static double count_bound_cpus(const sonde__host *host)
{
    if (!host->live)
        return 0;
    size_t bytes = CPU_ALLOC_SIZE(SONDE__ROWS_MAX);
    cpu_set_t *set = CPU_ALLOC(SONDE__ROWS_MAX);
    double count = 0;
    if (set && sched_getaffinity(host->pid, bytes, set) == 0)
        count = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    return count;
}

static void look_again(sonde__host *host, cgroup_state *state)
{
    sonde__cgroup_place place[SONDE__CONTROLLER_COUNT];
    state->located = sonde__cgroup_locate(host, place);
    if (state->located != SONDE_OK)
        return;
    sonde__cgroup_place *cpu = &place[SONDE__CONTROLLER_CPU];
    sonde__cgroup_place *cpuacct = &place[SONDE__CONTROLLER_CPUACCT];
    sonde__cgroup_place *memory = &place[SONDE__CONTROLLER_MEMORY];
    sonde__cgroup_place *pids = &place[SONDE__CONTROLLER_PIDS];
    double bytes = 0, count = 0;
    for (unsigned i = 0; i < SONDE__CONTROLLER_COUNT; i++)
        state->version[i] = place[i].version;
    state->cpu_limit_status = find_limit(host, cpu, &state->cpu_limit, read_cpu_limit);
    state->memory_limit_status = find_limit(host, memory, &bytes, read_memory_limit);
    state->pids_limit_status = find_limit(host, pids, &count, read_pids_limit);
    state->memory_limit = (uint64_t)bytes;
    state->pids_limit = (uint64_t)count;
    state->cpus_bound = count_bound_cpus(host);
    open_counter(host, state, CPU_STAT, cpu, "cpu.stat", "cpu.stat");
    open_counter(host, state, CPU_USAGE, cpuacct, "cpuacct.usage", NULL);
    open_counter(host, state, MEMORY_USAGE, memory, "memory.usage_in_bytes", "memory.current");
    open_counter(host, state, MEMORY_STAT, memory, "memory.stat", "memory.stat");
    open_counter(host, state, MEMORY_PEAK, memory, "memory.max_usage_in_bytes", "memory.peak");
    open_counter(host, state, MEMORY_EVENTS, memory, "memory.oom_control", "memory.events");
    open_counter(host, state, PIDS_CURRENT, pids, "pids.current", "pids.current");
}

static sonde_status read_counter(sonde__host *host, const cgroup_state *state, unsigned counter)
{
    return state->open_status[counter] == SONDE_OK
               ? sonde__kernel_file_read(&state->file[counter], &host->text)
               : state->open_status[counter];
}

/* Sets field to the number in a counter's file, or to the one after key. */
static void set_counter(sonde__host *host, const cgroup_state *state, unsigned counter,
                        const char *key, sonde_field field, sonde_telemetry *out)
{
    uint64_t value;
    sonde_status status = read_counter(host, state, counter);
    if (status == SONDE_OK && key)
        status = sonde__parse_keyed(host->text.data, host->text.len, key, &value);
    else if (status == SONDE_OK)
        status = sonde__parse_number(host->text.data, host->text.len, &value);
    if (status == SONDE_OK)
        sonde__set_uint(out, field, value);
    else
        out->status[field] = (int8_t)status;
}

/* A time after key in host->text, given in units of a second's fraction. */
static sonde_status keyed_seconds(const sonde__host *host, const char *key, double units,
                                  double *seconds)
{
    uint64_t value;
    sonde_status status = sonde__parse_keyed(host->text.data, host->text.len, key, &value);
    if (status == SONDE_OK)
        *seconds = (double)value / units;
    return status;
}

static void set_seconds(sonde_telemetry *out, sonde_field field, sonde_status status, double value)
{
    if (status == SONDE_OK)
        sonde__set_double(out, field, value);
    else
        out->status[field] = (int8_t)status;
}

static void set_throttling(sonde__host *host, const cgroup_state *state, sonde_telemetry *out)
{
    set_counter(host, state, CPU_STAT, "nr_periods", SONDE_FIELD_CGROUP_CPU_PERIODS, out);
    set_counter(host, state, CPU_STAT, "nr_throttled", SONDE_FIELD_CGROUP_CPU_THROTTLED, out);
    double seconds = 0;
    sonde_status status = read_counter(host, state, CPU_STAT);
    bool v2 = state->version[SONDE__CONTROLLER_CPU] == 2;
    if (status == SONDE_OK)
        status =
            keyed_seconds(host, v2 ? "throttled_usec" : "throttled_time", v2 ? 1e6 : 1e9, &seconds);
    set_seconds(out, SONDE_FIELD_CGROUP_CPU_THROTTLED_TIME, status, seconds);
}

static sonde_status read_usage(sonde__host *host, const cgroup_state *state, double *seconds)
{
    uint64_t ns;
    bool v2 = state->version[SONDE__CONTROLLER_CPUACCT] == 2;
    sonde_status status = read_counter(host, state, v2 ? CPU_STAT : CPU_USAGE);
    if (status == SONDE_OK && v2)
        return keyed_seconds(host, "usage_usec", 1e6, seconds);
    if (status == SONDE_OK)
        status = sonde__parse_number(host->text.data, host->text.len, &ns);
    if (status == SONDE_OK)
        *seconds = (double)ns / 1e9;
    return status;
}

static void set_cpu(sonde__host *host, cgroup_state *state, sonde_telemetry *out)
{
    bool limited = state->cpu_limit_status == SONDE_OK;
    double available = state->cpus_bound, usage_s = 0;
    if (limited && (available == 0 || state->cpu_limit < available))
        available = state->cpu_limit;
    set_seconds(out, SONDE_FIELD_CGROUP_CPU_LIMIT, state->cpu_limit_status, state->cpu_limit);
    set_seconds(out, SONDE_FIELD_CGROUP_CPU_AVAILABLE,
                available > 0 ? SONDE_OK : SONDE_EUNSUPPORTED, available);
    set_throttling(host, state, out);
    sonde_status status = read_usage(host, state, &usage_s);
    set_seconds(out, SONDE_FIELD_CGROUP_CPU_USAGE, status, usage_s);
    if (status == SONDE_OK && available <= 0)
        status = SONDE_EUNSUPPORTED;
    else if (status == SONDE_OK && (!state->usage_known || host->window_ns == 0))
        status = SONDE_EEARLY;
    double spent_s = usage_s > state->usage_previous_s ? usage_s - state->usage_previous_s : 0;
    set_seconds(out, SONDE_FIELD_CGROUP_CPU_PERCENT, status,
                status == SONDE_OK
                    ? sonde__percent(spent_s, (double)host->window_ns / 1e9 * available)
                    : 0);
    state->usage_previous_s = usage_s;
    state->usage_known = out->status[SONDE_FIELD_CGROUP_CPU_USAGE] == SONDE_OK;
}

static void set_working_set(sonde__host *host, const cgroup_state *state, sonde_telemetry *out)
{
    bool v2 = state->version[SONDE__CONTROLLER_MEMORY] == 2;
    uint64_t idle, used = out->value[SONDE_FIELD_CGROUP_MEMORY_USAGE].u;
    sonde_status status = (sonde_status)out->status[SONDE_FIELD_CGROUP_MEMORY_USAGE];
    if (status == SONDE_OK)
        status = read_counter(host, state, MEMORY_STAT);
    if (status == SONDE_OK)
        status = sonde__parse_keyed(host->text.data, host->text.len,
                                    v2 ? "inactive_file" : "total_inactive_file", &idle);
    if (status != SONDE_OK) {
        out->status[SONDE_FIELD_CGROUP_MEMORY_WORKING_SET] = (int8_t)status;
        return;
    }
    sonde__set_uint(out, SONDE_FIELD_CGROUP_MEMORY_WORKING_SET, used > idle ? used - idle : 0);
}

static void set_memory(sonde__host *host, const cgroup_state *state, sonde_telemetry *out)
{
    set_counter(host, state, MEMORY_USAGE, NULL, SONDE_FIELD_CGROUP_MEMORY_USAGE, out);
    set_counter(host, state, MEMORY_PEAK, NULL, SONDE_FIELD_CGROUP_MEMORY_PEAK, out);
    set_counter(host, state, MEMORY_EVENTS, "oom_kill", SONDE_FIELD_CGROUP_MEMORY_OOM_KILLS, out);
    set_working_set(host, state, out);
    sonde_status status = state->memory_limit_status;
    if (status == SONDE_OK)
        sonde__set_uint(out, SONDE_FIELD_CGROUP_MEMORY_LIMIT, state->memory_limit);
    else
        out->status[SONDE_FIELD_CGROUP_MEMORY_LIMIT] = (int8_t)status;
    if (status == SONDE_OK)
        status = (sonde_status)out->status[SONDE_FIELD_CGROUP_MEMORY_WORKING_SET];
    if (status == SONDE_OK && state->memory_limit > 0)
        sonde__set_double(
            out, SONDE_FIELD_CGROUP_MEMORY_PERCENT,
            sonde__percent((double)out->value[SONDE_FIELD_CGROUP_MEMORY_WORKING_SET].u,
                           (double)state->memory_limit));
    else
        out->status[SONDE_FIELD_CGROUP_MEMORY_PERCENT] = (int8_t)(status ? status : SONDE_EABSENT);
}

static sonde_status cgroup_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    cgroup_state *state = opaque;
    if (host->recheck)
        look_again(host, state);
    if (state->located != SONDE_OK)
        return state->located;
    sonde__set_uint(out, SONDE_FIELD_CGROUP_VERSION,
                    state->version[SONDE__CONTROLLER_MEMORY]
                        ? state->version[SONDE__CONTROLLER_MEMORY]
                        : state->version[SONDE__CONTROLLER_CPU]);
    set_cpu(host, state, out);
    set_memory(host, state, out);
    set_counter(host, state, PIDS_CURRENT, NULL, SONDE_FIELD_CGROUP_PIDS_CURRENT, out);
    if (state->pids_limit_status == SONDE_OK)
        sonde__set_uint(out, SONDE_FIELD_CGROUP_PIDS_LIMIT, state->pids_limit);
    else
        out->status[SONDE_FIELD_CGROUP_PIDS_LIMIT] = (int8_t)state->pids_limit_status;
    return SONDE_OK;
}

static void cgroup_close(void *opaque)
{
    cgroup_state *state = opaque;
    for (unsigned i = 0; i < COUNTERS; i++)
        sonde__kernel_file_close(&state->file[i]);
}

static sonde_status cgroup_open(sonde__host *host, void *opaque)
{
    cgroup_state *state = opaque;
    for (unsigned i = 0; i < COUNTERS; i++)
        state->file[i].fd = -1;
    look_again(host, state);
    return state->located;
}

const sonde__source sonde__source_cgroup = {
    .name = "cgroup",
    .summary = "limits of the container or job, and their use",
    .remedy = "no limit is set, or the controller is not enabled here; mount cgroup2 at "
              "/sys/fs/cgroup where nothing is found",
    .types = SONDE_CAPTURE_CGROUP,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_CGROUP_VERSION, SONDE_FIELD_CGROUP_PIDS_LIMIT}},
    .state_bytes = sizeof(cgroup_state),
    .open = cgroup_open,
    .read = cgroup_read,
    .close = cgroup_close,
};
