/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/listen_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static bool refuse(const char *text, const char *why, char *error, size_t size)
{
    snprintf(error, size,
             "%.200s: %s; expected ADDRESS:PORT such as 127.0.0.1:9464 or [::1]:9464, or "
             "unix:PATH",
             text, why);
    return false;
}

static bool parse_port(const char *text, in_port_t *port)
{
    unsigned value = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits] != '\0')
        return false;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (unsigned)(text[i] - '0');
    if (value > 65535)
        return false;
    *port = htons((in_port_t)value);
    return true;
}

static bool parse_local(const char *text, sonde__listen_address *out, char *error, size_t size)
{
    const char *path = text + 5;
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof out->at.local.sun_path)
        return refuse(text, "a socket's path has 1 to 107 bytes", error, size);
    out->at.local.sun_family = AF_UNIX;
    memcpy(out->at.local.sun_path, path, len + 1);
    out->len = (socklen_t)sizeof out->at.local;
    return true;
}

bool sonde__listen_parse(const char *text, sonde__listen_address *out, char *error, size_t size)
{
    *out = (sonde__listen_address){.len = 0};
    if (strncmp(text, "unix:", 5) == 0)
        return parse_local(text, out, error, size);
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN];
    in_port_t port;
    if (!colon || !parse_port(colon + 1, &port))
        return refuse(text, "there is no port at its end", error, size);
    bool bracketed = text[0] == '[' && colon > text + 1 && colon[-1] == ']';
    const char *from = text + bracketed;
    size_t len = (size_t)(colon - from) - bracketed;
    if (len >= sizeof host)
        return refuse(text, "that is no address", error, size);
    memcpy(host, from, len);
    host[len] = '\0';
    if (strcmp(host, "localhost") == 0)
        memcpy(host, "127.0.0.1", 10);
    if (bracketed || len == 0) {
        out->at.v6.sin6_family = AF_INET6;
        out->at.v6.sin6_port = port;
        out->len = (socklen_t)sizeof out->at.v6;
        if (len > 0 && inet_pton(AF_INET6, host, &out->at.v6.sin6_addr) != 1)
            return refuse(text, "that is no IPv6 address", error, size);
        return true;
    }
    out->at.v4.sin_family = AF_INET;
    out->at.v4.sin_port = port;
    out->len = (socklen_t)sizeof out->at.v4;
    if (inet_pton(AF_INET, host, &out->at.v4.sin_addr) != 1)
        return refuse(text, "that is no IPv4 address", error, size);
    return true;
}

bool sonde__address_is_local(const struct sockaddr *address)
{
    if (address->sa_family == AF_UNIX)
        return true;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family != AF_INET6)
        return false;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ||
           (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) && v6->sin6_addr.s6_addr[12] == 127);
}

bool sonde__address_same(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
    if (a->sa_family == AF_INET6)
        return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                      &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr,
                      sizeof(struct in6_addr)) == 0;
    return a->sa_family == AF_UNIX;
}

void sonde__listen_text(const struct sockaddr *address, char *out, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";
    if (address->sa_family == AF_UNIX) {
        snprintf(out, size, "unix:%s",
                 ((const struct sockaddr_un *)(const void *)address)->sun_path);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        snprintf(out, size, "[%s]:%u", host, ntohs(v6->sin6_port));
    } else {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        snprintf(out, size, "%s:%u", host, ntohs(v4->sin_port));
    }
}
