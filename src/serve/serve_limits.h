/* SPDX-License-Identifier: Apache-2.0 */
/* Every limit of the server, with what it costs. docs/serving.md lists those a user can meet. */
#ifndef SONDE_SERVE_LIMITS_H
#define SONDE_SERVE_LIMITS_H

enum {
    SONDE__SERVE_LISTEN_MAX = 8,        /* addresses listened on */
    SONDE__SERVE_CONNECTIONS = 256,     /* at once; REQUEST_BYTES each */
    SONDE__SERVE_PER_ADDRESS = 32,      /* of them from one address that is not loopback */
    SONDE__SERVE_ACCEPTS = 16,          /* taken in between two looks at those that are there */
    SONDE__SERVE_STREAMS = 32,          /* of them event streams */
    SONDE__SERVE_REQUEST_BYTES = 20480, /* request line and headers, with room for the answer's */
    SONDE__SERVE_TARGET_BYTES = 4096,   /* path and query */
    SONDE__SERVE_HEADER_MS = 5000,      /* from accepting to the end of the headers */
    SONDE__SERVE_IDLE_MS = 25000, /* from the end of a request to the headers of the next: more than
                                     the usual 15 s between scrapes, so that both do not meet */
    SONDE__SERVE_ANSWER_MS = 30000,    /* from the headers to the last byte of the answer */
    SONDE__SERVE_SENIOR_MS = 1000,     /* a header that takes longer is the first to be evicted */
    SONDE__SERVE_QUERY_MAX = 8,        /* parameters of a query */
    SONDE__SERVE_HOSTS_MAX = 16,       /* names of --allow-host */
    SONDE__SERVE_USERS_MAX = 64,       /* in basic_auth_users */
    SONDE__SERVE_NAME_BYTES = 256,     /* of a user or host name, with its NUL */
    SONDE__SERVE_PASSWORD_BYTES = 256, /* bcrypt itself looks at 72 */
    SONDE__SERVE_PASSWORDS_KNOWN = 64, /* digests of passwords that were right: 32 bytes each */
    SONDE__SERVE_JOBS_MAX = 64,        /* requests that wait for a worker */
    SONDE__SERVE_BODY_MAX = 16 << 20,  /* bytes of one answer */
    SONDE__SERVE_HISTORY = 300,        /* snapshots kept: 112 bytes each */
    SONDE__SERVE_PROCESSES_MAX = 256,  /* instrumented processes shown */
    SONDE__SERVE_DEAD_MAX = 4096,      /* segments of dead processes known as such: 8 bytes each */
    SONDE__SERVE_RECORDS_MAX = 100000, /* tasks or spans in one answer */
    SONDE__SERVE_RECORDS_DEFAULT = 1000, /* where the request does not say */
    SONDE__SERVE_SESSIONS_MAX = 10000,   /* recorded sessions listed */
    SONDE__SERVE_CACHE_MS = 100,         /* an answer of /metrics is used again for so long */
    SONDE__SERVE_GZIP_LEAST = 1024,      /* shorter answers are sent as they are */
};

#endif
