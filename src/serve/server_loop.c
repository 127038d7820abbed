/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: one epoll descriptor for listening sockets, the HTTP library's own epoll, finished
   jobs, the interval and signals. Nothing in it waits for a client, a disk or a hash. */
#include "base/clock.h"
#include "serve/server.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { EVENTS = 16, EXIT_OK = 0, EXIT_FAILED = 1, EXIT_WRONG = 2, SPARE_FDS = 64 };
static const uint64_t host_wait_ns = 20000000;

static void hang_up(int fd)
{
    shutdown(fd, SHUT_RDWR);
}

void sonde__server_snapshot(sonde__server *server, const sonde__process *one, sonde_snapshot *out)
{
    sonde__processes_snapshot(&server->processes, one, sonde__clock_monotonic_ns(), out);
    const sonde_telemetry *now = server->host ? sonde__host_lock(server->host, host_wait_ns) : NULL;
    if (!now)
        return;
    double value;
    if (sonde_telemetry_double(now, SONDE_FIELD_CPU_PERCENT, &value) == SONDE_OK)
        out->cpu_utilization_percent = value;
    if (sonde_telemetry_double(now, SONDE_FIELD_MEMORY_USED, &value) == SONDE_OK)
        out->memory_used_mb = value / 1048576;
    sonde__host_unlock(server->host);
}

static void tick(sonde__server *server)
{
    uint64_t expirations;
    if (read(server->timer_fd, &expirations, sizeof expirations) < 0)
        return;
    sonde__processes_look(&server->processes);
    sonde_snapshot *place = &server->history[server->history_count % SONDE__SERVE_HISTORY];
    sonde__server_snapshot(server, NULL, place);
    server->history_count++;
    server->last_tick_ns = sonde__clock_monotonic_ns();
    sonde__processes_tick(&server->processes, server->last_tick_ns);
    server->ticks++;
    sonde__metrics_tick(server);
    sonde__streams_tick(server, false);
}

static void finish_jobs(sonde__server *server, sonde__worker *worker)
{
    for (sonde__job *job; worker && (job = sonde__worker_done(worker)) != NULL;) {
        sonde__request *request =
            (sonde__request *)(void *)((char *)job - offsetof(sonde__request, job));
        request->waiting = false;
        MHD_resume_connection(request->connection);
    }
    (void)server;
}

static void wake(sonde__server *server)
{
    uint64_t count;
    ssize_t got = read(server->wake_fd, &count, sizeof count);
    (void)got;
    finish_jobs(server, server->auth);
    finish_jobs(server, server->reader);
}

static int timeout_ms(const sonde__server *server, uint64_t expire_ns)
{
    uint64_t ms = expire_ns / 1000000 + 1;
    for (unsigned i = 0; i < 2; i++) {
        MHD_UNSIGNED_LONG_LONG library;
        if (server->daemon[i] && MHD_get_timeout(server->daemon[i], &library) == MHD_YES &&
            library < ms)
            ms = library;
    }
    return ms < 60000 ? (int)ms : 60000;
}

static void handle(sonde__server *server, const struct epoll_event *event)
{
    const void *what = event->data.ptr;
    if (what == &server->wake_fd)
        wake(server);
    else if (what == &server->timer_fd)
        tick(server);
    else if (what == &server->signal_fd)
        server->stopping = true;
    else if (what)
        sonde__server_accept(server, what);
}

static void loop(sonde__server *server)
{
    struct epoll_event events[EVENTS];
    while (!server->stopping) {
        uint64_t next =
            sonde__connections_expire(&server->connections, sonde__clock_monotonic_ns());
        int got = epoll_wait(server->poll_fd, events, EVENTS, timeout_ms(server, next));
        for (int i = 0; i < got; i++)
            handle(server, &events[i]);
        for (unsigned i = 0; i < 2; i++)
            if (server->daemon[i])
                MHD_run(server->daemon[i]);
    }
}

static bool watch(sonde__server *server, int *fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = fd};
    return *fd >= 0 && epoll_ctl(server->poll_fd, EPOLL_CTL_ADD, *fd, &event) == 0;
}

static bool open_descriptors(sonde__server *server)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, NULL); /* before there is any thread */
    signal(SIGPIPE, SIG_IGN);
    uint64_t ns = server->options->interval_ns;
    struct timespec each = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    struct itimerspec when = {each, each};
    server->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    server->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    server->signal_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    bool good = server->poll_fd >= 0 && watch(server, &server->wake_fd) &&
                watch(server, &server->timer_fd) && watch(server, &server->signal_fd) &&
                timerfd_settime(server->timer_fd, 0, &when, NULL) == 0;
    if (!good)
        fprintf(stderr, "sonde serve: %s\n", strerror(errno));
    return good;
}

/* Connections that the descriptors of this process allow. */
static size_t most_connections(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SONDE__SERVE_CONNECTIONS;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            getrlimit(RLIMIT_NOFILE, &limit);
    }
    /* those that are closing hold theirs a moment longer */
    size_t room =
        limit.rlim_cur > (rlim_t)2 * SPARE_FDS ? (size_t)(limit.rlim_cur - SPARE_FDS) / 2 : 32;
    return room < SONDE__SERVE_CONNECTIONS ? room : SONDE__SERVE_CONNECTIONS;
}

static bool start_host(sonde__server *server)
{
    if (!server->options->host)
        return true;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = server->options->types;
    sonde_status status = sonde__host_start(&options, server->options->interval_ns, &server->host);
    if (status != SONDE_OK)
        fprintf(stderr, "sonde serve: telemetry: %s\n", sonde_status_text(status));
    return status == SONDE_OK;
}

static bool start_parts(sonde__server *server)
{
    if (!sonde__daemons_start(server))
        return false;
    if (server->config.user_count > 0) {
        if (!sonde__passwords_init(&server->passwords, &server->config))
            return false;
        server->auth = sonde__worker_create(server->wake_fd);
    }
    server->reader = sonde__worker_create(server->wake_fd);
    if (!server->reader || (server->config.user_count > 0 && !server->auth)) {
        fprintf(stderr, "sonde serve: a thread cannot be made\n");
        return false;
    }
    return start_host(server);
}

static void stop_parts(sonde__server *server)
{
    sonde__server_unlisten(server);
    sonde__worker *const workers[] = {server->auth, server->reader};
    for (unsigned i = 0; i < 2; i++) {
        if (!workers[i])
            continue;
        sonde__worker_stop(workers[i]);
        finish_jobs(server, workers[i]);
    }
    sonde__streams_tick(server, true);
    sonde__daemons_stop(server);
    sonde__worker_destroy(server->auth);
    sonde__worker_destroy(server->reader);
    sonde__host_stop(server->host);
    sonde__processes_free(&server->processes);
    sonde__metrics_page_free(server->metrics);
    sonde__web_config_free(&server->config);
    const int fds[] = {server->poll_fd, server->wake_fd, server->timer_fd, server->signal_fd};
    for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

int sonde__serve(const sonde__serve_options *options)
{
    sonde__server *server = calloc(1, sizeof *server);
    if (!server)
        return EXIT_FAILED;
    server->options = options;
    server->poll_fd = server->wake_fd = server->timer_fd = server->signal_fd = -1;
    int code = EXIT_FAILED;
    sonde_settings_error error = {""};
    if (options->web_config &&
        sonde__web_config_load(options->web_config, &server->config, &error) != SONDE_OK) {
        fprintf(stderr, "sonde serve: %s\n", error.text);
        free(server);
        return EXIT_WRONG;
    }
    sonde__connections_init(&server->connections, most_connections(), hang_up);
    if (open_descriptors(server) && sonde__server_listen(server) && start_parts(server)) {
        server->started_ns = server->last_tick_ns = sonde__clock_monotonic_ns();
        loop(server);
        code = EXIT_OK;
    }
    stop_parts(server);
    free(server);
    return code;
}
