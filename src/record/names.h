/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the process: text to number, once. Numbers are the same in every segment of the
   process and its forked children, so a static sonde_name never goes stale. */
#ifndef SONDE_RECORD_NAMES_H
#define SONDE_RECORD_NAMES_H

#include "record/segment.h"
#include "sonde/name.h"

/* The number of a name, resolving it when need be (a lock and a hash). Never 0. */
uint32_t sonde__name_resolve(sonde_name *name);

static inline uint32_t sonde__name_id(sonde_name *name)
{
    uint32_t id = __atomic_load_n(&name->id, __ATOMIC_RELAXED);
    return __builtin_expect(id != 0, 1) ? id : sonde__name_resolve(name);
}

/* From now on names are mirrored into this segment (NULL: into none); those known already first. */
void sonde__names_attach(sonde__segment *segment);

/* Names refused because there were too many. */
uint64_t sonde__names_over(void);

/* In a forked child, before anything else: the lock may have been held. */
void sonde__names_after_fork(void);

#endif
