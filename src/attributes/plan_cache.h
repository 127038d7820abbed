/* SPDX-License-Identifier: Apache-2.0 */
/* Records that say the same (but for their time) update the same metrics. The cache remembers, for
   the latest such combinations, which cells those are: then no name is composed or looked up.
   Bounded: SONDE__PLANS_MAX plans, about 600 bytes each. */
#ifndef SONDE_ATTRIBUTES_PLAN_CACHE_H
#define SONDE_ATTRIBUTES_PLAN_CACHE_H

#include "attributes/usage_apply.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SONDE__PLANS_MAX = 16384,
    SONDE__PLAN_IDENTITY_MAX = 2048, /* bytes; longer records are not remembered */
    SONDE__PLAN_UPDATES_MAX = 64,    /* nor are those with more metrics */
};

typedef struct sonde__plan_place {
    uint64_t hash;
    struct sonde__plan *plan;
} sonde__plan_place;

typedef struct sonde__plan_cache {
    sonde__plan_place *places; /* by hash; NULL until the first plan */
    sonde__buf identity;       /* of the record at hand */
    uint64_t hash;
    uint64_t seed;
    unsigned victim; /* the place in a full set that goes next */
} sonde__plan_cache;

void sonde__plan_cache_init(sonde__plan_cache *cache);
void sonde__plan_cache_free(sonde__plan_cache *cache);

/* Applies a remembered plan and counts the record. False: there is none for it; the record was not
   counted, and its identity is kept for remember. */
bool sonde__plan_cache_apply(sonde__plan_cache *cache, sonde_usage *usage, const sonde_data *data,
                             const sonde__application *how);

/* Remembers where the updates of the record last asked for went, when it comes for the second time:
   records that come once leave no more than a note. Without memory it does not. */
void sonde__plan_cache_remember(sonde__plan_cache *cache, const sonde_updates *updates);

#endif
