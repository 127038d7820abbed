/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_RECORD_SNAPSHOT_JSON_H
#define SONDE_RECORD_SNAPSHOT_JSON_H

#include "base/json_write.h"
#include "sonde/snapshot.h"

/* One snapshot as an object, wherever the writer is. */
void sonde__snapshot_json(const sonde_snapshot *snapshot, sonde__json *json);

#endif
