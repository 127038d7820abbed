/* SPDX-License-Identifier: Apache-2.0 */
/* libmicrohttpd in its external mode: it has one epoll descriptor for all its connections, our loop
   waits on that and calls MHD_run. It gets sockets we have accepted, so that who is let in, and who
   has to go, is decided by us: its own timeout counts from the last byte, which a slow client
   sends for ever. TLS needs a daemon of its own. */
#include "serve/server.h"

#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKSTOP_S = 120, POOL_STEP = 2048, PEM_MAX = 1 << 20 };

static char *read_pem(const char *path, const char *what)
{
    sonde__buf text;
    sonde__buf_init(&text, PEM_MAX);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char piece[4096];
    ssize_t got = -1;
    while (fd >= 0 && (got = read(fd, piece, sizeof piece)) > 0)
        sonde__buf_append(&text, piece, (size_t)got);
    if (fd >= 0)
        close(fd);
    sonde__buf_char(&text, '\0');
    if (got == 0 && text.status == SONDE_OK)
        return text.data;
    fprintf(stderr, "sonde serve: %s: the %s cannot be read\n", path, what);
    sonde__buf_free(&text);
    return NULL;
}

static bool read_pems(sonde__server *server)
{
    const sonde__web_config *config = &server->config;
    server->pem[0] = read_pem(config->cert_file, "certificate");
    server->pem[1] = server->pem[0] ? read_pem(config->key_file, "key") : NULL;
    if (config->client_ca_file && server->pem[1])
        server->pem[2] = read_pem(config->client_ca_file, "clients' certificates");
    return server->pem[1] && (!config->client_ca_file || server->pem[2]);
}

/* GnuTLS' words for the versions that are allowed. */
static void priorities(const sonde__web_config *config, char *out, size_t size)
{
    static const char *const names[] = {"1.0", "1.1", "1.2", "1.3"};
    int len = snprintf(out, size, "NORMAL:-VERS-ALL");
    for (int version = config->min_version; version <= config->max_version; version++)
        len += snprintf(out + len, size - (size_t)len, ":+VERS-TLS%s", names[version - 10]);
}

/* The library says "free" for a connection that is gone. */
static void notify(void *user, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode code)
{
    sonde__server *server = user;
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*context)
            sonde__connections_remove(&server->connections, *context);
        *context = NULL;
        return;
    }
    for (size_t i = 0; fd && i < sizeof server->connections.list / sizeof(sonde__connection); i++) {
        sonde__connection *one = &server->connections.list[i];
        if (one->phase == SONDE__PHASE_HEADER && one->fd == fd->connect_fd)
            *context = one;
    }
}

static struct MHD_Daemon *start_daemon(sonde__server *server, bool tls)
{
    char allowed[128];
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET;
    struct MHD_OptionItem more[5] = {{MHD_OPTION_END, 0, NULL}};
    if (tls) {
        size_t n = 0;
        priorities(&server->config, allowed, sizeof allowed);
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, server->pem[0]};
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, server->pem[1]};
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, allowed};
        if (server->pem[2])
            more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, server->pem[2]};
        more[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
        flags |= MHD_USE_TLS;
    }
    return MHD_start_daemon(
        flags, 0, NULL, NULL, sonde__request_handle, server, MHD_OPTION_CONNECTION_LIMIT,
        2u * SONDE__SERVE_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)BACKSTOP_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SONDE__SERVE_REQUEST_BYTES,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)POOL_STEP, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, sonde__request_begin, server, MHD_OPTION_NOTIFY_COMPLETED,
        sonde__request_end, server, MHD_OPTION_NOTIFY_CONNECTION, notify, server, MHD_OPTION_ARRAY,
        more, MHD_OPTION_END);
}

/* A pair that does not fit, or a file that is no certificate: said here, not at the first client.
 */
static bool check_pair(const sonde__server *server)
{
    gnutls_certificate_credentials_t made;
    gnutls_datum_t cert = {(unsigned char *)server->pem[0], (unsigned)strlen(server->pem[0])};
    gnutls_datum_t key = {(unsigned char *)server->pem[1], (unsigned)strlen(server->pem[1])};
    if (gnutls_certificate_allocate_credentials(&made) != 0)
        return false;
    int code = gnutls_certificate_set_x509_key_mem(made, &cert, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(made);
    if (code >= 0)
        return true;
    fprintf(stderr, "sonde serve: %s: cannot be used with its key: %s\n", server->config.cert_file,
            gnutls_strerror(code));
    return false;
}

bool sonde__daemons_start(sonde__server *server)
{
    bool wanted[2] = {false, false};
    for (size_t i = 0; i < server->listener_count; i++)
        wanted[server->listeners[i].tls] = true;
    if (wanted[1] && (!read_pems(server) || !check_pair(server)))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        if (!wanted[i])
            continue;
        server->daemon[i] = start_daemon(server, i == 1);
        const union MHD_DaemonInfo *info =
            server->daemon[i] ? MHD_get_daemon_info(server->daemon[i], MHD_DAEMON_INFO_EPOLL_FD)
                              : NULL;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
        if (!info || epoll_ctl(server->poll_fd, EPOLL_CTL_ADD, info->epoll_fd, &event) != 0) {
            fprintf(stderr, "sonde serve: the HTTP library does not start%s\n",
                    i == 1 ? " with this certificate and key" : "");
            return false;
        }
    }
    return true;
}

void sonde__daemons_stop(sonde__server *server)
{
    for (unsigned i = 0; i < 2; i++)
        if (server->daemon[i])
            MHD_stop_daemon(server->daemon[i]);
    for (unsigned i = 0; i < 3; i++) {
        if (server->pem[i])
            explicit_bzero(server->pem[i], strlen(server->pem[i]));
        free(server->pem[i]);
    }
}
