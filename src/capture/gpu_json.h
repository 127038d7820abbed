/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of a reading as JSON: Flowcept's metrics in a section of their own, Sonde's below the
   key "sonde", reasons among the missing. Each writes nothing when there is nothing. */
#ifndef SONDE_CAPTURE_GPU_JSON_H
#define SONDE_CAPTURE_GPU_JSON_H

#include "base/json_write.h"
#include "capture/telemetry.h"

/* "gpu": {"gpu_0": {...}} */
void sonde__gpu_write_section(sonde__json *json, const sonde_telemetry *t);

/* "gpu": {"gpu_0": {...}} with what Flowcept does not have. */
void sonde__gpu_write_own(sonde__json *json, const sonde_telemetry *t);

/* "gpu.gpu_0.activity.mm_activity": "unsupported" */
void sonde__gpu_write_missing(sonde__json *json, const sonde_telemetry *t);

#endif
