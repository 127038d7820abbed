/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events: one snapshot each interval. A client that reads slowly misses snapshots
   instead of making us keep them; one that does not read at all is dropped with its deadline. */
#include "base/clock.h"
#include "serve/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sonde__stream {
    struct sonde__stream *next;
    sonde__server *server;
    struct MHD_Connection *connection;
    sonde__connection *place;
    bool suspended; /* has everything, waits for us */
    bool closing;
    char text[SONDE_SNAPSHOT_JSON_BYTES + 96];
    size_t len, sent;
};

static ssize_t next_bytes(void *user, uint64_t position, char *out, size_t most)
{
    (void)position;
    sonde__stream_client *client = user;
    if (client->place)
        sonde__connections_phase(&client->server->connections, client->place, SONDE__PHASE_STREAM,
                                 sonde__clock_monotonic_ns());
    size_t left = client->len - client->sent;
    if (left > 0) {
        size_t count = left < most ? left : most;
        memcpy(out, client->text + client->sent, count);
        client->sent += count;
        return (ssize_t)count;
    }
    if (client->closing)
        return MHD_CONTENT_READER_END_OF_STREAM;
    client->suspended = true;
    MHD_suspend_connection(client->connection);
    return 0;
}

static void forget(void *user)
{
    sonde__stream_client *client = user;
    sonde__stream_client **at = &client->server->streams;
    while (*at && *at != client)
        at = &(*at)->next;
    if (*at)
        *at = client->next;
    free(client);
}

/* The newest snapshot as an event; nothing while the last one is not sent. */
static void put_event(sonde__stream_client *client)
{
    const sonde__server *server = client->server;
    if (client->sent < client->len || server->history_count == 0)
        return;
    char json[SONDE_SNAPSHOT_JSON_BYTES];
    uint64_t last = server->history_count - 1;
    if (sonde_snapshot_json(&server->history[last % SONDE__SERVE_HISTORY], json, sizeof json) !=
        SONDE_OK)
        return;
    int len = snprintf(client->text, sizeof client->text, "event: snapshot\nid: %llu\ndata: %s\n\n",
                       (unsigned long long)last, json);
    client->len = len > 0 && (size_t)len < sizeof client->text ? (size_t)len : 0;
    client->sent = 0;
}

void sonde__streams_tick(sonde__server *server, bool closing)
{
    for (sonde__stream_client *client = server->streams; client; client = client->next) {
        client->closing |= closing;
        put_event(client);
        if (!client->suspended)
            continue;
        client->suspended = false;
        if (client->place) /* it waited for us, not we for it */
            sonde__connections_phase(&server->connections, client->place, SONDE__PHASE_STREAM,
                                     sonde__clock_monotonic_ns());
        MHD_resume_connection(client->connection);
    }
}

enum MHD_Result sonde__api_stream(sonde__request *request)
{
    sonde__server *server = request->server;
    size_t streams = 0;
    for (const sonde__stream_client *client = server->streams; client; client = client->next)
        streams++;
    if (streams >= SONDE__SERVE_STREAMS)
        return sonde__reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                                  "%d streams are open, which is the most",
                                  (int)SONDE__SERVE_STREAMS);
    sonde__stream_client *client = calloc(1, sizeof *client);
    if (!client)
        return MHD_NO;
    *client = (sonde__stream_client){.next = server->streams,
                                     .server = server,
                                     .connection = request->connection,
                                     .place = request->place};
    server->streams = client;
    client->len = (size_t)snprintf(client->text, sizeof client->text, "retry: 2000\n\n");
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, sizeof client->text, next_bytes, client, forget);
    if (!response) {
        forget(client);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
    sonde__reply_headers(request, response);
    enum MHD_Result queued = MHD_queue_response(request->connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return queued;
}
