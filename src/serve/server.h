/* SPDX-License-Identifier: Apache-2.0 */
/* The server: what its parts share. One thread runs the loop and touches all of this; workers get
   jobs, which own what they need. */
#ifndef SONDE_SERVE_SERVER_H
#define SONDE_SERVE_SERVER_H

#include "base/buf.h"
#include "serve/connections.h"
#include "serve/host_collector.h"
#include "serve/http_fields.h"
#include "serve/password_check.h"
#include "serve/processes.h"
#include "serve/web_config.h"
#include "serve/worker.h"
#include "sonde/capture.h"
#include "sonde/snapshot.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sonde__serve_options {
    const char *listen; /* comma-separated; NULL: the default places */
    const char *dir;    /* of recorded sessions */
    const char *web_config;
    bool insecure;                             /* listen anywhere without TLS and a password */
    uint64_t interval_ns;                      /* of host telemetry, snapshots and events */
    bool host;                                 /* telemetry of the machine */
    bool pyveda;                               /* names of PyVeda's guide in /metrics */
    unsigned types;                            /* SONDE_CAPTURE_* of the machine */
    const char *hosts[SONDE__SERVE_HOSTS_MAX]; /* allowed names in Host */
    size_t host_count;
} sonde__serve_options;

typedef struct sonde__listener {
    int fd;
    bool local; /* a UNIX socket */
    bool tls;
    char path[128]; /* of a UNIX socket, removed at the end */
} sonde__listener;

typedef struct sonde__stream sonde__stream_client;
typedef struct sonde__metrics_page sonde__metrics_page;

typedef struct sonde__server {
    const sonde__serve_options *options;
    sonde__web_config config;
    sonde__passwords passwords;
    sonde__listener listeners[SONDE__SERVE_LISTEN_MAX];
    size_t listener_count;
    struct MHD_Daemon *daemon[2]; /* plain, TLS; NULL: not used */
    char *pem[3];                 /* certificate, key, clients' CA: the library borrows them */
    sonde__connections connections;
    sonde__worker *auth;   /* NULL: no passwords */
    sonde__worker *reader; /* reads sessions */
    int poll_fd, wake_fd, timer_fd, signal_fd;
    bool stopping;

    sonde__host *host; /* NULL: not wanted */
    sonde__processes processes;
    sonde__metrics_page *metrics;
    sonde_snapshot history[SONDE__SERVE_HISTORY];
    uint64_t history_count; /* ever taken; the last ones are there */
    uint64_t ticks;
    uint64_t last_tick_ns;
    uint64_t started_ns;
    sonde__stream_client *streams;
} sonde__server;

/* A request, from its first line to its end. */
typedef struct sonde__request {
    sonde__server *server;
    struct MHD_Connection *connection;
    sonde__connection *place;
    sonde__target target;
    bool target_good;
    bool checked;  /* headers were judged */
    bool admitted; /* and the password */
    bool waiting;  /* suspended: a worker has its job */
    sonde__job job;
    /* of the job */
    sonde__credentials credentials;
    bool right;                                   /* the password */
    void (*read)(struct sonde__request *request); /* a route's work in the reader's thread */
    bool read_done;
    unsigned status;
    const char *type;
    sonde__buf body;
} sonde__request;

/* --- server_loop.c --- */

/* Runs until SIGINT or SIGTERM. Returns the exit code; messages go to stderr. */
int sonde__serve(const sonde__serve_options *options);

/* --- listening.c --- */
bool sonde__server_listen(sonde__server *server);
void sonde__server_unlisten(sonde__server *server);
void sonde__server_accept(sonde__server *server, const sonde__listener *listener);

/* --- http_daemon.c --- */
bool sonde__daemons_start(sonde__server *server);
void sonde__daemons_stop(sonde__server *server);

/* --- http_request.c: callbacks of the HTTP library --- */
void *sonde__request_begin(void *server, const char *target, struct MHD_Connection *connection);
enum MHD_Result sonde__request_handle(void *server, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *upload, size_t *upload_size, void **state);
void sonde__request_end(void *server, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode code);

/* Gives work of a route to the reader's worker; the route is called again with read_done. */
enum MHD_Result sonde__request_read(sonde__request *request, void (*read)(sonde__request *request));

/* --- reply.c --- */

/* Answers with body, which is the library's from here on; gzip where it is accepted and pays. */
enum MHD_Result sonde__reply(const sonde__request *request, unsigned status, const char *type,
                             sonde__buf *body);
enum MHD_Result sonde__reply_text(const sonde__request *request, unsigned status, const char *type,
                                  const char *text, size_t len);
/* {"error": text} */
enum MHD_Result sonde__reply_error(const sonde__request *request, unsigned status,
                                   const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The headers that every answer has. */
void sonde__reply_headers(const sonde__request *request, struct MHD_Response *response);
bool sonde__reply_wants_gzip(const sonde__request *request);
/* gzip of data into out. False: no memory, or it does not get smaller. */
bool sonde__gzip(const char *data, size_t len, sonde__buf *out);
const char *sonde__request_header(const sonde__request *request, const char *name, size_t *len);

/* --- routes --- */
typedef struct sonde__route {
    const char *path;
    enum MHD_Result (*answer)(sonde__request *request);
} sonde__route;
extern const sonde__route sonde__routes[]; /* ended by a row without path */

enum MHD_Result sonde__api_metrics(sonde__request *request);
enum MHD_Result sonde__api_snapshot(sonde__request *request);
enum MHD_Result sonde__api_snapshots(sonde__request *request);
enum MHD_Result sonde__api_tasks(sonde__request *request);
enum MHD_Result sonde__api_spans(sonde__request *request);
enum MHD_Result sonde__api_sessions(sonde__request *request);
enum MHD_Result sonde__api_stream(sonde__request *request);
enum MHD_Result sonde__api_health(sonde__request *request);
enum MHD_Result sonde__api_openapi(sonde__request *request);
enum MHD_Result sonde__api_index(sonde__request *request); /* / lists the paths */

/* The snapshot of all processes, or of one, with the machine's values. */
void sonde__server_snapshot(sonde__server *server, const sonde__process *one, sonde_snapshot *out);

/* Each interval: reads examples for the formats that show them. */
void sonde__metrics_tick(sonde__server *server);

/* Sends the newest snapshot to the streams; with closing, ends them. */
void sonde__streams_tick(sonde__server *server, bool closing);

void sonde__metrics_page_free(sonde__metrics_page *page);

#endif
