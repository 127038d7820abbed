/* SPDX-License-Identifier: Apache-2.0 */
/* sonde-serve: the helper that `sonde serve` executes, with every option as --NAME=VALUE and flags
   as --NAME=. Not for typing: the command's help and its complaints about names are sonde's. */
#include "serve/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_WRONG = 2 };
static const uint64_t interval_least = 10000000;
static const uint64_t interval_most = 20000000000u;

static bool take_interval(const char *value, sonde__serve_options *out)
{
    char *end;
    unsigned long long ns = strtoull(value, &end, 10);
    if (*end == '\0' && ns >= interval_least && ns <= interval_most) {
        out->interval_ns = ns;
        return true;
    }
    fprintf(stderr, "sonde serve: --interval: expected a time from 10ms to 20s\n");
    return false;
}

static bool take_types(const char *value, sonde__serve_options *out)
{
    const char *bad;
    size_t bad_len;
    if (sonde_capture_types_parse(value, &out->types, &bad, &bad_len) == SONDE_OK)
        return true;
    fprintf(stderr, "sonde serve: --types: \"%.*s\" is not a type of telemetry\n",
            (int)(bad_len < 80 ? bad_len : 80), bad);
    return false;
}

static bool take_hosts(char *value, sonde__serve_options *out)
{
    for (char *one; (one = strsep(&value, ",")) != NULL;) {
        if (*one == '\0')
            continue;
        if (out->host_count >= SONDE__SERVE_HOSTS_MAX) {
            fprintf(stderr, "sonde serve: --allow-host: more than 16 names\n");
            return false;
        }
        out->hosts[out->host_count++] = one;
    }
    return true;
}

static bool take_profile(const char *value, sonde__serve_options *out)
{
    out->pyveda = strcmp(value, "pyveda") == 0;
    if (out->pyveda || strcmp(value, "sonde") == 0)
        return true;
    fprintf(stderr, "sonde serve: --profile: expected sonde or pyveda\n");
    return false;
}

static bool take(char *argument, sonde__serve_options *out)
{
    char *value = strchr(argument, '=');
    if (strncmp(argument, "--", 2) != 0 || !value) {
        fprintf(stderr, "sonde-serve is started by: sonde serve\n");
        return false;
    }
    *value++ = '\0';
    const char *name = argument + 2;
    if (strcmp(name, "listen") == 0)
        out->listen = value;
    else if (strcmp(name, "dir") == 0)
        out->dir = value;
    else if (strcmp(name, "web-config") == 0)
        out->web_config = value;
    else if (strcmp(name, "insecure-listen") == 0)
        out->insecure = true;
    else if (strcmp(name, "no-host") == 0)
        out->host = false;
    else if (strcmp(name, "interval") == 0)
        return take_interval(value, out);
    else if (strcmp(name, "types") == 0)
        return take_types(value, out);
    else if (strcmp(name, "allow-host") == 0)
        return take_hosts(value, out);
    else if (strcmp(name, "profile") == 0)
        return take_profile(value, out);
    return true;
}

int main(int argc, char **argv)
{
    const char *dir = getenv("SONDE_DIR");
    sonde__serve_options options = {
        .dir = dir && *dir ? dir : "telemetry",
        .interval_ns = 1000000000u,
        .host = true,
        .types = SONDE_CAPTURE_CPU | SONDE_CAPTURE_PER_CPU | SONDE_CAPTURE_MEMORY |
                 SONDE_CAPTURE_DISK | SONDE_CAPTURE_NETWORK,
    };
    for (int i = 1; i < argc; i++)
        if (!take(argv[i], &options))
            return EXIT_WRONG;
    return sonde__serve(&options);
}
