/* SPDX-License-Identifier: Apache-2.0 */
/* Between tasks and their telemetry. */
#ifndef SONDE_RECORD_TASK_TELEMETRY_HOOKS_H
#define SONDE_RECORD_TASK_TELEMETRY_HOOKS_H

#include "record/reading.h"
#include "sonde/task_telemetry.h"

/* Begins without a reading; ends with a given stamp (0: now). */
sonde_task sonde__task_begin_plain(sonde_name *activity);
void sonde__task_end_at(sonde_task task, sonde_task_status status, const char *error,
                        size_t error_len, uint64_t end_ticks);

/* Puts a reading that was taken before the task began into it. */
void sonde__reading_at_start(sonde_task task, const sonde__reading *reading);

void sonde__task_end_measured(sonde_task task, sonde_task_status status, const char *error,
                              size_t error_len, sonde_measure measure);

#endif
