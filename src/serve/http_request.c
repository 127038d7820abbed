/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a request before its route sees it: target, Host, body, method, password. The
   library calls the handler several times; a worker's job suspends the connection in between. */
#include "base/clock.h"
#include "serve/server.h"

#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static sonde__connection *place_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void *sonde__request_begin(void *server, const char *target, struct MHD_Connection *connection)
{
    sonde__request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;
    request->server = server;
    request->connection = connection;
    request->place = place_of(connection);
    request->target_good = sonde__target_parse(target, strlen(target), &request->target);
    sonde__buf_init(&request->body, SONDE__SERVE_BODY_MAX);
    return request;
}

void sonde__request_end(void *server, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode code)
{
    (void)connection;
    (void)code;
    sonde__server *s = server;
    sonde__request *request = *state;
    if (!request)
        return;
    if (request->place)
        sonde__connections_phase(&s->connections, request->place, SONDE__PHASE_IDLE,
                                 sonde__clock_monotonic_ns());
    explicit_bzero(&request->credentials, sizeof request->credentials);
    sonde__buf_free(&request->body);
    free(request);
    *state = NULL;
}

typedef struct headers_seen {
    unsigned hosts;
    unsigned lengths;
    unsigned encodings;
    bool body;
    const char *host;
    size_t host_len;
} headers_seen;

static enum MHD_Result see_header(void *user, enum MHD_ValueKind kind, const char *key,
                                  size_t key_len, const char *value, size_t value_len)
{
    (void)kind;
    (void)key_len;
    headers_seen *seen = user;
    if (strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0) {
        seen->hosts++;
        seen->host = value;
        seen->host_len = value_len;
    } else if (strcasecmp(key, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        seen->lengths++;
        seen->body |= value && strcmp(value, "0") != 0;
    } else if (strcasecmp(key, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        seen->encodings++;
        seen->body = true;
    }
    return MHD_YES;
}

static bool is_local(const sonde__request *request)
{
    return request->place && request->place->peer.ss_family == AF_UNIX;
}

/* Where clients have to have a certificate: it is there, and by the CA that was named. */
static bool certificate_good(const sonde__request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    unsigned problems = 0;
    if (request->server->config.client_auth == SONDE__CLIENT_AUTH_NONE || !info ||
        !info->tls_session)
        return true;
    return gnutls_certificate_verify_peers2(info->tls_session, &problems) == 0 && problems == 0;
}

/* True: the request may go on. Otherwise *result is that of the answer. */
static bool judge_headers(sonde__request *request, const char *method, enum MHD_Result *result)
{
    const sonde__serve_options *options = request->server->options;
    headers_seen seen = {0};
    MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, see_header, &seen);
    if (!request->target_good)
        *result = sonde__reply_error(request, MHD_HTTP_BAD_REQUEST,
                                     "the path or the query is not valid, or too long");
    else if (seen.hosts > 1 || seen.lengths > 1 || seen.encodings > 1 ||
             (seen.lengths && seen.encodings))
        *result = sonde__reply_error(request, MHD_HTTP_BAD_REQUEST,
                                     "a header that may stand once is there twice, or "
                                     "Content-Length beside Transfer-Encoding");
    else if (!is_local(request) &&
             (seen.hosts == 0 || !seen.host ||
              !sonde__host_allowed(seen.host, seen.host_len, options->hosts, options->host_count)))
        *result = sonde__reply_error(request, MHD_HTTP_MISDIRECTED_REQUEST,
                                     "this Host is not served; allow it with --allow-host");
    else if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        *result = sonde__reply_error(request, MHD_HTTP_METHOD_NOT_ALLOWED,
                                     "only GET and HEAD are answered");
    else if (!certificate_good(request))
        *result =
            sonde__reply_error(request, MHD_HTTP_FORBIDDEN, "a client certificate is asked for");
    else if (seen.body)
        *result = sonde__reply_error(request, MHD_HTTP_CONTENT_TOO_LARGE, "no body is expected");
    else
        return true;
    return false;
}

static sonde__request *request_of(sonde__job *job)
{
    return (sonde__request *)(void *)((char *)job - offsetof(sonde__request, job));
}

static void run_password(sonde__job *job)
{
    sonde__request *request = request_of(job);
    request->right = sonde__passwords_verify(&request->server->passwords, &request->credentials);
}

static void run_read(sonde__job *job)
{
    sonde__request *request = request_of(job);
    request->read(request);
}

static enum MHD_Result suspend(sonde__request *request, sonde__worker *worker,
                               void (*run)(sonde__job *job))
{
    request->job.run = run;
    request->waiting = true;
    MHD_suspend_connection(request->connection);
    if (sonde__worker_submit(worker, &request->job))
        return MHD_YES;
    request->waiting = false;
    MHD_resume_connection(request->connection);
    return sonde__reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "too much to do; try later");
}

enum MHD_Result sonde__request_read(sonde__request *request, void (*read)(sonde__request *request))
{
    request->read = read;
    request->read_done = true;
    return suspend(request, request->server->reader, run_read);
}

/* True: admitted. Otherwise *result is that of the answer, or of having to wait. */
static bool judge_password(sonde__request *request, enum MHD_Result *result)
{
    sonde__server *server = request->server;
    if (server->config.user_count == 0 || is_local(request))
        return true;
    if (request->job.run) { /* it was checked */
        if (request->right)
            sonde__passwords_remember(&server->passwords, &request->credentials);
        else
            *result = sonde__reply_error(request, MHD_HTTP_UNAUTHORIZED, "wrong user or password");
        return request->right;
    }
    size_t len;
    const char *header = sonde__request_header(request, MHD_HTTP_HEADER_AUTHORIZATION, &len);
    if (!header || !sonde__basic_auth_parse(header, len, &request->credentials)) {
        *result = sonde__reply_error(request, MHD_HTTP_UNAUTHORIZED, "a password is asked for");
        return false;
    }
    if (sonde__passwords_known(&server->passwords, &request->credentials))
        return true;
    *result = suspend(request, server->auth, run_password);
    return false;
}

static enum MHD_Result answer(sonde__request *request)
{
    for (const sonde__route *route = sonde__routes; route->path; route++)
        if (strcmp(route->path, request->target.path) == 0)
            return route->answer(request);
    return sonde__reply_error(request, MHD_HTTP_NOT_FOUND, "there is no such page; see /");
}

enum MHD_Result sonde__request_handle(void *server, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *upload, size_t *upload_size, void **state)
{
    (void)url;
    (void)connection;
    (void)version;
    (void)upload;
    sonde__server *s = server;
    sonde__request *request = *state;
    enum MHD_Result result = MHD_NO;
    if (!request)
        return MHD_NO;
    if (*upload_size > 0) { /* what was refused at its headers may still send some of it */
        *upload_size = 0;
        return MHD_YES;
    }
    if (!request->checked) {
        request->checked = true;
        if (request->place)
            sonde__connections_phase(&s->connections, request->place, SONDE__PHASE_ANSWER,
                                     sonde__clock_monotonic_ns());
        if (!judge_headers(request, method, &result))
            return result;
    }
    if (!request->admitted) {
        if (!judge_password(request, &result))
            return result;
        request->admitted = true;
    }
    return answer(request);
}
