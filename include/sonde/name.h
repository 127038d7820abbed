/* SPDX-License-Identifier: Apache-2.0 */
/* Names of activities and attribute keys: resolved once, then a number on the hot path. */
#ifndef SONDE_NAME_H
#define SONDE_NAME_H

#include "sonde/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Text must live as long as the process (a literal); id is the library's. The first use resolves
   the text (a lock, a hash), every later use reads id. A name may be used by all threads at once,
   stays valid across fork and from session to session. Longer than 255 bytes: cut; beyond 8192
   different names: "(too many names)", counted. */
typedef struct sonde_name {
    const char *text;
    uint32_t id;
    uint32_t reserved;
} sonde_name;

#define SONDE_NAME_INIT(literal) \
    {                            \
        (literal), 0, 0          \
    }

/* A name with static storage, made where it is used: SONDE_NAME("train"). For literals only. */
#define SONDE_NAME(literal)                                           \
    (__extension__({                                                  \
        static sonde_name sonde_name_here = SONDE_NAME_INIT(literal); \
        &sonde_name_here;                                             \
    }))

/* The name for a text that is known at run time only; the text is copied. One lock and one hash
   per call, so keep the result. Borrowed, until the process ends. Never NULL. */
SONDE_API sonde_name *sonde_name_get(const char *text);

#ifdef __cplusplus
}
#endif

#endif
