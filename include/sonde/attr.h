/* SPDX-License-Identifier: Apache-2.0 */
/* Typed values attached to tasks and workflows, as they are given and as they are read back. */
#ifndef SONDE_ATTR_H
#define SONDE_ATTR_H

#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a value says about a task. Numbers are part of the journal format. */
typedef enum sonde_group {
    SONDE_USED = 0,      /* inputs, Flowcept's `used` */
    SONDE_GENERATED = 1, /* outputs, `generated` */
    SONDE_METADATA = 2,  /* the rest, `custom_metadata` */
    SONDE_GROUP_COUNT = 3
} sonde_group;

typedef enum sonde_attr_type {
    SONDE_ATTR_INT = 1,
    SONDE_ATTR_UINT = 2,
    SONDE_ATTR_DOUBLE = 3,
    SONDE_ATTR_BOOL = 4,
    SONDE_ATTR_STRING = 5, /* UTF-8 is expected, not enforced */
    SONDE_ATTR_BYTES = 6,
    SONDE_ATTR_JSON = 7, /* one JSON value as text */
} sonde_attr_type;

typedef struct sonde_attr {
    sonde_group group;
    sonde_attr_type type;
    const char *key; /* key_len bytes; given by the caller: 0 means up to the NUL */
    size_t key_len;
    union {
        int64_t i;
        uint64_t u;
        double d;
        int b;
        struct {
            const char *data; /* STRING, BYTES, JSON */
            size_t len;       /* bytes that are here */
            size_t full_len;  /* bytes that were given; larger than len when it was cut */
        } s;
    } value;
} sonde_attr;

#ifdef __cplusplus
}
#endif

#endif
