/* SPDX-License-Identifier: Apache-2.0 */
#include "view/session_view.h"

#include "base/ids.h"
#include "base/json_write.h"
#include "record/reader_metrics.h"
#include "record/snapshot_json.h"
#include "view/view_resource.h"

#include <stdio.h>
#include <stdlib.h>

static void add_label(sonde_label *list, size_t *count, const char *key, const char *value)
{
    if (value)
        list[(*count)++] = (sonde_label){key, value};
}

void sonde__run_source_init(sonde__run_source *out, const sonde_run *run,
                            const sonde_metric_set *metrics)
{
    *out = (sonde__run_source){.source = {.size = sizeof out->source,
                                          .metrics = metrics,
                                          .labels = out->labels,
                                          .resource = out->resource,
                                          .run = run->run,
                                          .start_wall_ns = run->started_wall_ns}};
    snprintf(out->pid, sizeof out->pid, "%u", run->pid);
    sonde__id_to_hex(run->run, out->instance);
    size_t *count = &out->source.label_count;
    add_label(out->labels, count, "session", run->session_name);
    add_label(out->labels, count, "host", run->host);
    add_label(out->labels, count, "pid", out->pid);
    count = &out->source.resource_count;
    add_label(out->resource, count, "service.name", sonde__service_name(run));
    add_label(out->resource, count, "service.instance.id", out->instance);
    add_label(out->resource, count, "host.name", run->host);
    add_label(out->resource, count, "process.pid", out->pid);
    add_label(out->resource, count, "process.owner", run->user);
    add_label(out->resource, count, "telemetry.sdk.name", "sonde");
    add_label(out->resource, count, "telemetry.sdk.language", "c");
    add_label(out->resource, count, "telemetry.sdk.version", run->version);
}

static sonde_status read_run(sonde_reader *reader, const sonde_run *run, sonde_metric_set *set,
                             uint64_t *newest)
{
    if (run->state == SONDE_RUN_RUNNING && sonde_metric_set_read_run(set, run->run) == SONDE_OK)
        return SONDE_OK;
    uint64_t at = 0;
    sonde_status status = sonde_reader_metrics(reader, run->run, 0, set, &at);
    *newest = at > *newest ? at : *newest;
    return status;
}

sonde_status sonde__session_view_fill(sonde__session_view *session, sonde_reader *reader,
                                      sonde_view *view)
{
    size_t runs = sonde_reader_run_count(reader);
    uint64_t newest = 0;
    sonde_status status = SONDE_OK;
    session->count = 0;
    session->sources = calloc(runs + 1, sizeof *session->sources);
    session->sets = calloc(runs + 1, sizeof(void *));
    if (!session->sources || !session->sets)
        status = SONDE_ENOMEM;
    for (size_t i = 0; status == SONDE_OK && i < runs; i++) {
        const sonde_run *run = sonde_reader_run(reader, i);
        session->sets[i] = sonde_metric_set_create();
        session->count = i + 1;
        status = session->sets[i] ? read_run(reader, run, session->sets[i], &newest) : SONDE_ENOMEM;
        sonde__run_source_init(&session->sources[i], run, session->sets[i]);
    }
    sonde_view_begin(view, newest);
    for (size_t i = 0; status == SONDE_OK && i < runs; i++)
        status = sonde_view_add(view, &session->sources[i].source);
    return status;
}

void sonde__session_view_free(sonde__session_view *session)
{
    for (size_t i = 0; i < session->count; i++)
        sonde_metric_set_destroy(session->sets[i]);
    free(session->sets);
    free(session->sources);
    *session = (sonde__session_view){0};
}

/* --- history --- */

typedef struct history {
    sonde_view *view;
    const sonde_run *run;
    sonde__buf *out;
    sonde_snapshot last;
} history;

static void put_line(void *user, uint64_t wall_ns, const sonde_metric_set *set)
{
    history *h = user;
    sonde_view_source source = {
        .size = sizeof source, .metrics = set, .start_wall_ns = h->run->started_wall_ns};
    sonde_snapshot now;
    sonde_view_begin(h->view, wall_ns);
    sonde_status status = sonde_view_add(h->view, &source);
    if (status == SONDE_OK)
        status = sonde_view_snapshot_get(h->view, &now);
    if (status != SONDE_OK) {
        h->out->status = status;
        return;
    }
    if (h->last.wall_ns && now.wall_ns > h->last.wall_ns)
        now.throughput_tasks_per_sec = (double)(now.tasks_executed - h->last.tasks_executed) /
                                       ((double)(now.wall_ns - h->last.wall_ns) / 1e9);
    h->last = now;
    sonde__json json;
    sonde__json_init(&json, h->out);
    sonde__snapshot_json(&now, &json);
    sonde__buf_char(h->out, '\n');
}

sonde_status sonde__session_history(sonde_reader *reader, sonde__buf *out)
{
    sonde_metric_set *set = sonde_metric_set_create();
    sonde_view *view = sonde_view_create();
    sonde_status status = set && view ? SONDE_OK : SONDE_ENOMEM;
    for (size_t i = 0; status == SONDE_OK && i < sonde_reader_run_count(reader); i++) {
        history h = {.view = view, .run = sonde_reader_run(reader, i), .out = out};
        status = sonde__reader_metrics_each(reader, h.run->run, set, put_line, &h);
    }
    sonde_view_destroy(view);
    sonde_metric_set_destroy(set);
    return status == SONDE_OK ? out->status : status;
}
