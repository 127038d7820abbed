/* SPDX-License-Identifier: Apache-2.0 */
/* What tasks cost the machine: readings at their start and end, and samples in between. By settings
   (sonde_options: telemetry_start, telemetry_end) for every task, or by these calls for one. A
   reading is taken before a task's time begins and after it has ended: the recorded duration is the
   task's own. */
#ifndef SONDE_TASK_TELEMETRY_H
#define SONDE_TASK_TELEMETRY_H

#include "sonde/capture.h"
#include "sonde/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How much is read; the levels of sonde_level, and none. */
typedef enum sonde_measure {
    SONDE_MEASURE_OFF = 0,
    SONDE_MEASURE_LIGHT = 1,
    SONDE_MEASURE_REGULAR = 2,
    SONDE_MEASURE_FULL = 3,
} sonde_measure;

/* Begins and ends a task as sonde_task_begin and sonde_task_end_with do, with a reading. */
SONDE_API sonde_task sonde_task_begin_measured(sonde_name *activity, sonde_measure measure);
SONDE_API void sonde_task_end_measured(sonde_task task, sonde_task_status status, const char *error,
                                       sonde_measure measure);

/* A reading now, inside a task; its cost is inside, too. */
SONDE_API void sonde_task_measure(sonde_task task, sonde_measure measure);

/* Records one of every n tasks begun by this name object; the others are counted (with their
   failures), not recorded. 0 and 1: all. Set it before the name is used. */
SONDE_API void sonde_name_sample(sonde_name *activity, uint32_t every);

#ifdef __cplusplus
}
#endif

#endif
