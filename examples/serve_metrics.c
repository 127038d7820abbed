/* SPDX-License-Identifier: Apache-2.0 */
/* PyVeda's "Serve via HTTP endpoint" block: a program's own HTTP handler answers /metrics with what
   sonde_encode makes, in the form that the scraper asks for. The HTTP here is as small as it can
   be, to be read; a program that has a server already needs metrics_body and format_for only.
   Build: cc serve_metrics.c $(pkg-config --cflags --libs sonde)
     usage: serve_metrics [PORT SECONDS]   without: one request to itself is served and printed */
#include <sonde/sonde.h>

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static sonde_view *view;
static sonde_metric_set *own, *host;
static sonde_capture *capture;

/* What the Accept header allows, best first. */
static sonde_format format_for(const char *request)
{
    if (strstr(request, "application/vnd.google.protobuf"))
        return SONDE_FORMAT_PROMETHEUS_PROTOBUF;
    if (strstr(request, "application/openmetrics-text"))
        return SONDE_FORMAT_OPENMETRICS;
    return SONDE_FORMAT_PROMETHEUS;
}

static sonde_status metrics_body(sonde_format format, const char **body, size_t *len)
{
    const sonde_telemetry *now;
    sonde_view_begin(view, 0);
    sonde_status status = sonde_metric_set_collect(own);
    if (status == SONDE_OK)
        status = sonde_view_add(
            view, &(sonde_view_source){.size = sizeof(sonde_view_source), .metrics = own});
    if (status == SONDE_OK && sonde_capture_read(capture, &now) == SONDE_OK &&
        sonde_metric_set_telemetry(host, now) == SONDE_OK)
        status = sonde_view_add(
            view, &(sonde_view_source){.size = sizeof(sonde_view_source), .metrics = host});
    return status == SONDE_OK ? sonde_encode(view, format, NULL, body, len) : status;
}

static void write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        data += sent;
        len -= (size_t)sent;
    }
}

static void answer(int fd)
{
    char request[4096];
    ssize_t got = recv(fd, request, sizeof request - 1, 0);
    request[got > 0 ? got : 0] = '\0';
    const char *body = "not found\n";
    size_t len = strlen(body);
    const char *type = "text/plain";
    int code = 404;
    if (strncmp(request, "GET /metrics ", 13) == 0) {
        sonde_format format = format_for(request);
        code = metrics_body(format, &body, &len) == SONDE_OK ? 200 : 500;
        type = sonde_format_describe(format)->content_type;
        len = code == 200 ? len : 0;
    }
    char head[512];
    int head_len = snprintf(head, sizeof head,
                            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                            "Connection: close\r\n\r\n",
                            code, code == 200 ? "OK" : "Error", type, len);
    write_all(fd, head, (size_t)head_len);
    write_all(fd, body, len);
}

static int listen_on(int port, struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)address, size) != 0 || listen(fd, 16) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &size) != 0) {
        perror("listen");
        exit(1);
    }
    return fd;
}

/* A task now and then, so that there is something to see. */
static void work(void)
{
    sonde_task task = sonde_task_begin(SONDE_NAME("step"));
    thrd_sleep(&(struct timespec){0, 2000000}, NULL);
    sonde_task_end(task);
    sonde_counter_inc(sonde_counter_get("steps_total", "Steps done", SONDE_LABELS("phase", "all")));
}

static void serve_one(int listener)
{
    int fd = accept(listener, NULL, NULL);
    if (fd < 0)
        return;
    answer(fd);
    close(fd);
}

static void ask_myself(int listener, const struct sockaddr_in *address)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char text[4096];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) != 0)
        exit(1);
    write_all(fd, request, sizeof request - 1);
    serve_one(listener);
    ssize_t got = recv(fd, text, sizeof text, 0);
    if (got > 0)
        fwrite(text, 1, (size_t)got, stdout);
    close(fd);
}

int main(int argc, char **argv)
{
    sonde_session *session;
    struct sockaddr_in address;
    own = sonde_metric_set_create();
    host = sonde_metric_set_create();
    view = sonde_view_create();
    if (!own || !host || !view || sonde_capture_open(NULL, &capture) != SONDE_OK ||
        sonde_open("serve", NULL, &session) != SONDE_OK)
        return 1;
    int listener = listen_on(argc > 1 ? atoi(argv[1]) : 0, &address);
    time_t end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 0);
    work();
    if (argc < 3)
        ask_myself(listener, &address);
    while (time(NULL) < end) {
        work();
        struct pollfd ready = {listener, POLLIN, 0};
        if (poll(&ready, 1, 0) > 0)
            serve_one(listener);
    }
    close(listener);
    sonde_close(session);
    sonde_view_destroy(view);
    sonde_metric_set_destroy(own);
    sonde_metric_set_destroy(host);
    sonde_capture_close(capture);
    return 0;
}
