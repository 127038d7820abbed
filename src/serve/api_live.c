/* SPDX-License-Identifier: Apache-2.0 */
/* What the server knows by itself, without reading a session: snapshots, health, this interface. */
#include "base/clock.h"
#include "base/json_write.h"
#include "serve/embedded.h"
#include "serve/health.h"
#include "serve/server.h"

#include <stdio.h>
#include <string.h>

static const char json_type[] = "application/json";

const sonde__route sonde__routes[] = {
    {"/metrics", sonde__api_metrics},
    {"/api/v1/snapshot", sonde__api_snapshot},
    {"/api/v1/snapshots", sonde__api_snapshots},
    {"/api/v1/tasks", sonde__api_tasks},
    {"/api/v1/spans", sonde__api_spans},
    {"/api/v1/sessions", sonde__api_sessions},
    {"/api/v1/stream", sonde__api_stream},
    {"/api/v1/openapi.json", sonde__api_openapi},
    {"/healthz", sonde__api_health},
    {"/", sonde__api_index},
    {NULL, NULL},
};

static enum MHD_Result reply_snapshot(const sonde__request *request, const sonde_snapshot *snapshot)
{
    char text[SONDE_SNAPSHOT_JSON_BYTES];
    if (sonde_snapshot_json(snapshot, text, sizeof text) != SONDE_OK)
        return sonde__reply_error(request, MHD_HTTP_INTERNAL_SERVER_ERROR, "no snapshot");
    return sonde__reply_text(request, MHD_HTTP_OK, json_type, text, strlen(text));
}

enum MHD_Result sonde__api_snapshot(sonde__request *request)
{
    sonde__server *server = request->server;
    const char *id = sonde__target_get(&request->target, "process");
    const sonde__process *one = NULL;
    sonde_snapshot snapshot;
    sonde__processes_look(&server->processes);
    if (id) {
        one = sonde__processes_find(&server->processes, id);
        if (!one)
            return sonde__reply_error(request, MHD_HTTP_NOT_FOUND,
                                      "process %.40s: no instrumented process of this user has "
                                      "that pid or run; see /api/v1/sessions",
                                      id);
    }
    sonde__server_snapshot(server, one, &snapshot);
    return reply_snapshot(request, &snapshot);
}

enum MHD_Result sonde__api_snapshots(sonde__request *request)
{
    const sonde__server *server = request->server;
    const char *limit = sonde__target_get(&request->target, "limit");
    size_t wanted = 100;
    if (limit && !sonde__count_parse(limit, SONDE__SERVE_HISTORY, &wanted))
        return sonde__reply_error(request, MHD_HTTP_BAD_REQUEST, "limit: a number from 1 to %d",
                                  (int)SONDE__SERVE_HISTORY);
    size_t kept = server->history_count < SONDE__SERVE_HISTORY ? (size_t)server->history_count
                                                               : SONDE__SERVE_HISTORY;
    size_t count = wanted < kept ? wanted : kept;
    sonde__buf body;
    sonde__buf_init(&body, SONDE__SERVE_BODY_MAX);
    sonde__buf_char(&body, '[');
    for (size_t i = 0; i < count; i++) {
        char text[SONDE_SNAPSHOT_JSON_BYTES];
        uint64_t at = (server->history_count - count + i) % SONDE__SERVE_HISTORY;
        if (sonde_snapshot_json(&server->history[at], text, sizeof text) != SONDE_OK)
            continue;
        sonde__buf_text(&body, i > 0 ? ",\n" : "");
        sonde__buf_text(&body, text);
    }
    sonde__buf_text(&body, "]\n");
    return sonde__reply(request, MHD_HTTP_OK, json_type, &body);
}

static void put_uint(sonde__json *json, const char *key, uint64_t value)
{
    sonde__json_key(json, key);
    sonde__json_uint(json, value);
}

static void put_connections(sonde__json *json, const sonde__connections *all)
{
    sonde__json_key(json, "connections");
    sonde__json_begin_object(json);
    put_uint(json, "open", all->used);
    put_uint(json, "streams", sonde__connections_count(all, SONDE__PHASE_STREAM));
    put_uint(json, "accepted", all->accepted);
    put_uint(json, "evicted", all->evicted);
    put_uint(json, "expired", all->expired);
    put_uint(json, "refused", all->refused);
    sonde__json_end_object(json);
}

enum MHD_Result sonde__api_health(sonde__request *request)
{
    const sonde__server *server = request->server;
    sonde__health facts = {
        .now_ns = sonde__clock_monotonic_ns(),
        .interval_ns = server->options->interval_ns,
        .started_ns = server->started_ns,
        .tick_ns = server->last_tick_ns,
        .host = server->host != NULL,
        .host_ns = server->host ? sonde__host_finished_ns(server->host) : 0,
    };
    const char *reason = sonde__health_problem(&facts);
    sonde__buf body;
    sonde__json json;
    sonde__buf_init(&body, SONDE__SERVE_BODY_MAX);
    sonde__json_init(&json, &body);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "status");
    sonde__json_string(&json, reason ? "failing" : "ok");
    if (reason) {
        sonde__json_key(&json, "reason");
        sonde__json_string(&json, reason);
    }
    put_uint(&json, "ticks", server->ticks);
    put_uint(&json, "host_readings", server->host ? sonde__host_readings(server->host) : 0);
    put_uint(&json, "processes", server->processes.count);
    put_uint(&json, "segments_refused", server->processes.refused);
    put_connections(&json, &server->connections);
    sonde__json_end_object(&json);
    sonde__buf_char(&body, '\n');
    return sonde__reply(request, reason ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK, json_type,
                        &body);
}

enum MHD_Result sonde__api_openapi(sonde__request *request)
{
    size_t len;
    const char *text = sonde__embedded_openapi(&len);
    return sonde__reply_text(request, MHD_HTTP_OK, json_type, text, len);
}

enum MHD_Result sonde__api_index(sonde__request *request)
{
    sonde__buf body;
    sonde__buf_init(&body, SONDE__SERVE_BODY_MAX);
    for (const sonde__route *route = sonde__routes; route->path; route++) {
        sonde__buf_text(&body, route->path);
        sonde__buf_char(&body, '\n');
    }
    return sonde__reply(request, MHD_HTTP_OK, "text/plain; charset=utf-8", &body);
}
