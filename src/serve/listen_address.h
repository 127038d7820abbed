/* SPDX-License-Identifier: Apache-2.0 */
/* Where the server listens: 127.0.0.1:9464, [::1]:9464, localhost:9464, :9464, unix:/path. */
#ifndef SONDE_SERVE_LISTEN_ADDRESS_H
#define SONDE_SERVE_LISTEN_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef struct sonde__listen_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
        struct sockaddr_storage storage;
    } at;
    socklen_t len;
} sonde__listen_address;

/* One address. Names other than localhost are not looked up. ":PORT" is every address of the
   machine. False: error (of error_size bytes) says what was expected. */
bool sonde__listen_parse(const char *text, sonde__listen_address *out, char *error,
                         size_t error_size);

/* Only this machine's own programs can reach it: 127.0.0.0/8, ::1 (also mapped), a UNIX socket. */
bool sonde__address_is_local(const struct sockaddr *address);

/* Two peers at the same address, whatever their ports. */
bool sonde__address_same(const struct sockaddr *a, const struct sockaddr *b);

/* As it would be typed; at least 128 bytes. */
void sonde__listen_text(const struct sockaddr *address, char *out, size_t size);

#endif
