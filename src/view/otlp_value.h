/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes and resources of OpenTelemetry, as protobuf and as JSON (in protobuf's mapping: 64-bit
   integers as text, bytes as base64). */
#ifndef SONDE_VIEW_OTLP_VALUE_H
#define SONDE_VIEW_OTLP_VALUE_H

#include "base/json_write.h"
#include "view/view_resource.h"

/* A KeyValue under this field number. */
void sonde__otlp_attr(sonde__buf *out, unsigned field, const char *prefix, const sonde_attr *attr);
void sonde__otlp_json_attr(sonde__json *json, const char *prefix, const sonde_attr *attr);

/* sonde__each_attr: into a buffer, under field 1 (attributes of a resource); into JSON. */
void sonde__otlp_resource_attr(void *buf, const char *prefix, const sonde_attr *attr);
void sonde__otlp_json_each(void *json, const char *prefix, const sonde_attr *attr);

/* InstrumentationScope of ours. */
void sonde__otlp_scope(sonde__buf *out);
void sonde__otlp_json_scope(sonde__json *json);

/* A 64-bit number as protobuf's JSON has it: text. */
void sonde__otlp_json_uint(sonde__json *json, uint64_t value);
void sonde__otlp_json_int(sonde__json *json, int64_t value);
void sonde__otlp_json_double(sonde__json *json, double value); /* "NaN", "Infinity" as text */

#endif
