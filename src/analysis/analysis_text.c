/* SPDX-License-Identifier: Apache-2.0 */
/* The analysis for people. The first six sections are those of the split-inference logger's own
   tool, in its words and columns; the others are what it did not have. */
#include "analysis/analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_WIDTH = 60, OPEN_SHOWN = 10 };

static double ms_of(uint64_t ns)
{
    return (double)ns / 1e6;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_title(sonde__buf *out, const sonde__analysis_style *style, const char *sign,
                      const char *title)
{
    sonde__buf_printf(out, "\n%s%s%s:\n", style->unicode ? sign : "", style->unicode ? " " : "",
                      title);
}

/* Text of the session on a terminal: control characters other than line ends could do anything. */
static void put_safe(sonde__buf *out, const char *text)
{
    for (; text && *text; text++) {
        bool control = ((unsigned char)*text < ' ' && *text != '\n') || *text == 127;
        sonde__buf_append(out, control ? "?" : text, 1);
    }
}

static void put_padded(sonde__buf *out, const char *text, size_t width)
{
    size_t start = out->len;
    put_safe(out, text);
    for (size_t len = out->len - start; len < width; len++)
        sonde__buf_char(out, ' ');
}

static void put_device(sonde__buf *out, const sonde__tally *tally, const char *label,
                       const char *device)
{
    const sonde__group *group = sonde__group_find(&tally->by[SONDE__BY_DEVICE], device);
    uint64_t count = group ? group->count : 0;
    uint64_t failed_ns = group ? group->failed_ns : 0;
    uint64_t ok_ns = group ? group->times.sum_ns : 0;
    sonde__buf_printf(out, "   %s operations: %" PRIu64 " (%.2f ms)", label, count,
                      ms_of(ok_ns + failed_ns));
    if (group && group->failed)
        sonde__buf_printf(out, ", of them failed: %" PRIu64 " (%.2f ms)", group->failed,
                          ms_of(failed_ns));
    sonde__buf_char(out, '\n');
}

static void put_overall(const sonde__analysis *analysis, const sonde__analysis_style *style,
                        sonde__buf *out)
{
    const sonde__tally *tally = &analysis->tally;
    put_title(out, style, "📈", "Overall Statistics");
    sonde__buf_printf(out, "   Total operations: %" PRIu64 "\n", tally->packets);
    sonde__buf_printf(out, "   Successful: %" PRIu64 " (%.1f%%)\n", tally->packets - tally->failed,
                      percent(tally->packets - tally->failed, tally->packets));
    sonde__buf_printf(out, "   Failed: %" PRIu64 "\n", tally->failed);
    put_device(out, tally, "CPU", "cpu");
    put_device(out, tally, "iGPU", "igpu");
    const sonde__group_table *devices = &tally->by[SONDE__BY_DEVICE];
    for (size_t i = 0; i < devices->count; i++)
        if (!sonde__text_is(devices->groups[i]->name, "cpu") &&
            !sonde__text_is(devices->groups[i]->name, "igpu"))
            put_device(out, tally, devices->groups[i]->name.data, devices->groups[i]->name.data);
}

static int by_total(const void *a, const void *b)
{
    const sonde__group *left = *(sonde__group *const *)a, *right = *(sonde__group *const *)b;
    if (left->times.sum_ns != right->times.sum_ns)
        return left->times.sum_ns > right->times.sum_ns ? -1 : 1;
    return 0;
}

static int by_layer(const void *a, const void *b)
{
    const sonde__group *left = *(sonde__group *const *)a, *right = *(sonde__group *const *)b;
    return left->layer < right->layer ? -1 : left->layer > right->layer;
}

/* The groups in another order; equals keep theirs (glibc's qsort merges). NULL: no memory. */
static sonde__group **sorted(const sonde__group_table *table,
                             int (*compare)(const void *, const void *))
{
    sonde__group **groups = malloc((table->count + 1) * sizeof(sonde__group *));
    if (!groups)
        return NULL;
    if (table->count > 0)
        memcpy(groups, table->groups, table->count * sizeof(sonde__group *));
    qsort(groups, table->count, sizeof(sonde__group *), compare);
    return groups;
}

static void put_figures(sonde__buf *out, const sonde__group *group)
{
    const sonde__times *times = &group->times;
    sonde__buf_printf(out, "%3" PRIu64 " ops  %8.2f ms  (avg: %.2f ms)\n", times->count,
                      ms_of(times->sum_ns),
                      times->count ? ms_of(times->sum_ns) / (double)times->count : 0);
}

static void put_breakdowns(const sonde__analysis *analysis, const sonde__analysis_style *style,
                           sonde__buf *out)
{
    const sonde__group_table *workers = &analysis->tally.by[SONDE__BY_WORKER];
    const sonde__group_table *layers = &analysis->tally.by[SONDE__BY_LAYER];
    sonde__group **groups = sorted(workers, by_total);
    put_title(out, style, "🔧", "Per-Worker Breakdown");
    for (size_t i = 0; groups && i < workers->count; i++) {
        if (groups[i]->times.count == 0)
            continue;
        sonde__buf_text(out, "   ");
        put_padded(out, groups[i]->name.data, 40);
        sonde__buf_char(out, ' ');
        put_figures(out, groups[i]);
    }
    free(groups);
    groups = sorted(layers, by_layer);
    put_title(out, style, "📊", "Per-Layer Breakdown");
    for (size_t i = 0; groups && i < layers->count; i++) {
        if (groups[i]->times.count == 0)
            continue;
        sonde__buf_printf(out, "   Layer %2s: ", groups[i]->name.data);
        put_figures(out, groups[i]);
    }
    free(groups);
}

static void put_slowest(const sonde__analysis *analysis, const sonde__analysis_style *style,
                        sonde__buf *out)
{
    char title[64];
    snprintf(title, sizeof title, "Top %zu Slowest Operations", style->top);
    put_title(out, style, "🐌", title);
    for (size_t i = 0; i < analysis->slowest.count; i++) {
        const sonde__kept *kept = &analysis->slowest.items[i];
        sonde__buf_printf(out, "   %zu. ", i + 1);
        put_padded(out, kept->operation, 25);
        sonde__buf_printf(out, " Layer %3" PRId64 "  ", kept->layer);
        put_padded(out, kept->device, 5);
        sonde__buf_printf(out, "  %6.2f ms\n", ms_of(kept->duration_ns));
    }
}

static void put_failed(const sonde__analysis *analysis, const sonde__analysis_style *style,
                       sonde__buf *out)
{
    if (analysis->tally.failed == 0)
        return;
    put_title(out, style, "❌", "Failed Operations");
    for (size_t i = 0; i < analysis->failed.count; i++) {
        const sonde__kept *kept = &analysis->failed.items[i];
        sonde__buf_text(out, "   Packet ");
        put_safe(out, kept->packet_id);
        sonde__buf_text(out, ": ");
        put_safe(out, kept->operation);
        sonde__buf_printf(out, " at layer %" PRId64 "\n      Error: ", kept->layer);
        put_safe(out, kept->error);
        sonde__buf_char(out, '\n');
    }
    if (analysis->tally.failed > analysis->failed.count)
        sonde__buf_printf(out, "   ... and %" PRIu64 " more\n",
                          analysis->tally.failed - analysis->failed.count);
}

static void put_summary(const sonde__analysis *analysis, const sonde__analysis_style *style,
                        sonde__buf *out)
{
    sonde__summary summary = sonde__analysis_summary(analysis);
    const char *page = style->unicode ? "📄 " : "";
    put_title(out, style, "📋", "Session Summary");
    sonde__buf_printf(out, "   Session: %s\n", analysis->session_name);
    sonde__buf_printf(out, "   Duration: %.3f seconds\n",
                      sonde__summary_seconds(&summary, &analysis->tally));
    sonde__buf_printf(out, "   Tokens: %" PRIu64 " generated, %" PRIu64 " prompt\n",
                      analysis->tokens_generated, analysis->prompt_tokens);
    sonde__buf_printf(out, "   Throughput: %.2f tokens/s\n",
                      sonde__summary_tokens_per_second(&summary, &analysis->tally));
    sonde__buf_printf(out, "   Success rate: %.1f%%\n",
                      100 * sonde__tally_success_rate(&analysis->tally));
    sonde__buf_text(out, "\n   Files:\n");
    if (analysis->csv_path[0])
        sonde__buf_printf(out, "   %sCSV: %s\n", page, analysis->csv_path);
    if (analysis->json_path[0])
        sonde__buf_printf(out, "   %sJSON: %s\n", page, analysis->json_path);
    if (analysis->from_journal)
        sonde__buf_printf(out, "   %sJournal: %s\n", page, analysis->path);
}

static void put_percentiles(const sonde__analysis *analysis, const sonde__analysis_style *style,
                            sonde__buf *out)
{
    const sonde__group_table *table = &analysis->tally.by[style->by];
    sonde__group **groups = sorted(table, style->by == SONDE__BY_LAYER ? by_layer : by_total);
    char title[64];
    snprintf(title, sizeof title, "Percentiles by %s (ms)", sonde__tally_by_name(style->by));
    put_title(out, style, "📐", title);
    sonde__buf_printf(out, "   %-28s %9s %6s %9s %9s %9s %9s %9s\n",
                      sonde__tally_by_name(style->by), "count", "failed", "p50", "p90", "p99",
                      "max", "mem MB");
    for (size_t i = 0; groups && i < table->count; i++) {
        const sonde__times *times = &groups[i]->times;
        sonde__buf_text(out, "   ");
        put_padded(out, groups[i]->name.data, 28);
        sonde__buf_printf(out, " %9" PRIu64 " %6" PRIu64, groups[i]->count, groups[i]->failed);
        if (times->count)
            sonde__buf_printf(out, " %9.3f %9.3f %9.3f %9.3f",
                              ms_of(sonde__times_quantile(times, 0.5)),
                              ms_of(sonde__times_quantile(times, 0.9)),
                              ms_of(sonde__times_quantile(times, 0.99)), ms_of(times->max_ns));
        else
            sonde__buf_printf(out, " %9s %9s %9s %9s", "-", "-", "-", "-");
        sonde__buf_printf(out, " %9.2f\n", groups[i]->memory_mb_max);
    }
    free(groups);
}

static void put_busy(const char *name, sonde__busy_total busy, double seconds, uint64_t start_ns,
                     sonde__buf *out)
{
    sonde__buf_text(out, "   ");
    put_padded(out, name, 10);
    sonde__buf_printf(out, " busy %9.3f s (%.1f%% of the time), %" PRIu64 " gaps",
                      (double)busy.busy_ns / 1e9,
                      seconds > 0 ? (double)busy.busy_ns / 1e7 / seconds : 0, busy.gaps);
    uint64_t longest = busy.longest_gap.end_ns - busy.longest_gap.start_ns;
    if (longest > 0)
        sonde__buf_printf(out, ", the longest %.3f ms at %.3f s", ms_of(longest),
                          busy.longest_gap.start_ns > start_ns
                              ? (double)(busy.longest_gap.start_ns - start_ns) / 1e9
                              : 0);
    sonde__buf_char(out, '\n');
}

static void put_devices(const sonde__analysis *analysis, const sonde__analysis_style *style,
                        sonde__buf *out)
{
    const sonde__tally *tally = &analysis->tally;
    const sonde__group_table *devices = &tally->by[SONDE__BY_DEVICE];
    sonde__summary summary = sonde__analysis_summary(analysis);
    double seconds = sonde__summary_seconds(&summary, tally);
    uint64_t start_ns = summary.start_ns ? summary.start_ns : tally->first_start_ns;
    put_title(out, style, "💻", "Devices and Idle Gaps");
    for (size_t i = 0; i < devices->count; i++)
        put_busy(devices->groups[i]->name.data, sonde__busy_sum(devices->groups[i]->busy), seconds,
                 start_ns, out);
    put_busy("any", sonde__busy_sum(&tally->busy), seconds, start_ns, out);
    sonde__buf_printf(out, "   cpu and igpu at work together: %" PRIu64 " times\n",
                      tally->contention);
    if (tally->targets)
        sonde__buf_printf(out,
                          "   ran on another device than asked for: %" PRIu64 " of %" PRIu64 "\n",
                          tally->fallbacks, tally->targets);
}

static void put_open(const sonde__analysis *analysis, const sonde__analysis_style *style,
                     sonde__buf *out)
{
    if (analysis->open_count == 0)
        return;
    put_title(out, style, "⏳", analysis->running ? "Running now" : "Never Ended");
    for (size_t i = 0; i < analysis->open.count && i < OPEN_SHOWN; i++) {
        sonde__buf_text(out, "   ");
        put_safe(out, analysis->open.items[i].operation);
        if (analysis->open.items[i].layer != SONDE__NO_LAYER)
            sonde__buf_printf(out, ", layer %" PRId64, analysis->open.items[i].layer);
        sonde__buf_char(out, '\n');
    }
    if (analysis->open_count > OPEN_SHOWN)
        sonde__buf_printf(out, "   ... and %" PRIu64 " more\n", analysis->open_count - OPEN_SHOWN);
}

static void put_recording(const sonde__analysis *analysis, const sonde__analysis_style *style,
                          sonde__buf *out)
{
    const sonde_reader_stats *stats = &analysis->stats;
    put_title(out, style, "🎙", "Recording");
    if (analysis->from_journal) {
        sonde__buf_printf(out, "   %" PRIu64 " processes, %" PRIu64 " files, %.2f MB",
                          analysis->processes, stats->files, (double)stats->bytes / 1e6);
        if (analysis->tally.packets)
            sonde__buf_printf(out, ", %.1f bytes per task",
                              (double)stats->bytes / (double)analysis->tally.packets);
        sonde__buf_printf(
            out, "\n   lost: %" PRIu64 ", missing: %" PRIu64 ", unreadable bytes: %" PRIu64 "\n",
            stats->lost, stats->missing, stats->bad_bytes);
        if (analysis->processes_died)
            sonde__buf_printf(
                out, "   %" PRIu64 " of the processes died; what they had recorded is here\n",
                analysis->processes_died);
        return;
    }
    sonde__buf_printf(out, "   %" PRIu64 " rows, %.2f MB", analysis->tally.packets,
                      (double)analysis->bytes / 1e6);
    uint64_t bad = analysis->rows_short + analysis->rows_bad + analysis->rows_too_long;
    if (bad)
        sonde__buf_printf(out,
                          "; passed over: %" PRIu64 " incomplete, %" PRIu64
                          " not understood, %" PRIu64 " too long",
                          analysis->rows_short, analysis->rows_bad, analysis->rows_too_long);
    if (analysis->headers)
        sonde__buf_printf(out, "; %" PRIu64 " more headers", analysis->headers);
    sonde__buf_char(out, '\n');
}

void sonde__analysis_text(const sonde__analysis *analysis, const sonde__analysis_style *style,
                          sonde__buf *out)
{
    sonde__buf_printf(out, "\n%sAnalyzing: %s\n", style->unicode ? "📊 " : "", analysis->path);
    for (int i = 0; i < RULE_WIDTH; i++)
        sonde__buf_char(out, '=');
    sonde__buf_char(out, '\n');
    if (analysis->tally.packets == 0) {
        sonde__buf_printf(out, "%sNo data in %s file\n", style->unicode ? "⚠️  " : "",
                          analysis->from_journal ? "journal" : "CSV");
    } else {
        put_overall(analysis, style, out);
        put_breakdowns(analysis, style, out);
        put_slowest(analysis, style, out);
        put_failed(analysis, style, out);
    }
    put_summary(analysis, style, out);
    if (analysis->tally.packets > 0) {
        put_percentiles(analysis, style, out);
        put_devices(analysis, style, out);
    }
    put_open(analysis, style, out);
    put_recording(analysis, style, out);
}
