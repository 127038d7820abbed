/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the text. At each place the forms are tried in turn; the first that fits says how
   much is kept and how much is hidden. All comparisons are of ASCII, without locale. */
#include "base/mask.h"

#include <stdint.h>

typedef struct cut {
    size_t keep; /* bytes shown */
    size_t hide; /* bytes after them that become the mask; 0: nothing here */
} cut;

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_lower(c) || is_upper(c) || is_digit(c);
}

/* The alphabet of base64url, of which tokens are made. */
static bool is_token(char c)
{
    return is_alnum(c) || c == '_' || c == '-';
}

static bool is_name(char c)
{
    return is_token(c) || c == '.';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int lower(char c)
{
    return is_upper(c) ? c + 32 : c;
}

static bool same_word(const char *word, size_t len, const char *known)
{
    size_t i = 0;
    while (i < len && known[i] && lower(word[i]) == known[i])
        i++;
    return i == len && !known[i];
}

static bool is_one_of(const char *word, size_t len, const char *const *list)
{
    for (; *list; list++)
        if (same_word(word, len, *list))
            return true;
    return false;
}

/* The end of the word that starts at at: "api" in apiKey, "API" in API_KEY. */
static size_t word_end(const char *name, size_t at, size_t len)
{
    size_t end = at;
    while (end < len && is_alnum(name[end]) &&
           !(end > at && is_upper(name[end]) && !is_upper(name[end - 1])))
        end++;
    return end;
}

static bool is_small_number(const char *value, size_t len)
{
    if (!value || len == 0 || len > 9)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_digit(value[i]))
            return false;
    return true;
}

bool sonde__mask_is_secret(const char *name, size_t len, const char *value, size_t value_len)
{
    static const char *const anywhere[] = {
        "token",      "secret",        "secrets",    "password",    "passwords",
        "passwd",     "passphrase",    "credential", "bearer",      "credentials",
        "apikey",     "authtoken",     "accesskey",  "accesstoken", "secretkey",
        "privatekey", "authorization", "cookie",     "jwt",         NULL};
    static const char *const at_end[] = {"key", "keys", "auth", "pass", "pwd", "signature", NULL};
    if (same_word(name, len, "pwd") || same_word(name, len, "oldpwd"))
        return false; /* the working folder */
    for (size_t at = 0; at < len;) {
        size_t end = word_end(name, at, len);
        if (is_one_of(name + at, end - at, anywhere))
            return true;
        if (same_word(name + at, end - at, "tokens") && !is_small_number(value, value_len))
            return true;
        if (end == len && is_one_of(name + at, end - at, at_end))
            return true;
        at = end > at ? end : at + 1;
    }
    return false;
}

static size_t run_of(const char *text, size_t at, size_t len, bool (*is)(char))
{
    size_t end = at;
    while (end < len && is(text[end]))
        end++;
    return end - at;
}

static bool starts_with(const char *text, size_t len, const char *what)
{
    size_t need = strlen(what);
    return len >= need && memcmp(text, what, need) == 0;
}

/* scheme://user:password@host: all between the slashes and the last @ before the path. */
static cut find_userinfo(const char *text, size_t len)
{
    if (!starts_with(text, len, "://"))
        return (cut){0};
    size_t last = 0;
    for (size_t at = 3; at < len && !strchr("/?# \t\n\"'<>", text[at]); at++)
        if (text[at] == '@')
            last = at;
    return last > 3 ? (cut){.keep = 3, .hide = last - 3} : (cut){0};
}

/* eyJ....eyJ....: header and payload of a JSON web token are objects, and {" is eyJ in base64. */
static cut find_jwt(const char *text, size_t len)
{
    if (!starts_with(text, len, "eyJ"))
        return (cut){0};
    size_t end = run_of(text, 0, len, is_token);
    if (end < 8 || end >= len || text[end] != '.')
        return (cut){0};
    size_t payload = run_of(text, end + 1, len, is_token);
    if (payload < 4)
        return (cut){0};
    end += 1 + payload;
    while (end < len && (is_token(text[end]) || text[end] == '.'))
        end++;
    return (cut){.hide = end};
}

/* From -----BEGIN to the end of the line of its -----END, or of the text. */
static cut find_pem(const char *text, size_t len)
{
    static const char begin[] = "-----BEGIN ", end[] = "-----END ";
    if (!starts_with(text, len, begin))
        return (cut){0};
    const char *last = memmem(text, len, end, sizeof end - 1);
    if (!last)
        return (cut){.hide = len};
    size_t at = (size_t)(last - text) + sizeof end - 1;
    const char *dashes = memmem(text + at, len - at, "-----", 5);
    return (cut){.hide = dashes ? (size_t)(dashes - text) + 5 : len};
}

/* Keys whose first letters are fixed by those who issue them. */
static cut find_service_key(const char *text, size_t len)
{
    static const struct {
        const char *prefix;
        size_t least; /* letters after it */
    } known[] = {{"AKIA", 12},    {"ASIA", 12},   {"ghp_", 16},  {"gho_", 16},
                 {"ghs_", 16},    {"ghu_", 16},   {"ghr_", 16},  {"hf_", 16},
                 {"glpat-", 12},  {"xoxb-", 10},  {"xoxp-", 10}, {"xoxa-", 10},
                 {"sk-", 16},     {"AIza", 24},   {"npm_", 16},  {"github_pat_", 16},
                 {"sk_live_", 8}, {"dop_v1_", 16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!starts_with(text, len, known[i].prefix))
            continue;
        size_t run = run_of(text, 0, len, is_token);
        if (run >= strlen(known[i].prefix) + known[i].least)
            return (cut){.hide = run};
    }
    return (cut){0};
}

/* The value after name= or name: ends at a blank or at what separates values; of a quoted one at
   its quote, of an authorization at the end of the line. */
static size_t value_length(const char *text, size_t at, size_t len, char quote, bool line)
{
    size_t end = at;
    while (end < len && text[end] != '\n') {
        if (quote && text[end] == '\\' && end + 1 < len)
            end++;
        else if (quote ? text[end] == quote : !line && strchr(" \t&;,\"'})]", text[end]))
            break;
        end++;
    }
    return end - at;
}

/* name=value, name: value, "name": "value". text starts at the name. */
static cut find_assignment(const char *text, size_t len)
{
    size_t name = run_of(text, 0, len, is_name);
    size_t at = name;
    if (!sonde__mask_is_secret(text, name, NULL, 0))
        return (cut){0};
    if (at < len && (text[at] == '"' || text[at] == '\''))
        at++;
    at += run_of(text, at, len, is_blank);
    if (at >= len || (text[at] != '=' && text[at] != ':') ||
        starts_with(text + at, len - at, "://"))
        return (cut){0};
    at++;
    at += run_of(text, at, len, is_blank);
    char quote = '\0';
    if (at < len && (text[at] == '"' || text[at] == '\''))
        quote = text[at];
    at += quote ? 1 : 0;
    bool line = same_word(text, name, "authorization") || same_word(text, name, "cookie");
    size_t hide = value_length(text, at, len, quote, line);
    if (hide == 0 || !sonde__mask_is_secret(text, name, text + at, hide))
        return (cut){0};
    return (cut){.keep = at, .hide = hide};
}

/* "Bearer abc", "Basic abc". */
static cut find_bearer(const char *text, size_t len)
{
    size_t word = run_of(text, 0, len, is_alnum);
    if (!same_word(text, word, "bearer") && !same_word(text, word, "basic"))
        return (cut){0};
    size_t blanks = run_of(text, word, len, is_blank);
    size_t hide = value_length(text, word + blanks, len, '\0', false);
    if (blanks == 0 || hide < 8)
        return (cut){0};
    return (cut){.keep = word + blanks, .hide = hide};
}

static cut find_secret(const char *text, size_t len, bool at_word)
{
    static cut (*const forms[])(const char *, size_t) = {find_pem, find_jwt, find_service_key,
                                                         find_bearer, find_assignment};
    cut found = find_userinfo(text, len);
    for (size_t i = 0; found.hide == 0 && at_word && i < sizeof forms / sizeof *forms; i++)
        found = forms[i](text, len);
    return found;
}

void sonde__mask_text(const char *text, size_t len, sonde__buf *out)
{
    size_t shown = 0;
    for (size_t at = 0; at < len;) {
        bool at_word = at == 0 || !is_name(text[at - 1]);
        cut found = find_secret(text + at, len - at, at_word);
        if (found.hide == 0) {
            at++;
            continue;
        }
        sonde__buf_append(out, text + shown, at - shown + found.keep);
        sonde__buf_text(out, SONDE__MASK);
        at += found.keep + found.hide;
        shown = at;
    }
    if (shown < len)
        sonde__buf_append(out, text + shown, len - shown);
}

void sonde__mask_value(const char *name, const char *value, sonde__buf *out)
{
    size_t len = strlen(value);
    if (len > 0 && sonde__mask_is_secret(name, strlen(name), value, len))
        sonde__buf_text(out, SONDE__MASK);
    else
        sonde__mask_text(value, len, out);
}

/* Whether argument is an option (--token) whose value is the next argument. */
static bool hides_next(const char *argument, const char *next)
{
    return argument[0] == '-' && !strchr(argument, '=') && next && next[0] != '-' && next[0] &&
           sonde__mask_is_secret(argument, strlen(argument), next, strlen(next));
}

void sonde__mask_arguments(const char *arguments, size_t count, sonde__buf *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(arguments);
        const char *next = i + 1 < count ? arguments + len + 1 : NULL;
        sonde__mask_text(arguments, len, out);
        sonde__buf_char(out, '\0');
        if (hides_next(arguments, next)) {
            sonde__buf_append(out, SONDE__MASK, sizeof SONDE__MASK);
            arguments = next;
            len = strlen(next);
            i++;
        }
        arguments += len + 1;
    }
}
