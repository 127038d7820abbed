/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_RECORD_RECOVER_H
#define SONDE_RECORD_RECOVER_H

#include "base/buf.h"
#include "record/segment_image.h"
#include "sonde/reader.h"

/* Finishes what the process of the segment at path left: what its rings hold goes into its journal,
   then the segment is removed. out tells how it went. Only this user's segments. A segment whose
   journal was deleted is removed; gone_too: also when the journal's folder is not there. */
sonde_status sonde__recover_segment(const char *path, bool gone_too, sonde_recovery *out);

/* What a segment holds beyond its journal, as frames in memory: for live processes, and where the
   journal cannot be written. dead: with an end of the run. */
sonde_status sonde__segment_frames(const sonde__segment_image *image, bool dead, sonde__buf *out);

#endif
