/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/gpu_visible.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static bool starts_with(const char *text, size_t len, const char *prefix)
{
    size_t i = 0;
    while (prefix[i] && i < len && lower(text[i]) == lower(prefix[i]))
        i++;
    return !prefix[i];
}

static bool parse_index(const char *text, size_t len, unsigned *out)
{
    unsigned value = 0;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(text[i]) || value > 99999)
            return false;
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    *out = value;
    return len > 0;
}

bool sonde__visible_next(const char *list, size_t *at, sonde__visible *out)
{
    const char *text = list + *at;
    size_t len = strcspn(text, ",");
    *at += len + (text[len] == ',');
    while (len > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    *out = (sonde__visible){.text = text, .len = len};
    if (parse_index(text, len, &out->index)) {
        out->kind = SONDE__VISIBLE_INDEX;
        return true;
    }
    out->kind = starts_with(text, len, "MIG-") ? SONDE__VISIBLE_MIG : SONDE__VISIBLE_ID;
    return len > 4 && (out->kind == SONDE__VISIBLE_MIG || starts_with(text, len, "GPU-"));
}

bool sonde__visible_matches(const sonde__visible *visible, const char *id)
{
    const char *text = visible->text + 4, *end = visible->text + visible->len;
    size_t id_len = strlen(id);
    if (starts_with(id, id_len, "GPU-"))
        id += 4;
    else if (starts_with(id, id_len, "0x"))
        id += 2;
    while (text < end) {
        if (*text == '-')
            text++;
        else if (*id == '-')
            id++;
        else if (lower(*text++) != lower(*id++))
            return false;
    }
    return true;
}
