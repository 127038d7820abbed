/* SPDX-License-Identifier: Apache-2.0 */
/* /metrics: the machine and every running instrumented process, each with its own labels, in the
   format that is asked for. An answer is used again for a tenth of a second, packed or not: many
   scrapers cost what one does. */
#include "base/clock.h"
#include "serve/exemplars.h"
#include "serve/server.h"
#include "sonde/encode.h"

#include <stdlib.h>
#include <string.h>

enum { FORMATS = 3, LABELS = 3, RESOURCE = 4, PAGE_MAX = 256 << 20 };
static const uint64_t host_wait_ns = 20000000;
static const uint64_t exemplars_wait_ns = 120000000000u; /* nobody asks any more */

typedef struct page_source {
    sonde_label labels[LABELS];
    sonde_label resource[RESOURCE];
} page_source;

typedef struct cached {
    struct MHD_Response *response;
    uint64_t made_ns;
} cached;

struct sonde__metrics_page {
    sonde_view *view;
    sonde_metric_set *host;
    page_source sources[SONDE__SERVE_PROCESSES_MAX];
    uint64_t filled_ns;          /* the view */
    sonde__exemplars *exemplars; /* NULL: nobody has asked for a format that shows them */
    uint64_t exemplars_asked_ns;
    cached answers[FORMATS][2];
};

static const sonde_format formats[FORMATS] = {SONDE_FORMAT_PROMETHEUS, SONDE_FORMAT_OPENMETRICS,
                                              SONDE_FORMAT_PROMETHEUS_PROTOBUF};

/* The format that Accept asks for; text where it does not say. */
static unsigned negotiate(const sonde__request *request)
{
    size_t len;
    const char *accept = sonde__request_header(request, MHD_HTTP_HEADER_ACCEPT, &len);
    if (!accept)
        return 0;
    int quality[FORMATS] = {
        sonde__accept_quality(accept, len, "text/plain", "version=0.0.4", false),
        sonde__accept_quality(accept, len, "application/openmetrics-text", "version=1.0.0", true),
        sonde__accept_quality(accept, len, "application/vnd.google.protobuf",
                              "proto=io.prometheus.client.MetricFamily", true),
    };
    unsigned best = 0;
    for (unsigned i = 1; i < FORMATS; i++)
        if (quality[i] > 0 && quality[i] >= quality[best])
            best = i;
    return best;
}

static sonde__metrics_page *page_of(sonde__server *server)
{
    if (server->metrics)
        return server->metrics;
    sonde__metrics_page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->view = sonde_view_create();
    page->host = sonde_metric_set_create();
    if (!page->view || !page->host) {
        sonde__metrics_page_free(page);
        return NULL;
    }
    server->metrics = page;
    return page;
}

static void add_host(sonde__server *server, sonde__metrics_page *page)
{
    const sonde_telemetry *now = server->host ? sonde__host_lock(server->host, host_wait_ns) : NULL;
    if (!now)
        return;
    sonde_status status = sonde_metric_set_telemetry(page->host, now);
    sonde__host_unlock(server->host);
    sonde_view_source source = {.size = sizeof source, .metrics = page->host};
    if (status == SONDE_OK)
        sonde_view_add(page->view, &source);
}

static void add_process(sonde__metrics_page *page, const sonde__process *one, page_source *place)
{
    *place = (page_source){
        {{"session", one->session}, {"program", one->program}, {"pid", one->pid_text}},
        {{"service.name", one->workflow[0] ? one->workflow : one->program},
         {"process.pid", one->pid_text},
         {"process.executable.name", one->program},
         {"host.name", one->host}}};
    sonde_view_source source = {.size = sizeof source,
                                .metrics = one->set,
                                .labels = place->labels,
                                .label_count = LABELS,
                                .resource = place->resource,
                                .resource_count = RESOURCE,
                                .run = one->run,
                                .start_wall_ns = one->started_wall_ns};
    sonde_view_add(page->view, &source);
}

static void fill(sonde__server *server, sonde__metrics_page *page)
{
    sonde_snapshot snapshot;
    sonde__processes_look(&server->processes);
    sonde_view_begin(page->view, 0);
    add_host(server, page);
    for (size_t i = 0; i < server->processes.count; i++)
        if (server->processes.list[i]->readable == SONDE_OK)
            add_process(page, server->processes.list[i], &page->sources[i]);
    sonde__server_snapshot(server, NULL, &snapshot);
    sonde_view_snapshot(page->view, &snapshot);
}

static bool is_fresh(uint64_t made_ns, uint64_t now_ns)
{
    return made_ns != 0 && now_ns - made_ns < SONDE__SERVE_CACHE_MS * (uint64_t)1000000;
}

static struct MHD_Response *make_response(const sonde__request *request, sonde__metrics_page *page,
                                          unsigned format, bool gzip)
{
    const char *data;
    size_t len;
    sonde_encode_options options = SONDE_ENCODE_OPTIONS_DEFAULT;
    if (request->server->options->pyveda)
        options.profile = SONDE_PROFILE_PYVEDA;
    if (sonde_encode(page->view, formats[format], &options, &data, &len) != SONDE_OK)
        return NULL;
    sonde__buf body;
    sonde__buf_init(&body, PAGE_MAX);
    gzip = gzip && sonde__gzip(data, len, &body);
    if (!gzip) {
        sonde__buf_clear(&body);
        sonde__buf_append(&body, data, len);
    }
    struct MHD_Response *response =
        body.status == SONDE_OK
            ? MHD_create_response_from_buffer(body.len, body.data, MHD_RESPMEM_MUST_FREE)
            : NULL;
    if (!response) {
        sonde__buf_free(&body);
        return NULL;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            sonde_format_describe(formats[format])->content_type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
    if (gzip)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    sonde__reply_headers(request, response);
    return response;
}

enum MHD_Result sonde__api_metrics(sonde__request *request)
{
    sonde__metrics_page *page = page_of(request->server);
    if (!page)
        return MHD_NO;
    unsigned format = negotiate(request);
    if (formats[format] != SONDE_FORMAT_PROMETHEUS)
        page->exemplars_asked_ns = sonde__clock_monotonic_ns();
    bool gzip = sonde__reply_wants_gzip(request);
    cached *answer = &page->answers[format][gzip];
    uint64_t now_ns = sonde__clock_monotonic_ns();
    if (!is_fresh(answer->made_ns, now_ns)) {
        if (!is_fresh(page->filled_ns, now_ns)) {
            fill(request->server, page);
            page->filled_ns = now_ns;
        }
        if (answer->response)
            MHD_destroy_response(answer->response);
        answer->response = make_response(request, page, format, gzip);
        answer->made_ns = answer->response ? page->filled_ns : 0;
    }
    if (!answer->response)
        return sonde__reply_error(request, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                  "the metrics do not fit into memory");
    return MHD_queue_response(request->connection, MHD_HTTP_OK, answer->response);
}

void sonde__metrics_tick(sonde__server *server)
{
    sonde__metrics_page *page = server->metrics;
    if (!page || page->exemplars_asked_ns == 0)
        return;
    if (sonde__clock_monotonic_ns() - page->exemplars_asked_ns > exemplars_wait_ns) {
        sonde__exemplars_destroy(page->exemplars);
        page->exemplars = NULL;
        page->exemplars_asked_ns = 0;
        return;
    }
    if (!page->exemplars)
        page->exemplars = sonde__exemplars_create(server->wake_fd);
    if (!page->exemplars)
        return;
    sonde__exemplars_collect(page->exemplars, page->view);
    sonde__exemplars_read(page->exemplars, &server->processes);
}

void sonde__metrics_page_free(sonde__metrics_page *page)
{
    if (!page)
        return;
    for (unsigned i = 0; i < FORMATS; i++)
        for (unsigned k = 0; k < 2; k++)
            if (page->answers[i][k].response)
                MHD_destroy_response(page->answers[i][k].response);
    sonde__exemplars_destroy(page->exemplars);
    sonde_view_destroy(page->view);
    sonde_metric_set_destroy(page->host);
    free(page);
}
