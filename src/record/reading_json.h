/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of tasks as JSON. */
#ifndef SONDE_RECORD_READING_JSON_H
#define SONDE_RECORD_READING_JSON_H

#include "base/json_write.h"
#include "sonde/reader.h"

/* One reading in capture's shape. False, with null written, when its bytes are damaged. */
bool sonde__reading_json(const void *bytes, size_t len, sonde__json *json);

/* Flowcept's telemetry_summary: differences between the two readings of a task; for the process
   too. Writes the key and the object when the record has both. */
void sonde__reading_summary(const sonde_record *record, sonde__json *json);

#endif
