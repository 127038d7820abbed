/* SPDX-License-Identifier: Apache-2.0 */
/* The analysis for programs: the session's summary, and everything the text shows besides. */
#include "analysis/analysis.h"
#include "view/json_indent.h"

enum { COMPACT_MAX = 64 << 20 };

static void write_kept(sonde__json *json, const char *key, const sonde__kept_list *list)
{
    sonde__json_key(json, key);
    sonde__json_begin_array(json);
    for (size_t i = 0; i < list->count; i++) {
        const sonde__kept *kept = &list->items[i];
        sonde__json_begin_object(json);
        sonde__json_member_text(json, "packet_id", kept->packet_id);
        sonde__json_member_text(json, "operation", kept->operation);
        sonde__json_key(json, "layer_idx");
        sonde__json_int(json, kept->layer);
        sonde__json_member_text(json, "device", kept->device);
        sonde__json_member_double(json, "duration_ms", (double)kept->duration_ns / 1e6);
        sonde__json_member_text(json, "error_message", kept->error);
        sonde__json_end_object(json);
    }
    sonde__json_end_array(json);
}

static void write_groups(sonde__json *json, const char *key, const sonde__group_table *table)
{
    sonde__json_key(json, key);
    sonde__json_begin_object(json);
    for (size_t i = 0; i < table->count; i++) {
        sonde__json_key_n(json, table->groups[i]->name.data, table->groups[i]->name.len);
        sonde__group_json(json, table->groups[i]);
    }
    sonde__json_end_object(json);
}

static void write_input(sonde__json *json, const sonde__analysis *analysis)
{
    const sonde_reader_stats *stats = &analysis->stats;
    sonde__json_key(json, "input");
    sonde__json_begin_object(json);
    sonde__json_member_text(json, "path", analysis->path);
    sonde__json_member_text(json, "kind", analysis->from_journal ? "journal" : "csv");
    sonde__json_member_uint(json, "bytes", analysis->bytes);
    if (analysis->from_journal) {
        sonde__json_member_uint(json, "files", stats->files);
        sonde__json_member_uint(json, "processes", analysis->processes);
        sonde__json_member_uint(json, "processes_died", analysis->processes_died);
        sonde__json_member_uint(json, "unreadable_bytes", stats->bad_bytes);
    } else {
        sonde__json_member_uint(json, "rows_incomplete", analysis->rows_short);
        sonde__json_member_uint(json, "rows_not_understood", analysis->rows_bad);
        sonde__json_member_uint(json, "rows_too_long", analysis->rows_too_long);
        sonde__json_member_uint(json, "headers_repeated", analysis->headers);
    }
    sonde__json_end_object(json);
}

typedef struct extras {
    const sonde__analysis *analysis;
    sonde__summary base;
} extras;

static void write_more(sonde__json *json, void *user)
{
    const extras *more = user;
    const sonde__analysis *analysis = more->analysis;
    if (more->base.more)
        more->base.more(json, more->base.user);
    write_groups(json, "workers", &analysis->tally.by[SONDE__BY_WORKER]);
    write_groups(json, "layers", &analysis->tally.by[SONDE__BY_LAYER]);
    write_kept(json, "slowest", &analysis->slowest);
    write_kept(json, "failed", &analysis->failed);
    write_kept(json, "open", &analysis->open);
    write_input(json, analysis);
}

void sonde__analysis_json(const sonde__analysis *analysis, sonde__buf *out)
{
    extras more = {analysis, sonde__analysis_summary(analysis)};
    sonde__summary summary = more.base;
    summary.more = write_more;
    summary.user = &more;
    sonde__buf compact;
    sonde__json json;
    sonde__buf_init(&compact, COMPACT_MAX);
    sonde__json_init(&json, &compact);
    sonde__summary_json(&json, &summary, &analysis->tally);
    sonde__json_indent(out, compact.data, compact.len);
    if (compact.status != SONDE_OK)
        out->status = compact.status;
    sonde__buf_free(&compact);
}
