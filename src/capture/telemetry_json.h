/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a reading as JSON, for those who put them together in another way. */
#ifndef SONDE_CAPTURE_TELEMETRY_JSON_H
#define SONDE_CAPTURE_TELEMETRY_JSON_H

#include "base/json_write.h"
#include "capture/telemetry.h"

/* "memory": {...}: the fields of one section, those of one object together. */
void sonde__telemetry_write_section(sonde__json *json, const sonde_telemetry *t,
                                    sonde_section section);

/* {"user": 1.0, ...}: the columns first to last that have a value. */
void sonde__telemetry_write_row(sonde__json *json, const sonde__row *row, sonde_field first,
                                sonde_field last);

/* "cpu.frequency": "absent", ...: why what was asked for is not there; into an open object. */
void sonde__telemetry_write_missing(sonde__json *json, const sonde_telemetry *t);

#endif
