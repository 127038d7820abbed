/* SPDX-License-Identifier: Apache-2.0 */
/* Who is connected, what each is doing since when, and who has to go. Knows neither sockets nor the
   HTTP library: closing is a callback, and time is told. For one thread. */
#ifndef SONDE_SERVE_CONNECTIONS_H
#define SONDE_SERVE_CONNECTIONS_H

#include "serve/listen_address.h"
#include "serve/serve_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sonde__phase {
    SONDE__PHASE_FREE,
    SONDE__PHASE_HEADER, /* connected, no complete request yet */
    SONDE__PHASE_ANSWER, /* being answered */
    SONDE__PHASE_IDLE,   /* answered, may ask again */
    SONDE__PHASE_STREAM, /* gets events; every one of them is progress */
    SONDE__PHASE_CLOSING /* told to go; its place is free for others */
} sonde__phase;

typedef struct sonde__connection {
    sonde__phase phase;
    int fd;
    uint64_t since_ns; /* when the phase began */
    struct sockaddr_storage peer;
} sonde__connection;

typedef struct sonde__connections {
    /* beyond the limit there is room for those that are still closing */
    sonde__connection list[2 * SONDE__SERVE_CONNECTIONS];
    size_t top;  /* places below this may be taken */
    size_t most; /* at most SONDE__SERVE_CONNECTIONS */
    size_t used; /* not FREE and not CLOSING */
    void (*close)(int fd);
    uint64_t accepted, evicted, expired, refused;
} sonde__connections;

void sonde__connections_init(sonde__connections *all, size_t most, void (*close)(int fd));

/* A place for a new connection; when all are taken, the one that has kept the server waiting
   longest has to go: first those whose header takes longer than a second, then whoever is in its
   phase for the longest. NULL (refused, and counted): too many from its address (loopback and UNIX
   sockets excepted), or nobody can go. */
sonde__connection *sonde__connections_add(sonde__connections *all, int fd,
                                          const struct sockaddr *peer, socklen_t len,
                                          uint64_t now_ns);

/* Moves on to another phase, unless it is closing. */
void sonde__connections_phase(sonde__connections *all, sonde__connection *one, sonde__phase phase,
                              uint64_t now_ns);

/* Tells it to go. Its place stays taken until _remove. */
void sonde__connections_drop(sonde__connections *all, sonde__connection *one);

void sonde__connections_remove(sonde__connections *all, sonde__connection *one);

/* Drops those whose phase lasts too long. Returns the nanoseconds until the next one is due. */
uint64_t sonde__connections_expire(sonde__connections *all, uint64_t now_ns);

size_t sonde__connections_count(const sonde__connections *all, sonde__phase phase);

#endif
