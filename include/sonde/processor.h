/* SPDX-License-Identifier: Apache-2.0 */
/* From usage records to metrics: builders say what a record adds, a processor runs them and applies
   the whole, or nothing.

     sonde_processor *processor;
     sonde_usage *usage;
     sonde_processor_create(NULL, &processor, NULL);
     sonde_usage_create(0, &usage);
     sonde_processor_process_json(processor, usage, json, len, NULL, &error); */
#ifndef SONDE_PROCESSOR_H
#define SONDE_PROCESSOR_H

#include "sonde/attributes.h"
#include "sonde/status.h"
#include "sonde/usage_metrics.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SONDE_BUILDERS_MAX = 32,            /* in a processor */
    SONDE_PROCESSOR_UPDATES_MAX = 65536 /* of one record, by all builders */
};

/* What the builders of one record have said so far. */
typedef struct sonde_updates sonde_updates;

typedef enum sonde_aggregation {
    SONDE_AGGREGATE_SUM,
    SONDE_AGGREGATE_MAX,
    SONDE_AGGREGATE_LAST,
} sonde_aggregation;

/* Adds count to a metric. */
SONDE_API void sonde_updates_count(sonde_updates *updates, const char *metric, int64_t count);

/* Adds value to a metric, or keeps the greatest, or the last. NaN and infinity fail the record. */
SONDE_API void sonde_updates_value(sonde_updates *updates, const char *metric,
                                   sonde_aggregation aggregation, double value);

/* Says why a builder fails, in a few words; returns status. */
SONDE_API sonde_status sonde_updates_fail(sonde_updates *updates, sonde_status status,
                                          const char *reason);

/* Builders get both times filled in. To a processor a time with year 0 is one to fill in: the clock
   for now; the map's last_updated, or now when it has none, for previous. */
typedef struct sonde_build_context {
    sonde_datetime now;
    sonde_datetime previous; /* the update before this one */
} sonde_build_context;

/* A kind of metric: one function. */
typedef struct sonde_builder {
    const char *name;
    const char *after; /* a builder that has to run before this one; NULL: any order */
    /* Says what data adds. Anything but SONDE_OK fails the record: nothing of it is counted. Called
       with the processor locked: it must not call the processor. */
    sonde_status (*build)(void *user, const sonde_data *data, const sonde_build_context *context,
                          sonde_updates *updates);
    void *user;
} sonde_builder;

/* "legacy", "comprehensive", "time", "labeled"; NULL: no such builder. Static storage. */
SONDE_API const sonde_builder *sonde_builder_named(const char *name);

/* The index-th built-in builder, NULL beyond the last. */
SONDE_API const sonde_builder *sonde_builder_get(size_t index);

/* Runs one builder alone; last_updated stays. context NULL: the clock. */
SONDE_API sonde_status sonde_builder_build(const sonde_builder *builder, const sonde_data *data,
                                           const sonde_build_context *context, sonde_usage *usage,
                                           sonde_attributes_error *error);

typedef struct sonde_processor sonde_processor;

typedef struct sonde_processor_options {
    size_t size;                          /* sizeof(sonde_processor_options) */
    sonde_attributes *attributes;         /* borrowed; NULL: the built-in ones */
    const sonde_builder *const *builders; /* NULL-terminated; NULL: legacy, comprehensive, time */
} sonde_processor_options;

#define SONDE_PROCESSOR_OPTIONS_DEFAULT             \
    {                                               \
        sizeof(sonde_processor_options), NULL, NULL \
    }

/* options NULL: the defaults. Builders are copied. EINVAL with the reason in error (may be NULL): a
   builder twice, an `after` that does not exist or goes in a circle, or an attribute that a builder
   needs and the table does not have. Any number of threads may use the processor. */
SONDE_API sonde_status sonde_processor_create(const sonde_processor_options *options,
                                              sonde_processor **out, sonde_attributes_error *error);

/* NULL is allowed. */
SONDE_API void sonde_processor_destroy(sonde_processor *processor);

/* Adds a builder behind the others, or where its `after` asks for. EINVAL, ELIMIT. */
SONDE_API sonde_status sonde_processor_add_builder(sonde_processor *processor,
                                                   const sonde_builder *builder,
                                                   sonde_attributes_error *error);

/* The name of the index-th builder in running order, NULL beyond the last. Borrowed. */
SONDE_API const char *sonde_processor_builder(const sonde_processor *processor, size_t index);

/* The table of the processor, for sonde_data_create. */
SONDE_API sonde_attributes *sonde_processor_attributes(const sonde_processor *processor);

/* Counts one record, wholly or not at all; in error (may be NULL) the builder that failed and why.
   context NULL: the clock. data must be of the processor's table (EINVAL). */
SONDE_API sonde_status sonde_processor_process(sonde_processor *processor, sonde_usage *usage,
                                               const sonde_data *data,
                                               const sonde_build_context *context,
                                               sonde_attributes_error *error);

/* The same from JSON text, one object. */
SONDE_API sonde_status sonde_processor_process_json(sonde_processor *processor, sonde_usage *usage,
                                                    const char *json, size_t len,
                                                    const sonde_build_context *context,
                                                    sonde_attributes_error *error);

/* The same for many records; *counted says how many were. Stops at the first that fails, which
   error then names by its number from 0. */
SONDE_API sonde_status sonde_processor_process_batch(sonde_processor *processor, sonde_usage *usage,
                                                     const sonde_data *const *records, size_t count,
                                                     const sonde_build_context *context,
                                                     size_t *counted,
                                                     sonde_attributes_error *error);

/* The processor that settings ask for: their table of attributes and attributes.builders. Destroy
   both, the processor first. EINVAL and ELIMIT with file and reason in error (may be NULL), ENOMEM.
 */
struct sonde_settings;
SONDE_API sonde_status sonde_processor_from_settings(const struct sonde_settings *settings,
                                                     unsigned flags, sonde_attributes **table,
                                                     sonde_processor **out,
                                                     sonde_attributes_error *error);

/* Counts each finished workflow of a session that Sonde recorded (path: X.sonde): its name is the
   action, FINISHED the success, its duration the time; other attributes by their raw key among the
   workflow's. Those still running are not counted, nor is a session that this map (or the file
   behind it) has counted before. *counted says how many were; stops at the first that is refused.
   Failures of reading are those of sonde_reader_open. With attributes.enabled: true in the
   settings, a process that opened a session counts it when it closes it, into DIR/usage.metrics. */
SONDE_API sonde_status sonde_processor_process_session(sonde_processor *processor,
                                                       sonde_usage *usage, const char *path,
                                                       const sonde_build_context *context,
                                                       size_t *counted,
                                                       sonde_attributes_error *error);

#ifdef __cplusplus
}
#endif

#endif
