/* SPDX-License-Identifier: Apache-2.0 */
/* Records in Flowcept's task and workflow shape. */
#ifndef SONDE_VIEW_FLOWCEPT_JSON_H
#define SONDE_VIEW_FLOWCEPT_JSON_H

#include "base/buf.h"
#include "sonde/reader.h"

/* Appends one JSON object and a newline. Tasks (ended, open, submitted) have type "task"; the
   beginning and the end of a process's recording type "workflow"; lost records type "loss", which
   Flowcept does not have. Keys of ours are under one key, "sonde". */
void sonde__flowcept_json(const sonde_record *record, sonde__buf *out);

#endif
