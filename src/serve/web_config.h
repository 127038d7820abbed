/* SPDX-License-Identifier: Apache-2.0 */
/* The web configuration file of Prometheus' exporter-toolkit, with its keys as they are:
   tls_server_config, http_server_config, basic_auth_users. A key of it that this server cannot
   honour is refused by name rather than ignored: it would be protection that is not there. */
#ifndef SONDE_SERVE_WEB_CONFIG_H
#define SONDE_SERVE_WEB_CONFIG_H

#include "base/buf.h"
#include "serve/serve_limits.h"
#include "sonde/settings.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum sonde__client_auth {
    SONDE__CLIENT_AUTH_NONE,
    SONDE__CLIENT_AUTH_REQUIRE, /* RequireAndVerifyClientCert */
} sonde__client_auth;

/* Headers that http_server_config.headers can set. */
enum { SONDE__WEB_HEADERS = 5 };

typedef struct sonde__web_user {
    char *name;
    char *hash; /* bcrypt */
} sonde__web_user;

typedef struct sonde__web_config {
    char *cert_file; /* NULL: no TLS. Paths are absolute or relative to the file's folder */
    char *key_file;
    char *client_ca_file;
    sonde__client_auth client_auth;
    int min_version;                  /* 10 ... 13 for TLS10 ... TLS13; 12 when not said */
    int max_version;                  /* 13 when not said */
    char *header[SONDE__WEB_HEADERS]; /* by index of sonde__web_header_name; NULL: not said */
    sonde__web_user users[SONDE__SERVE_USERS_MAX];
    size_t user_count;
} sonde__web_config;

/* "Content-Security-Policy" and so on; NULL beyond the last. */
const char *sonde__web_header_name(size_t index);

/* Reads a text; name is used in messages, folder (NULL: none) goes before relative paths. On
   failure out is empty and error has one line, FILE:LINE:COLUMN: what. EBADDATA, ELIMIT,
   EUNSUPPORTED (a key that is not honoured), ENOMEM. */
sonde_status sonde__web_config_parse(const char *text, size_t len, const char *name,
                                     const char *folder, sonde__web_config *out,
                                     sonde_settings_error *error);

/* The same of a file. EABSENT, EDENIED, EIO in addition. */
sonde_status sonde__web_config_load(const char *path, sonde__web_config *out,
                                    sonde_settings_error *error);

void sonde__web_config_free(sonde__web_config *config);

#endif
