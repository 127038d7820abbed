/* SPDX-License-Identifier: Apache-2.0 */
/* One table of keys; the YAML events are those of the settings reader, with its limits. Format:
   docs/web-configuration.md of github.com/prometheus/exporter-toolkit. */
#include "serve/web_config.h"

#include "base/errno_status.h"
#include "base/nearest.h"
#include "settings/settings_events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const header_names[SONDE__WEB_HEADERS] = {
    "Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options",
    "X-Frame-Options", "X-XSS-Protection"};

const char *sonde__web_header_name(size_t index)
{
    return index < SONDE__WEB_HEADERS ? header_names[index] : NULL;
}

typedef struct reading {
    sonde__events events;
    sonde__complaints complaints;
    const char *folder;
    sonde__web_config *out;
} reading;

typedef sonde_status (*take_fn)(reading *r, const sonde__event *key, const sonde__event *value);

typedef struct row {
    const char *name;
    take_fn take;        /* NULL: known to the format, not honoured here */
    const char *instead; /* what to do where it is not honoured */
} row;

static sonde_status fail(const reading *r, const sonde__event *at, sonde_status status,
                         const char *what)
{
    return sonde__complain(&r->complaints, at->place, status, "%s", what);
}

static sonde_status want_text(const reading *r, const sonde__event *key, const sonde__event *value)
{
    if (value->kind == SONDE__EVENT_SCALAR && value->len > 0 &&
        !memchr(value->text, '\0', value->len))
        return SONDE_OK;
    return sonde__complain(&r->complaints, value->place, SONDE_EBADDATA, "%s: expected a text",
                           sonde__show(key->text, key->len).text);
}

static bool is(const sonde__event *value, const char *text)
{
    return value->kind == SONDE__EVENT_SCALAR && value->len == strlen(text) &&
           memcmp(value->text, text, value->len) == 0;
}

static sonde_status take_path(reading *r, const sonde__event *key, const sonde__event *value,
                              char **out)
{
    sonde_status status = want_text(r, key, value);
    if (status != SONDE_OK)
        return status;
    bool relative = value->text[0] != '/' && r->folder;
    size_t before = relative ? strlen(r->folder) + 1 : 0;
    char *path = malloc(before + value->len + 1);
    if (!path)
        return fail(r, value, SONDE_ENOMEM, "out of memory");
    if (relative)
        snprintf(path, before + 1, "%s/", r->folder);
    memcpy(path + before, value->text, value->len);
    path[before + value->len] = '\0';
    free(*out);
    *out = path;
    return SONDE_OK;
}

static sonde_status take_cert(reading *r, const sonde__event *key, const sonde__event *value)
{
    return take_path(r, key, value, &r->out->cert_file);
}

static sonde_status take_key(reading *r, const sonde__event *key, const sonde__event *value)
{
    return take_path(r, key, value, &r->out->key_file);
}

static sonde_status take_client_ca(reading *r, const sonde__event *key, const sonde__event *value)
{
    return take_path(r, key, value, &r->out->client_ca_file);
}

static sonde_status take_client_auth(reading *r, const sonde__event *key, const sonde__event *value)
{
    (void)key;
    if (is(value, "NoClientCert") || is(value, ""))
        r->out->client_auth = SONDE__CLIENT_AUTH_NONE;
    else if (is(value, "RequireAndVerifyClientCert"))
        r->out->client_auth = SONDE__CLIENT_AUTH_REQUIRE;
    else
        return fail(r, value, SONDE_EUNSUPPORTED,
                    "client_auth_type: only NoClientCert and RequireAndVerifyClientCert are "
                    "honoured here; choose one of them");
    return SONDE_OK;
}

static sonde_status take_version(reading *r, const sonde__event *value, int *out)
{
    static const char *const names[] = {"TLS10", "TLS11", "TLS12", "TLS13"};
    for (int i = 0; i < 4; i++)
        if (is(value, names[i])) {
            *out = 10 + i;
            return SONDE_OK;
        }
    return fail(r, value, SONDE_EBADDATA, "expected TLS10, TLS11, TLS12 or TLS13");
}

static sonde_status take_min(reading *r, const sonde__event *key, const sonde__event *value)
{
    (void)key;
    return take_version(r, value, &r->out->min_version);
}

static sonde_status take_max(reading *r, const sonde__event *key, const sonde__event *value)
{
    (void)key;
    return take_version(r, value, &r->out->max_version);
}

static sonde_status take_http2(reading *r, const sonde__event *key, const sonde__event *value)
{
    (void)key;
    if (is(value, "false"))
        return SONDE_OK;
    return fail(r, value, SONDE_EUNSUPPORTED,
                "http2 is not spoken here; write false, or remove the key");
}

static sonde_status take_block(reading *r, const sonde__event *value, const row *rows);

/* The index-th header; a value with a line break would be another header. */
static sonde_status take_header(reading *r, size_t index, const sonde__event *key,
                                const sonde__event *value)
{
    sonde_status status = want_text(r, key, value);
    if (status != SONDE_OK)
        return status;
    for (size_t i = 0; i < value->len; i++)
        if ((unsigned char)value->text[i] < 0x20 || value->text[i] == 0x7f)
            return fail(r, value, SONDE_EBADDATA, "a header cannot hold control characters");
    char *copy = strndup(value->text, value->len);
    if (!copy)
        return fail(r, value, SONDE_ENOMEM, "out of memory");
    free(r->out->header[index]);
    r->out->header[index] = copy;
    return SONDE_OK;
}

static sonde_status take_csp(reading *r, const sonde__event *key, const sonde__event *value)
{
    return take_header(r, 0, key, value);
}

static sonde_status take_hsts(reading *r, const sonde__event *key, const sonde__event *value)
{
    return take_header(r, 1, key, value);
}

static sonde_status take_nosniff(reading *r, const sonde__event *key, const sonde__event *value)
{
    return take_header(r, 2, key, value);
}

static sonde_status take_frame(reading *r, const sonde__event *key, const sonde__event *value)
{
    return take_header(r, 3, key, value);
}

static sonde_status take_xss(reading *r, const sonde__event *key, const sonde__event *value)
{
    return take_header(r, 4, key, value);
}

static const row header_rows[] = {
    {"Content-Security-Policy", take_csp, NULL},    {"Strict-Transport-Security", take_hsts, NULL},
    {"X-Content-Type-Options", take_nosniff, NULL}, {"X-Frame-Options", take_frame, NULL},
    {"X-XSS-Protection", take_xss, NULL},           {NULL, NULL, NULL}};

static sonde_status take_headers(reading *r, const sonde__event *key, const sonde__event *value)
{
    (void)key;
    return take_block(r, value, header_rows);
}

static const row tls_rows[] = {
    {"cert_file", take_cert, NULL},
    {"key_file", take_key, NULL},
    {"client_ca_file", take_client_ca, NULL},
    {"client_auth_type", take_client_auth, NULL},
    {"min_version", take_min, NULL},
    {"max_version", take_max, NULL},
    {"cert", NULL, "put the certificate into a file and name it in cert_file"},
    {"key", NULL, "put the key into a file and name it in key_file"},
    {"client_ca", NULL, "put the certificates into a file and name it in client_ca_file"},
    {"client_allowed_sans", NULL, "use a client_ca_file that signs only those clients"},
    {"cipher_suites", NULL, "the suites are those GnuTLS holds secure"},
    {"curve_preferences", NULL, "the curves are those GnuTLS holds secure"},
    {"prefer_server_cipher_suites", NULL, "GnuTLS decides the order"},
    {NULL, NULL, NULL}};

static const row http_rows[] = {
    {"http2", take_http2, NULL}, {"headers", take_headers, NULL}, {NULL, NULL, NULL}};

static sonde_status take_tls(reading *r, const sonde__event *key, const sonde__event *value)
{
    (void)key;
    return take_block(r, value, tls_rows);
}

static sonde_status take_http(reading *r, const sonde__event *key, const sonde__event *value)
{
    (void)key;
    return take_block(r, value, http_rows);
}

static bool is_bcrypt(const sonde__event *value)
{
    return value->kind == SONDE__EVENT_SCALAR && value->len == 60 && value->text[0] == '$' &&
           value->text[1] == '2' && strchr("aby", value->text[2]) && value->text[3] == '$' &&
           value->text[6] == '$' && !memchr(value->text, '\0', value->len);
}

static sonde_status take_user(reading *r, const sonde__event *value, char *name)
{
    sonde__web_config *out = r->out;
    if (!is_bcrypt(value))
        return fail(r, value, SONDE_EBADDATA,
                    "a password is given as its bcrypt hash, $2y$10$...; make one with: "
                    "htpasswd -nBC 10 NAME");
    char *hash = strndup(value->text, value->len);
    if (!hash)
        return fail(r, value, SONDE_ENOMEM, "out of memory");
    out->users[out->user_count++] = (sonde__web_user){name, hash};
    return SONDE_OK;
}

static sonde_status take_users(reading *r, const sonde__event *key, const sonde__event *value)
{
    (void)key;
    if (value->kind != SONDE__EVENT_BLOCK)
        return fail(r, value, SONDE_EBADDATA, "basic_auth_users: expected NAME: HASH lines");
    for (;;) {
        sonde__event event;
        sonde_status status = sonde__events_next(&r->events, &event);
        if (status != SONDE_OK || event.kind == SONDE__EVENT_CLOSE)
            return status;
        if (event.kind != SONDE__EVENT_SCALAR || event.len == 0 ||
            event.len >= SONDE__SERVE_NAME_BYTES || memchr(event.text, ':', event.len) ||
            memchr(event.text, '\0', event.len))
            return fail(r, &event, SONDE_EBADDATA, "expected a user name without a colon");
        if (r->out->user_count >= SONDE__SERVE_USERS_MAX)
            return fail(r, &event, SONDE_ELIMIT, "more than 64 users");
        char *name = strndup(event.text, event.len);
        if (!name)
            return fail(r, &event, SONDE_ENOMEM, "out of memory");
        status = sonde__events_next(&r->events, &event);
        size_t before = r->out->user_count;
        if (status == SONDE_OK)
            status = take_user(r, &event, name);
        if (r->out->user_count == before)
            free(name);
        if (status != SONDE_OK)
            return status;
    }
}

static const row top_rows[] = {
    {"tls_server_config", take_tls, NULL},
    {"http_server_config", take_http, NULL},
    {"basic_auth_users", take_users, NULL},
    {"rate_limit", NULL, "connections are limited anyway, see docs/serving.md"},
    {"auth_excluded_paths", NULL, "every path asks for the password"},
    {NULL, NULL, NULL}};

static sonde_status refuse_key(const reading *r, const sonde__event *key, const row *rows)
{
    sonde__nearest near;
    sonde__nearest_init(&near, key->text, key->len);
    for (; rows->name; rows++)
        sonde__nearest_offer(&near, rows->name, strlen(rows->name));
    if (near.best)
        return sonde__complain(&r->complaints, key->place, SONDE_EBADDATA,
                               "unknown key %s; did you mean \"%s\"?",
                               sonde__show(key->text, key->len).text, near.best);
    return sonde__complain(&r->complaints, key->place, SONDE_EBADDATA, "unknown key %s",
                           sonde__show(key->text, key->len).text);
}

static sonde_status take_pair(reading *r, const row *rows, const sonde__event *key)
{
    const row *found = rows;
    while (found->name && !is(key, found->name))
        found++;
    if (!found->name)
        return refuse_key(r, key, rows);
    if (!found->take)
        return sonde__complain(&r->complaints, key->place, SONDE_EUNSUPPORTED,
                               "%s is not honoured by sonde serve; remove it: %s", found->name,
                               found->instead);
    /* the key's text is gone with the next event */
    sonde__event name = *key;
    name.text = found->name;
    sonde__event value;
    sonde_status status = sonde__events_next(&r->events, &value);
    return status == SONDE_OK ? found->take(r, &name, &value) : status;
}

static sonde_status take_block(reading *r, const sonde__event *value, const row *rows)
{
    if (value->kind == SONDE__EVENT_SCALAR && value->len == 0 && value->plain)
        return SONDE_OK; /* a key without a value */
    if (value->kind != SONDE__EVENT_BLOCK)
        return fail(r, value, SONDE_EBADDATA, "expected a block of keys");
    for (;;) {
        sonde__event key;
        sonde_status status = sonde__events_next(&r->events, &key);
        if (status != SONDE_OK || key.kind == SONDE__EVENT_CLOSE)
            return status;
        if (key.kind != SONDE__EVENT_SCALAR)
            return fail(r, &key, SONDE_EBADDATA, "expected a key");
        status = take_pair(r, rows, &key);
        if (status != SONDE_OK)
            return status;
    }
}

static sonde_status judge(const reading *r)
{
    static const sonde__place whole = {0, 0};
    const sonde__web_config *c = r->out;
    const char *what = NULL;
    if (!c->cert_file != !c->key_file)
        what = "tls_server_config: cert_file and key_file come together";
    else if (!c->cert_file && (c->client_ca_file || c->client_auth != SONDE__CLIENT_AUTH_NONE))
        what = "tls_server_config: client certificates need cert_file and key_file";
    else if (!c->client_ca_file != (c->client_auth == SONDE__CLIENT_AUTH_NONE))
        what = "client_ca_file and client_auth_type: RequireAndVerifyClientCert come together";
    else if (c->min_version > c->max_version)
        what = "min_version is above max_version";
    return what ? sonde__complain(&r->complaints, whole, SONDE_EBADDATA, "%s", what) : SONDE_OK;
}

sonde_status sonde__web_config_parse(const char *text, size_t len, const char *name,
                                     const char *folder, sonde__web_config *out,
                                     sonde_settings_error *error)
{
    reading r = {.complaints = {name, error}, .folder = folder, .out = out};
    *out = (sonde__web_config){.min_version = 12, .max_version = 13};
    sonde_status status = sonde__events_open(&r.events, text, len, &r.complaints);
    if (status != SONDE_OK)
        return status;
    sonde__event event;
    status = sonde__events_next(&r.events, &event);
    if (status == SONDE_OK && event.kind != SONDE__EVENT_EXHAUSTED) {
        status = take_block(&r, &event, top_rows);
        if (status == SONDE_OK)
            status = sonde__events_next(&r.events, &event); /* a second document is refused */
    }
    if (status == SONDE_OK)
        status = judge(&r);
    sonde__events_close(&r.events);
    if (status != SONDE_OK)
        sonde__web_config_free(out);
    return status;
}

sonde_status sonde__web_config_load(const char *path, sonde__web_config *out,
                                    sonde_settings_error *error)
{
    static const sonde__place whole = {0, 0};
    sonde__complaints complaints = {path, error};
    *out = (sonde__web_config){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return sonde__complain(&complaints, whole, sonde__status_of_errno(errno), "%s",
                               strerror(errno));
    sonde__buf buf;
    sonde__buf_init(&buf, SONDE__SETTINGS_FILE_BYTES + 4096);
    char piece[4096];
    ssize_t got;
    while ((got = read(fd, piece, sizeof piece)) > 0)
        sonde__buf_append(&buf, piece, (size_t)got);
    close(fd);
    sonde_status status = got < 0 ? SONDE_EIO : SONDE_OK;
    char *copy = strdup(path);
    char *slash = copy ? strrchr(copy, '/') : NULL;
    if (slash)
        *slash = '\0';
    const char *folder = slash ? copy : NULL;
    if (status != SONDE_OK)
        sonde__complain(&complaints, whole, status, "it cannot be read");
    else
        status =
            sonde__web_config_parse(buf.data ? buf.data : "", buf.len, path, folder, out, error);
    free(copy);
    sonde__buf_free(&buf);
    return status;
}

void sonde__web_config_free(sonde__web_config *config)
{
    free(config->cert_file);
    free(config->key_file);
    free(config->client_ca_file);
    for (size_t i = 0; i < SONDE__WEB_HEADERS; i++)
        free(config->header[i]);
    for (size_t i = 0; i < config->user_count; i++) {
        free(config->users[i].name);
        free(config->users[i].hash);
    }
    *config = (sonde__web_config){0};
}
