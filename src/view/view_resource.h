/* SPDX-License-Identifier: Apache-2.0 */
/* What OTLP and Jaeger say about where a span or a series comes from, and about a span beside its
   own fields: the same attributes in every format. */
#ifndef SONDE_VIEW_VIEW_RESOURCE_H
#define SONDE_VIEW_VIEW_RESOURCE_H

#include "sonde/encode.h"

typedef void sonde__each_attr(void *user, const char *prefix, const sonde_attr *attr);

/* service.name, service.instance.id, host.name, process.pid, telemetry.sdk.*, sonde.session. */
void sonde__resource_of_run(const sonde_run *run, sonde__each_attr *each, void *user);
const char *sonde__service_name(const sonde_run *run);

/* Labels of a source as attributes; numbers in process.pid. */
void sonde__resource_of_source(const sonde_view_source *source, sonde__each_attr *each, void *user);

/* The attributes of a task: its own (a key that an earlier group has, too, comes with the group's
   name before it), then sonde.device, .worker, .subtype, .group, .layer, .status, .queue_seconds,
   .usage.*. Tags are apart: sonde.tags is a list. */
void sonde__span_attributes(const sonde_record *record, sonde__each_attr *each, void *user);

/* OTLP's number of the kind: what an attribute span.kind says; CONSUMER for queued work; else
   INTERNAL. And its name, as Jaeger has it. */
unsigned sonde__span_kind(const sonde_record *record);
const char *sonde__span_kind_name(unsigned kind);

/* When the span ended; of one that was open, when its process did. */
uint64_t sonde__span_end(const sonde_record *record);

#endif
