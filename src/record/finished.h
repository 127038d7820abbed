/* SPDX-License-Identifier: Apache-2.0 */
/* What has to be kept of a workflow from its beginning for whoever is told of its end. */
#ifndef SONDE_RECORD_FINISHED_H
#define SONDE_RECORD_FINISHED_H

#include "sonde/reader.h"
#include "sonde/session.h"

typedef struct sonde__finished {
    char *settings; /* absolute path; NULL: nobody wants to know */
    sonde_attr *attrs;
    size_t attr_count;
    uint64_t started_wall_ns;
} sonde__finished;

/* At the beginning: copies. Without memory nothing is kept. */
void sonde__finished_keep(sonde__finished *kept, const char *settings, const sonde_attr *attrs,
                          size_t count);

/* At the end, outside of all locks: tells, with the attributes given now behind those kept, and
   frees. */
void sonde__finished_tell(sonde__finished *kept, sonde_run *run, const char *dir,
                          const sonde_attr *attrs, size_t count);
void sonde__finished_free(sonde__finished *kept);

#endif
