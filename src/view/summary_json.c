/* SPDX-License-Identifier: Apache-2.0 */
/* What the original had wrong is right here under the same key: averages are over successes, not
   over all; the least time of an operation that only failed is null, not Infinity; contention is
   counted. Utilisation keeps its meaning there, a share of packets; the share of time is new. */
#include "view/summary_json.h"

#include <string.h>

static double ms_of(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* Whole microseconds fit a double exactly for the next centuries; nanoseconds do not. */
static double seconds_of(uint64_t wall_ns)
{
    uint64_t wall_us = wall_ns / 1000;
    return (double)wall_us / 1e6;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

void sonde__json_member_uint(sonde__json *json, const char *key, uint64_t value)
{
    sonde__json_key(json, key);
    sonde__json_uint(json, value);
}

void sonde__json_member_double(sonde__json *json, const char *key, double value)
{
    sonde__json_key(json, key);
    sonde__json_double(json, value);
}

void sonde__json_member_text(sonde__json *json, const char *key, const char *text)
{
    sonde__json_key(json, key);
    text ? sonde__json_string(json, text) : sonde__json_null(json);
}

static uint64_t start_of(const sonde__summary *summary, const sonde__tally *tally)
{
    if (summary->start_ns)
        return summary->start_ns;
    return tally->packets ? tally->first_start_ns : 0;
}

static uint64_t end_of(const sonde__summary *summary, const sonde__tally *tally)
{
    return summary->end_ns ? summary->end_ns : tally->last_end_ns;
}

double sonde__summary_seconds(const sonde__summary *summary, const sonde__tally *tally)
{
    uint64_t start = start_of(summary, tally), end = end_of(summary, tally);
    return end > start ? (double)(end - start) / 1e9 : 0;
}

double sonde__summary_tokens_per_second(const sonde__summary *summary, const sonde__tally *tally)
{
    return share((double)summary->tokens_generated, sonde__summary_seconds(summary, tally));
}

double sonde__tally_success_rate(const sonde__tally *tally)
{
    return share((double)(tally->packets - tally->failed), (double)tally->packets);
}

static void write_session(sonde__json *json, const sonde__summary *summary,
                          const sonde__tally *tally)
{
    sonde__json_member_text(json, "session_name", summary->session_name);
    sonde__json_member_double(json, "start_time", seconds_of(start_of(summary, tally)));
    sonde__json_member_double(json, "end_time", seconds_of(end_of(summary, tally)));
    sonde__json_member_double(json, "total_time_s", sonde__summary_seconds(summary, tally));
    sonde__json_member_uint(json, "prompt_tokens", summary->prompt_tokens);
    sonde__json_member_uint(json, "tokens_generated", summary->tokens_generated);
    sonde__json_member_uint(json, "total_tokens",
                            summary->prompt_tokens + summary->tokens_generated);
    sonde__json_member_double(json, "tokens_per_second",
                              sonde__summary_tokens_per_second(summary, tally));
}

static void write_totals(sonde__json *json, const sonde__tally *tally)
{
    uint64_t cpu = sonde__tally_device_packets(tally, "cpu");
    uint64_t igpu = sonde__tally_device_packets(tally, "igpu");
    double cpu_ms = ms_of(sonde__tally_device_ns(tally, "cpu"));
    double igpu_ms = ms_of(sonde__tally_device_ns(tally, "igpu"));
    double packets = (double)tally->packets;
    sonde__json_member_uint(json, "total_packets_processed", tally->packets);
    sonde__json_member_uint(json, "cpu_packets", cpu);
    sonde__json_member_uint(json, "igpu_packets", igpu);
    sonde__json_member_uint(json, "failed_packets", tally->failed);
    sonde__json_member_double(json, "success_rate", sonde__tally_success_rate(tally));
    sonde__json_member_double(json, "total_cpu_time_ms", cpu_ms);
    sonde__json_member_double(json, "total_igpu_time_ms", igpu_ms);
    sonde__json_member_double(json, "avg_cpu_time_ms", share(cpu_ms, (double)cpu));
    sonde__json_member_double(json, "avg_igpu_time_ms", share(igpu_ms, (double)igpu));
    sonde__json_member_double(json, "cpu_utilization", share((double)cpu, packets));
    sonde__json_member_double(json, "igpu_utilization", share((double)igpu, packets));
}

/* Which experts were chosen, where packets say so; else how often operations on experts ran, by
   layer, as the original counted. */
static void write_experts(sonde__json *json, const sonde__tally *tally)
{
    const sonde__group_table *table =
        tally->experts.count > 0 ? &tally->experts : &tally->expert_layers;
    sonde__json_key(json, "expert_selection_distribution");
    sonde__json_begin_object(json);
    for (size_t i = 0; i < table->count; i++) {
        sonde__json_key_n(json, table->groups[i]->name.data, table->groups[i]->name.len);
        sonde__json_uint(json, table->groups[i]->count);
    }
    sonde__json_end_object(json);
}

static void write_least(sonde__json *json, const sonde__times *times)
{
    sonde__json_key(json, "min_time_ms");
    times->count ? sonde__json_double(json, ms_of(times->min_ns)) : sonde__json_null(json);
}

static void write_operation(sonde__json *json, const sonde__group *group)
{
    const sonde__times *times = &group->times;
    sonde__json_begin_object(json);
    sonde__json_member_uint(json, "count", group->count);
    sonde__json_member_double(json, "total_time_ms", ms_of(times->sum_ns));
    sonde__json_member_double(json, "avg_time_ms",
                              share(ms_of(times->sum_ns), (double)times->count));
    write_least(json, times);
    sonde__json_member_double(json, "max_time_ms", ms_of(times->max_ns));
    sonde__json_member_uint(json, "cpu_count", group->cpu);
    sonde__json_member_uint(json, "igpu_count", group->igpu);
    sonde__json_member_uint(json, "failed_count", group->failed);
    sonde__json_end_object(json);
}

static void write_percentiles(sonde__json *json, const sonde__times *times)
{
    static const struct {
        const char *key;
        double q;
    } wanted[] = {
        {"p50_ms", 0.5}, {"p90_ms", 0.9}, {"p95_ms", 0.95}, {"p99_ms", 0.99}, {"p999_ms", 0.999}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        sonde__json_key(json, wanted[i].key);
        if (times->count)
            sonde__json_double(json, ms_of(sonde__times_quantile(times, wanted[i].q)));
        else
            sonde__json_null(json);
    }
}

void sonde__group_json(sonde__json *json, const sonde__group *group)
{
    const sonde__times *times = &group->times;
    sonde__json_begin_object(json);
    sonde__json_member_uint(json, "count", group->count);
    sonde__json_member_uint(json, "failed_count", group->failed);
    sonde__json_member_double(json, "total_time_ms", ms_of(times->sum_ns));
    sonde__json_member_double(json, "failed_time_ms", ms_of(group->failed_ns));
    sonde__json_member_double(json, "avg_time_ms",
                              share(ms_of(times->sum_ns), (double)times->count));
    write_least(json, times);
    sonde__json_member_double(json, "max_time_ms", ms_of(times->max_ns));
    write_percentiles(json, times);
    sonde__json_member_double(json, "peak_memory_mb", group->memory_mb_max);
    sonde__json_end_object(json);
}

static void write_device(sonde__json *json, const sonde__group *group, double seconds)
{
    sonde__busy_total busy = sonde__busy_sum(group->busy);
    sonde__json_begin_object(json);
    sonde__json_member_uint(json, "count", group->count);
    sonde__json_member_uint(json, "failed_count", group->failed);
    sonde__json_member_double(json, "total_time_ms", ms_of(group->times.sum_ns));
    sonde__json_member_double(json, "busy_s", (double)busy.busy_ns / 1e9);
    sonde__json_member_double(json, "busy_share", share((double)busy.busy_ns / 1e9, seconds));
    sonde__json_member_uint(json, "idle_gaps", busy.gaps);
    sonde__json_member_double(json, "idle_gap_longest_ms",
                              ms_of(busy.longest_gap.end_ns - busy.longest_gap.start_ns));
    sonde__json_member_double(json, "peak_memory_mb", group->memory_mb_max);
    write_percentiles(json, &group->times);
    sonde__json_end_object(json);
}

static void write_new(sonde__json *json, const sonde__summary *summary, const sonde__tally *tally)
{
    double seconds = sonde__summary_seconds(summary, tally);
    const sonde__group_table *devices = &tally->by[SONDE__BY_DEVICE];
    const sonde__group_table *activities = &tally->by[SONDE__BY_ACTIVITY];
    if (summary->state)
        sonde__json_member_text(json, "state", summary->state);
    sonde__json_key(json, "fallbacks");
    tally->targets || tally->packets == 0 ? sonde__json_uint(json, tally->fallbacks)
                                          : sonde__json_null(json);
    sonde__json_key(json, "devices");
    sonde__json_begin_object(json);
    for (size_t i = 0; i < devices->count; i++) {
        sonde__json_key_n(json, devices->groups[i]->name.data, devices->groups[i]->name.len);
        write_device(json, devices->groups[i], seconds);
    }
    sonde__json_end_object(json);
    sonde__json_key(json, "activities");
    sonde__json_begin_object(json);
    for (size_t i = 0; i < activities->count; i++) {
        sonde__json_key_n(json, activities->groups[i]->name.data, activities->groups[i]->name.len);
        sonde__group_json(json, activities->groups[i]);
    }
    sonde__json_end_object(json);
    if (summary->with_loss) {
        sonde__json_key(json, "loss");
        sonde__json_begin_object(json);
        sonde__json_member_uint(json, "lost", summary->lost);
        sonde__json_member_uint(json, "missing", summary->missing);
        sonde__json_member_uint(json, "open", summary->open);
        sonde__json_end_object(json);
    }
    if (summary->csv_rows_missing > 0) {
        sonde__json_member_uint(json, "csv_rows_missing", summary->csv_rows_missing);
        sonde__json_member_text(json, "csv_rows_reason", summary->csv_reason);
    }
}

void sonde__summary_json(sonde__json *json, const sonde__summary *summary,
                         const sonde__tally *tally)
{
    const sonde__group_table *activities = &tally->by[SONDE__BY_ACTIVITY];
    sonde__json_begin_object(json);
    write_session(json, summary, tally);
    write_totals(json, tally);
    write_experts(json, tally);
    sonde__json_member_uint(json, "cpu_igpu_contention_events", tally->contention);
    sonde__json_key(json, "operation_breakdown");
    sonde__json_begin_object(json);
    for (size_t i = 0; i < activities->count; i++) {
        sonde__json_key_n(json, activities->groups[i]->name.data, activities->groups[i]->name.len);
        write_operation(json, activities->groups[i]);
    }
    sonde__json_end_object(json);
    sonde__json_member_text(json, "csv_log", summary->csv_log);
    sonde__json_member_text(json, "json_summary", summary->json_summary);
    write_new(json, summary, tally);
    if (summary->more)
        summary->more(json, summary->user);
    sonde__json_end_object(json);
}
