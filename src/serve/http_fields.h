/* SPDX-License-Identifier: Apache-2.0 */
/* Pure parsers of what a client sends: Host, Accept, Accept-Encoding, Authorization, the request
   target. Any bytes may come; nothing is allocated. */
#ifndef SONDE_SERVE_HTTP_FIELDS_H
#define SONDE_SERVE_HTTP_FIELDS_H

#include "serve/serve_limits.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a Host header may be answered: an IP address, localhost, *.localhost, or one of the
   allowed names, each with or without a port. A page of another site that has its name point here
   (DNS rebinding) comes with its own name. */
bool sonde__host_allowed(const char *host, size_t len, const char *const *allowed, size_t count);

/* What an Accept header asks for, and the quality (0 ... 1000) it gives to "type/subtype"; with a
   parameter ("version=1.0.0") only ranges that have it count, unless they have no such parameter
   name at all. -1: not acceptable. The most specific range decides; named: those with "*" do not
   count. */
int sonde__accept_quality(const char *accept, size_t len, const char *type, const char *parameter,
                          bool named);

/* Whether Accept-Encoding allows gzip. */
bool sonde__accepts_gzip(const char *header, size_t len);

typedef struct sonde__credentials {
    char user[SONDE__SERVE_NAME_BYTES];
    char password[SONDE__SERVE_PASSWORD_BYTES];
} sonde__credentials;

/* "Basic BASE64" of user:password. False: it is not of that form, or has a NUL or is too long. */
bool sonde__basic_auth_parse(const char *header, size_t len, sonde__credentials *out);

typedef struct sonde__query {
    const char *key;
    const char *value;
} sonde__query;

/* A request target: path and query, decoded into text. */
typedef struct sonde__target {
    char text[SONDE__SERVE_TARGET_BYTES];
    const char *path;
    sonde__query query[SONDE__SERVE_QUERY_MAX];
    size_t count;
} sonde__target;

/* The path is taken as it is: it is only ever compared. False: too long, too many parameters, an
   escape that is none, a control character or NUL, a parameter given twice. */
bool sonde__target_parse(const char *text, size_t len, sonde__target *out);

/* NULL: not given. */
const char *sonde__target_get(const sonde__target *target, const char *key);

/* A decimal number from 1 to most. */
bool sonde__count_parse(const char *text, size_t most, size_t *out);

#endif
