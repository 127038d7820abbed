/* SPDX-License-Identifier: Apache-2.0 */
/* Ids as JSON formats of spans have them: hex. */
#ifndef SONDE_VIEW_SPAN_JSON_H
#define SONDE_VIEW_SPAN_JSON_H

#include "base/ids.h"
#include "base/json_write.h"

static inline void sonde__json_span_id(sonde__json *json, const char *key, uint64_t id)
{
    char hex[16];
    sonde__id_to_hex(id, hex);
    sonde__json_key(json, key);
    sonde__json_string_n(json, hex, sizeof hex);
}

static inline void sonde__json_trace_id(sonde__json *json, const char *key, uint64_t hi,
                                        uint64_t lo)
{
    char hex[32];
    sonde__id_to_hex(hi, hex);
    sonde__id_to_hex(lo, hex + 16);
    sonde__json_key(json, key);
    sonde__json_string_n(json, hex, sizeof hex);
}

#endif
