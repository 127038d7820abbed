/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics and records as the bytes that other systems read. Encoders are pure: they open nothing,
   send nothing, and take what they show from a view (metrics) or a reader (tasks).

     sonde_metric_set_collect(set);
     sonde_view_begin(view, 0);
     sonde_view_add(view, &(sonde_view_source){.size = sizeof(sonde_view_source), .metrics = set});
     sonde_encode(view, SONDE_FORMAT_PROMETHEUS, NULL, &data, &len);

   The same works for this process (sonde_metric_set_collect), for another one
   (sonde_metric_set_read_pid), for the machine (sonde_metric_set_telemetry) and for a recorded
   session (sonde_reader_metrics), and for any number of them in one view. */
#ifndef SONDE_ENCODE_H
#define SONDE_ENCODE_H

#include "sonde/capture.h"
#include "sonde/metric_set.h"
#include "sonde/reader.h"
#include "sonde/snapshot.h"
#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, text, content type, metrics, records, summary): metrics: sonde_encode makes it; records:
   sonde_encode_records makes it. */
#define SONDE_FORMAT_MAP(X)                                                                        \
    X(PROMETHEUS, "prometheus", "text/plain; version=0.0.4; charset=utf-8", 1, 0,                  \
      "Prometheus text")                                                                           \
    X(OPENMETRICS, "openmetrics", "application/openmetrics-text; version=1.0.0; charset=utf-8", 1, \
      0, "OpenMetrics 1.0 text, with exemplars")                                                   \
    X(PROMETHEUS_PROTOBUF, "prometheus-protobuf",                                                  \
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "                 \
      "encoding=delimited",                                                                        \
      1, 0, "Prometheus protobuf, with native histograms")                                         \
    X(JSON, "json", "application/json", 1, 0, "the snapshot")                                      \
    X(OTLP_JSON, "otlp-json", "application/json", 1, 1, "OpenTelemetry as JSON")                   \
    X(OTLP, "otlp", "application/x-protobuf", 1, 1, "OpenTelemetry as protobuf")                   \
    X(JAEGER, "jaeger", "application/json", 0, 1, "Jaeger's JSON, as its UI loads it")             \
    X(SPANS, "spans", "application/json", 0, 1, "a list of spans in PyVeda's shape")               \
    X(STATSD, "statsd", "text/plain; charset=utf-8", 1, 0, "StatsD lines, labels in the names")    \
    X(DOGSTATSD, "dogstatsd", "text/plain; charset=utf-8", 1, 0, "DogStatsD lines, with tags")     \
    X(CLOUDWATCH, "cloudwatch", "application/json", 1, 0, "PutMetricData of Amazon CloudWatch")    \
    X(FLOWCEPT, "flowcept", "application/x-ndjson", 0, 1, "tasks as Flowcept's messages")          \
    X(CSV, "csv", "text/csv; charset=utf-8", 0, 1, "work packets as rows")

typedef enum sonde_format {
#define SONDE_FORMAT_ENUM(name, ...) SONDE_FORMAT_##name,
    SONDE_FORMAT_MAP(SONDE_FORMAT_ENUM)
#undef SONDE_FORMAT_ENUM
        SONDE_FORMAT_COUNT
} sonde_format;

typedef struct sonde_format_info {
    const char *name;
    const char *content_type;
    const char *summary;
    int metrics; /* not 0: sonde_encode makes it */
    int records; /* not 0: sonde_encode_records makes it */
} sonde_format_info;

/* Static storage; NULL when the number is out of range. Any thread. */
SONDE_API const sonde_format_info *sonde_format_describe(sonde_format format);

/* The format of that name. EINVAL: none; *out is untouched. Any thread. */
SONDE_API sonde_status sonde_format_parse(const char *name, sonde_format *out);

/* Which names metrics have. SONDE: as they were made, base units. PYVEDA: the snapshot in the names
   of PyVeda's guide, then the program's own metrics. */
typedef enum sonde_profile { SONDE_PROFILE_SONDE = 0, SONDE_PROFILE_PYVEDA = 1 } sonde_profile;

typedef struct sonde_encode_options {
    size_t size; /* sizeof(sonde_encode_options), set by the default */
    sonde_profile profile;
    uint64_t limit; /* records: at most so many; 0: all */
} sonde_encode_options;

#define SONDE_ENCODE_OPTIONS_DEFAULT                         \
    {                                                        \
        sizeof(sonde_encode_options), SONDE_PROFILE_SONDE, 0 \
    }

/* --- metrics --- */

/* What is encoded: the metrics of one or more sources at one moment. */
typedef struct sonde_view sonde_view;

/* One source: a process, the machine. Borrowed until the next sonde_view_begin. */
typedef struct sonde_view_source {
    size_t size;                     /* sizeof(sonde_view_source) */
    const sonde_metric_set *metrics; /* not NULL */
    const sonde_label *labels;       /* added to each of its series; a series that has such a key
                                        keeps its value under exported_KEY */
    size_t label_count;
    const sonde_label *resource; /* what it is, for OTLP: service.name, process.pid, ... */
    size_t resource_count;
    uint64_t run;           /* whose exemplars are its; 0: nobody's */
    uint64_t start_wall_ns; /* since when it counts; 0: not known */
} sonde_view_source;

/* NULL without memory. For one thread at a time. Memory is kept from one filling to the next: what
   labels look like in a format is worked out once for each series. */
SONDE_API sonde_view *sonde_view_create(void);
SONDE_API void sonde_view_destroy(sonde_view *view); /* NULL is allowed */

/* Empties the view. wall_ns: the moment its values are of; 0: now. Exemplars stay. */
SONDE_API void sonde_view_begin(sonde_view *view, uint64_t wall_ns);

/* Families are in the order they were added, series of one name together. Sources that share a
   name need labels that tell them apart. EINVAL, ENOMEM. */
SONDE_API sonde_status sonde_view_add(sonde_view *view, const sonde_view_source *source);

/* The snapshot to show. Without, it is computed from the sources' task metrics; throughput is then
   the mean since they began, and the machine's values come from a source made by
   sonde_metric_set_telemetry. Copied. */
SONDE_API void sonde_view_snapshot(sonde_view *view, const sonde_snapshot *snapshot);

/* The snapshot of the view: what was given, or is computed. ENOMEM. */
SONDE_API sonde_status sonde_view_snapshot_get(sonde_view *view, sonde_snapshot *out);

/* An ended task becomes the example of its latency's bucket, for its run and activity. The newest
   one of each bucket is kept; at most 4096. Other records are passed over. */
SONDE_API void sonde_view_exemplar(sonde_view *view, const sonde_record *record);

/* Series left out of the last encoding: their name is that of another kind of metric in an earlier
   source, or name and label keys are not such (a process's memory may hold anything). */
SONDE_API size_t sonde_view_skipped(const sonde_view *view);

/* *data is borrowed until the next call with this view. options NULL: the defaults. EINVAL: not a
   format of metrics; ENOMEM; ELIMIT: beyond 256 MiB. */
SONDE_API sonde_status sonde_encode(sonde_view *view, sonde_format format,
                                    const sonde_encode_options *options, const char **data,
                                    size_t *len);

/* The machine as metrics, in base units: sonde_host_cpu_seconds_total{cpu,mode},
   sonde_host_memory_bytes{kind}, ... What has no value is not there. Replaces what is in set. */
SONDE_API sonde_status sonde_metric_set_telemetry(sonde_metric_set *set,
                                                  const sonde_telemetry *telemetry);

/* --- records --- */

/* All that reader has, from where it stands, in pieces as large as the library likes. put returns 0
   to stop. Tasks become spans; the first and the last piece are never missing, so that what was put
   is a whole document. EINVAL: not a format of records; ENOMEM; EIO: put returned 0. */
SONDE_API sonde_status sonde_encode_records(sonde_reader *reader, sonde_format format,
                                            const sonde_encode_options *options,
                                            int (*put)(void *user, const char *data, size_t len),
                                            void *user);

#ifdef __cplusplus
}
#endif

#endif
