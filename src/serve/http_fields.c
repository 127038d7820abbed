/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http_fields.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

typedef struct slice {
    const char *at;
    size_t len;
} slice;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static slice trim(slice s)
{
    while (s.len > 0 && is_blank(*s.at)) {
        s.at++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.at[s.len - 1]))
        s.len--;
    return s;
}

static bool equals(slice s, const char *text)
{
    return strlen(text) == s.len && strncasecmp(s.at, text, s.len) == 0;
}

/* What is before the next separator; *rest goes on behind it, with at NULL at the end. */
static slice cut(slice *rest, char separator)
{
    const char *end = memchr(rest->at, separator, rest->len);
    slice first = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t used = first.len + (end != NULL);
    rest->len -= used;
    rest->at = end ? rest->at + used : NULL;
    return trim(first);
}

/* --- Host --- */

static bool is_port(slice s)
{
    if (s.len == 0)
        return true;
    if (s.at[0] != ':' || s.len > 6)
        return false;
    for (size_t i = 1; i < s.len; i++)
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
    return s.len > 1;
}

static bool is_address(int family, slice s)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (s.len >= sizeof text)
        return false;
    memcpy(text, s.at, s.len);
    text[s.len] = '\0';
    return strlen(text) == s.len && inet_pton(family, text, &address) == 1;
}

static bool is_name(slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        char lower = (char)(s.at[i] | 32);
        bool plain = (lower >= 'a' && lower <= 'z') || (s.at[i] >= '0' && s.at[i] <= '9');
        if (!plain && s.at[i] != '-' && s.at[i] != '.' && s.at[i] != '_')
            return false;
    }
    return s.len > 0;
}

bool sonde__host_allowed(const char *host, size_t len, const char *const *allowed, size_t count)
{
    static const char local[] = ".localhost";
    slice name = {host, len};
    if (len > 0 && host[0] == '[') {
        const char *close = memchr(host, ']', len);
        if (!close)
            return false;
        size_t inside = (size_t)(close - host) - 1;
        return is_address(AF_INET6, (slice){host + 1, inside}) &&
               is_port((slice){close + 1, len - inside - 2});
    }
    const char *colon = memchr(host, ':', len);
    if (colon)
        name.len = (size_t)(colon - host);
    if (!is_name(name) || !is_port((slice){host + name.len, len - name.len}))
        return false;
    if (is_address(AF_INET, name) || equals(name, "localhost"))
        return true;
    if (name.len > sizeof local - 1 &&
        equals((slice){host + name.len - (sizeof local - 1), sizeof local - 1}, local))
        return true;
    for (size_t i = 0; i < count; i++)
        if (equals(name, allowed[i]))
            return true;
    return false;
}

/* --- Accept --- */

/* A quality value in thousandths: 0, 1, 0.5, 1.000. What is none of that is 0. */
static int quality_of(slice s)
{
    if (s.len == 0 || s.len > 5 || (s.at[0] != '0' && s.at[0] != '1'))
        return 0;
    int value = (s.at[0] - '0') * 1000;
    if (s.len > 1 && s.at[1] != '.')
        return 0;
    int weight = 100;
    for (size_t i = 2; i < s.len; i++, weight /= 10) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return 0;
        value += (s.at[i] - '0') * weight;
    }
    return value > 1000 ? 0 : value;
}

/* How specific a media range is for type: 0 not it, 1 for "*", 2 for "type/" and "*", 3 exact. */
static int range_matches(slice range, const char *type)
{
    size_t major = strcspn(type, "/") + 1;
    if (equals(range, type))
        return 3;
    if (range.len == major + 1 && range.at[major] == '*' && strncasecmp(range.at, type, major) == 0)
        return 2;
    return equals(range, "*/*") ? 1 : 0;
}

typedef struct range {
    int specific;
    int quality;
} range;

static range read_range(slice text, const char *type, const char *parameter)
{
    range out = {range_matches(cut(&text, ';'), type), 1000};
    size_t name = parameter ? strcspn(parameter, "=") + 1 : 0;
    while (text.at) {
        slice one = cut(&text, ';');
        if (one.len > 2 && (one.at[0] == 'q' || one.at[0] == 'Q') && one.at[1] == '=') {
            out.quality = quality_of((slice){one.at + 2, one.len - 2});
        } else if (parameter && one.len >= name && strncasecmp(one.at, parameter, name) == 0) {
            if (!equals(one, parameter))
                out.specific = 0;
            else if (out.specific == 3)
                out.specific = 4;
        }
    }
    return out;
}

int sonde__accept_quality(const char *accept, size_t len, const char *type, const char *parameter,
                          bool named)
{
    slice rest = {accept, len};
    range best = {named ? 2 : 0, -1};
    while (rest.at) {
        range one = read_range(cut(&rest, ','), type, parameter);
        if (one.specific > best.specific ||
            (one.specific == best.specific && one.specific > (named ? 2 : 0) &&
             one.quality > best.quality))
            best = one;
    }
    return best.quality > 0 ? best.quality : -1;
}

bool sonde__accepts_gzip(const char *header, size_t len)
{
    slice rest = {header, len};
    int named = -1;
    int any = -1;
    while (rest.at) {
        slice one = cut(&rest, ',');
        slice name = cut(&one, ';');
        int quality = 1000;
        if (one.at) {
            slice weight = trim(one);
            quality = weight.len > 2 && (weight.at[0] | 32) == 'q' && weight.at[1] == '='
                          ? quality_of((slice){weight.at + 2, weight.len - 2})
                          : 0;
        }
        if (equals(name, "gzip"))
            named = quality;
        else if (equals(name, "*"))
            any = quality;
    }
    return named >= 0 ? named > 0 : any > 0;
}

/* --- Authorization --- */

static int digit64(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes into out; the length, or -1. */
static long decode64(slice s, char *out, size_t size)
{
    size_t len = 0;
    unsigned bits = 0;
    unsigned held = 0;
    while (s.len > 0 && s.at[s.len - 1] == '=')
        s.len--;
    for (size_t i = 0; i < s.len; i++) {
        int value = digit64(s.at[i]);
        if (value < 0)
            return -1;
        bits = bits << 6 | (unsigned)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            if (len >= size)
                return -1;
            out[len++] = (char)(bits >> held);
        }
    }
    return (long)len;
}

bool sonde__basic_auth_parse(const char *header, size_t len, sonde__credentials *out)
{
    char text[SONDE__SERVE_NAME_BYTES + SONDE__SERVE_PASSWORD_BYTES];
    slice s = {header, len};
    if (len < 6 || strncasecmp(header, "Basic ", 6) != 0)
        return false;
    s.at += 6;
    s.len -= 6;
    long got = decode64(trim(s), text, sizeof text);
    if (got < 0 || memchr(text, '\0', (size_t)got))
        return false;
    const char *colon = memchr(text, ':', (size_t)got);
    if (!colon)
        return false;
    size_t user = (size_t)(colon - text);
    size_t password = (size_t)got - user - 1;
    if (user >= sizeof out->user || password >= sizeof out->password)
        return false;
    memcpy(out->user, text, user);
    out->user[user] = '\0';
    memcpy(out->password, colon + 1, password);
    out->password[password] = '\0';
    return true;
}

/* --- request target --- */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 32);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Decodes s in place of its copy at to; NULL: not valid. Returns behind the NUL. */
static char *decode(slice s, char *to)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (c == '+')
            c = ' ';
        if (c == '%') {
            int high = i + 2 < s.len ? hex(s.at[i + 1]) : -1;
            int low = i + 2 < s.len ? hex(s.at[i + 2]) : -1;
            if (high < 0 || low < 0)
                return NULL;
            c = (char)(unsigned char)(high << 4 | low);
            i += 2;
        }
        if ((unsigned char)c < 0x20 || c == 0x7f)
            return NULL;
        *to++ = c;
    }
    *to++ = '\0';
    return to;
}

static bool take_parameter(slice one, char **to, sonde__target *out)
{
    if (one.len == 0)
        return true;
    if (out->count >= SONDE__SERVE_QUERY_MAX)
        return false;
    slice value = one;
    slice key = cut(&value, '=');
    sonde__query *query = &out->query[out->count];
    query->key = *to;
    *to = decode(key, *to);
    if (!*to || sonde__target_get(out, query->key))
        return false;
    query->value = *to;
    *to = decode(value.at ? value : (slice){"", 0}, *to);
    out->count++;
    return *to != NULL;
}

bool sonde__target_parse(const char *text, size_t len, sonde__target *out)
{
    slice rest = {text, len};
    slice path = cut(&rest, '?');
    out->count = 0;
    /* decoded text is never longer than the text; each parameter ends with two NULs, one of them
       in place of its separator */
    if (len + SONDE__SERVE_QUERY_MAX + 2 > sizeof out->text || path.len == 0 || path.at != text ||
        memchr(path.at, '\0', path.len))
        return false;
    memcpy(out->text, path.at, path.len);
    out->text[path.len] = '\0';
    out->path = out->text;
    char *to = out->text + path.len + 1;
    while (rest.at)
        if (!take_parameter(cut(&rest, '&'), &to, out))
            return false;
    return true;
}

const char *sonde__target_get(const sonde__target *target, const char *key)
{
    for (size_t i = 0; i < target->count; i++)
        if (strcmp(target->query[i].key, key) == 0)
            return target->query[i].value;
    return NULL;
}

bool sonde__count_parse(const char *text, size_t most, size_t *out)
{
    size_t value = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits] != '\0')
        return false;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (size_t)(text[i] - '0');
    if (value < 1 || value > most)
        return false;
    *out = value;
    return true;
}
