/* SPDX-License-Identifier: Apache-2.0 */
/* The encoders, one file each; encode.c has the table. */
#ifndef SONDE_VIEW_VIEW_FORMATS_H
#define SONDE_VIEW_VIEW_FORMATS_H

#include "view/view_model.h"

/* A view that is planned into out; failures are the buffer's. */
typedef void sonde__encode_metrics(sonde_view *view, const sonde_encode_options *options,
                                   sonde__buf *out);

sonde__encode_metrics sonde__encode_prometheus;
sonde__encode_metrics sonde__encode_openmetrics;
sonde__encode_metrics sonde__encode_prometheus_protobuf;
sonde__encode_metrics sonde__encode_json;
sonde__encode_metrics sonde__encode_otlp_metrics;
sonde__encode_metrics sonde__encode_otlp_metrics_json;
sonde__encode_metrics sonde__encode_statsd;
sonde__encode_metrics sonde__encode_dogstatsd;
sonde__encode_metrics sonde__encode_cloudwatch;

/* Records one after the other, into out. What is needed in between is in the writer. */
typedef struct sonde__span_writer {
    sonde__buf *out;
    sonde_reader *reader;
    uint64_t count;         /* records written */
    const sonde_run *group; /* whose spans are being written; NULL: nobody's */
    size_t scope_at;        /* protobuf: where the lengths of open messages stand */
    size_t resource_at;
    void *state; /* the format's; freed by end */
} sonde__span_writer;

typedef struct sonde__span_format {
    void (*begin)(sonde__span_writer *writer);
    void (*record)(sonde__span_writer *writer, const sonde_record *record);
    void (*pause)(sonde__span_writer *writer); /* out will be emptied; NULL: nothing to do */
    void (*end)(sonde__span_writer *writer);
} sonde__span_format;

extern const sonde__span_format sonde__spans_otlp;
extern const sonde__span_format sonde__spans_otlp_json;
extern const sonde__span_format sonde__spans_jaeger;
extern const sonde__span_format sonde__spans_pyveda;
extern const sonde__span_format sonde__spans_flowcept;
extern const sonde__span_format sonde__spans_csv;

/* A record that is a span: an ended task, or one that was open when its process ended. */
static inline bool sonde__is_span(const sonde_record *record)
{
    return record->kind == SONDE_RECORD_TASK || record->kind == SONDE_RECORD_OPEN;
}

#endif
