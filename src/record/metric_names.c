/* SPDX-License-Identifier: Apache-2.0 */
#include "record/metric_names.h"

#include "base/ids.h"

#include <stdint.h>
#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *name, bool colons)
{
    if (!name || !(is_letter(name[0]) || (colons && name[0] == ':')))
        return false;
    size_t len = 1;
    for (; name[len]; len++) {
        char c = name[len];
        if (!is_letter(c) && !(c >= '0' && c <= '9') && !(colons && c == ':'))
            return false;
    }
    return len <= SONDE__NAME_LEN_MAX;
}

bool sonde__metric_name_valid(const char *name)
{
    return is_name(name, true);
}

bool sonde__label_keys_valid(const char *const *keys, unsigned *count)
{
    unsigned n = 0;
    for (; keys && keys[n]; n++) {
        if (n == SONDE__LABELS_MAX || !is_name(keys[n], false) || strncmp(keys[n], "__", 2) == 0)
            return false;
        for (unsigned i = 0; i < n; i++)
            if (strcmp(keys[i], keys[n]) == 0)
                return false;
    }
    *count = n;
    return true;
}

bool sonde__label_value_cut(const char *value, char out[SONDE__LABEL_VALUE_MAX + 1])
{
    enum { HASH_LEN = 16 };
    size_t len = strlen(value);
    if (len <= SONDE__LABEL_VALUE_MAX) {
        memcpy(out, value, len + 1);
        return false;
    }
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (uint8_t)value[i]) * 1099511628211u;
    size_t keep = SONDE__LABEL_VALUE_MAX - HASH_LEN - 1;
    while (keep > 0 && ((uint8_t)value[keep] & 0xc0) == 0x80)
        keep--;
    memcpy(out, value, keep);
    out[keep] = '~';
    sonde__id_to_hex(hash, out + keep + 1);
    out[keep + 1 + HASH_LEN] = '\0';
    return true;
}
