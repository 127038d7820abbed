/* SPDX-License-Identifier: Apache-2.0 */
/* Where we listen, and taking in who comes. What other machines can reach needs TLS and a password,
   or an explicit word that it shall be open. */
#include "base/clock.h"
#include "serve/server.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 512, ERROR_BYTES = 512 };

static bool complain(const char *where, const char *what)
{
    fprintf(stderr, "sonde serve: --listen: %s: %s\n", where, what);
    return false;
}

/* A socket file that nobody answers on was left by a server that died. */
static bool clear_stale(const struct sockaddr_un *address, const char *where)
{
    struct stat info;
    if (lstat(address->sun_path, &info) != 0)
        return true;
    if (!S_ISSOCK(info.st_mode))
        return complain(where, "there is a file of that name that is no socket");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool alive = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (fd >= 0)
        close(fd);
    if (alive)
        return complain(where, "another server listens there");
    unlink(address->sun_path);
    return true;
}

static int open_socket(const sonde__listen_address *address)
{
    int family = address->at.any.sa_family;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    if (family != AF_UNIX)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6 && !IN6_IS_ADDR_UNSPECIFIED(&address->at.v6.sin6_addr))
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    mode_t before = umask(077);
    bool good = bind(fd, &address->at.any, address->len) == 0 && listen(fd, BACKLOG) == 0;
    int error = errno;
    umask(before);
    if (good)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

static bool allowed(const sonde__server *server, const sonde__listen_address *address,
                    const char *where)
{
    const sonde__web_config *config = &server->config;
    bool guarded = config->cert_file &&
                   (config->user_count > 0 || config->client_auth != SONDE__CLIENT_AUTH_NONE);
    if (sonde__address_is_local(&address->at.any) || guarded || server->options->insecure)
        return true;
    return complain(where,
                    "other machines could read it; give --web-config with TLS and a password, "
                    "or --insecure-listen");
}

/* The address as it came to be: port 0 is whatever was free. */
static void announce(const sonde__listener *listener)
{
    sonde__listen_address bound = {.len = sizeof bound.at};
    char text[160];
    if (getsockname(listener->fd, &bound.at.any, &bound.len) != 0)
        return;
    sonde__listen_text(&bound.at.any, text, sizeof text);
    printf("listening on %s%s\n",
           listener->local ? ""
           : listener->tls ? "https://"
                           : "http://",
           text);
    fflush(stdout);
}

static bool add_listener(sonde__server *server, const char *where, bool optional)
{
    sonde__listen_address address;
    char error[ERROR_BYTES];
    if (!sonde__listen_parse(where, &address, error, sizeof error)) {
        fprintf(stderr, "sonde serve: --listen: %s\n", error);
        return false;
    }
    bool local = address.at.any.sa_family == AF_UNIX;
    if (server->listener_count >= SONDE__SERVE_LISTEN_MAX)
        return complain(where, "more than 8 addresses");
    if (!allowed(server, &address, where) || (local && !clear_stale(&address.at.local, where)))
        return false;
    int fd = open_socket(&address);
    if (fd < 0)
        return optional || complain(where, errno == EADDRINUSE ? "another program listens there"
                                                               : strerror(errno));
    sonde__listener *listener = &server->listeners[server->listener_count++];
    *listener = (sonde__listener){
        .fd = fd, .local = local, .tls = !local && server->config.cert_file != NULL};
    if (local)
        snprintf(listener->path, sizeof listener->path, "%s", address.at.local.sun_path);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = listener};
    if (epoll_ctl(server->poll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        return complain(where, strerror(errno));
    announce(listener);
    return true;
}

static bool listen_default(sonde__server *server)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char path[160];
    if (!add_listener(server, "127.0.0.1:9464", false) || !add_listener(server, "[::1]:9464", true))
        return false;
    if (!runtime || runtime[0] != '/' || strlen(runtime) > 90)
        return true;
    snprintf(path, sizeof path, "unix:%s/sonde.sock", runtime);
    return add_listener(server, path, true);
}

bool sonde__server_listen(sonde__server *server)
{
    if (!server->options->listen)
        return listen_default(server);
    char *list = strdup(server->options->listen);
    bool good = list != NULL;
    char *rest = list;
    for (char *one; good && (one = strsep(&rest, ",")) != NULL;)
        good = add_listener(server, one, false);
    free(list);
    return good;
}

void sonde__server_unlisten(sonde__server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        close(server->listeners[i].fd);
        if (server->listeners[i].path[0])
            unlink(server->listeners[i].path);
    }
    server->listener_count = 0;
}

static void take_in(sonde__server *server, const sonde__listener *listener, int fd,
                    const struct sockaddr_storage *peer, socklen_t len)
{
    int on = 1;
    sonde__connection *place = sonde__connections_add(
        &server->connections, fd, (const struct sockaddr *)peer, len, sonde__clock_monotonic_ns());
    if (!place) {
        close(fd);
        return;
    }
    if (!listener->local)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (MHD_add_connection(server->daemon[listener->tls], fd, (const struct sockaddr *)peer, len) !=
        MHD_YES)
        sonde__connections_remove(&server->connections, place);
}

void sonde__server_accept(sonde__server *server, const sonde__listener *listener)
{
    for (int i = 0; i < SONDE__SERVE_ACCEPTS; i++) {
        struct sockaddr_storage peer;
        memset(&peer, 0, sizeof peer);
        socklen_t len = sizeof peer;
        int fd =
            accept4(listener->fd, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (listener->local) { /* a peer without a name */
            peer.ss_family = AF_UNIX;
            len = sizeof(struct sockaddr_un);
        }
        take_in(server, listener, fd, &peer, len);
    }
}
