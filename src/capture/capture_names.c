/* SPDX-License-Identifier: Apache-2.0 */
/* Names of types and levels as users write them. */
#include "sonde/capture.h"

#include <string.h>

static unsigned type_of_name(const char *name, size_t len)
{
#define MATCH(type, bit, setting, section)                             \
    if ((strlen(setting) == len && memcmp(name, setting, len) == 0) || \
        (strlen(section) == len && memcmp(name, section, len) == 0))   \
        return bit;
    SONDE_CAPTURE_TYPE_MAP(MATCH)
#undef MATCH
    return 0;
}

sonde_status sonde_capture_types_parse(const char *list, unsigned *types, const char **bad,
                                       size_t *bad_len)
{
    unsigned found = 0;
    for (const char *at = list;;) {
        size_t len = strcspn(at, ",");
        unsigned type = type_of_name(at, len);
        if (type == 0) {
            *bad = at;
            *bad_len = len;
            return SONDE_EINVAL;
        }
        found |= type;
        if (at[len] == '\0')
            break;
        at += len + 1;
    }
    *types = found;
    return SONDE_OK;
}

const char *sonde_level_name(sonde_level level)
{
    switch (level) {
#define CASE(name, key)      \
    case SONDE_LEVEL_##name: \
        return key;
        SONDE_LEVEL_MAP(CASE)
#undef CASE
    case SONDE_LEVEL_COUNT:
        break;
    }
    return NULL;
}

sonde_status sonde_level_parse(const char *text, sonde_level *level)
{
    for (unsigned i = 0; i < SONDE_LEVEL_COUNT; i++) {
        if (strcmp(text, sonde_level_name((sonde_level)i)) == 0) {
            *level = (sonde_level)i;
            return SONDE_OK;
        }
    }
    return SONDE_EINVAL;
}
