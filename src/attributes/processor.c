/* SPDX-License-Identifier: Apache-2.0 */
/* A record goes through extraction (validate), the builders (compute) and the map (apply), in that
   order, and only the last changes anything. One lock per processor covers what is kept from record
   to record: the record read from JSON, the updates, the plans. */
#include "sonde/processor.h"
#include "attributes/attribute_table.h"
#include "attributes/builders.h"
#include "attributes/plan_cache.h"
#include "attributes/usage_apply.h"

#include <stdlib.h>
#include <string.h>

struct sonde_processor {
    pthread_mutex_t lock;
    sonde_attributes *attributes;
    sonde_builder builders[SONDE_BUILDERS_MAX];
    size_t builder_count;
    bool plannable; /* all builders are built-in: plans hold */
    sonde_data *data;
    sonde_updates updates;
    sonde__plan_cache plans;
};

static sonde_status fail_record(sonde_attributes_error *error, const sonde_updates *updates,
                                const char *builder, sonde_status status)
{
    return sonde__attributes_complain(error, status, "builder %s: %s", builder,
                                      updates->reason[0] ? updates->reason
                                                         : sonde_status_text(status));
}

/* The metric that an update could not be applied to, and why. */
static sonde_status fail_update(sonde_attributes_error *error, const sonde_updates *updates,
                                const sonde__update *bad, sonde_status status)
{
    int shown = bad->key_len < 100 ? (int)bad->key_len : 100;
    const char *reason = status == SONDE_EBADDATA ? "is not a number; remove it or rename it"
                         : status == SONDE_EINVAL ? "is aggregated in two ways"
                                                  : sonde_status_text(status);
    return sonde__attributes_complain(error, status, "metric %.*s %s", shown,
                                      updates->keys.data + bad->key, reason);
}

static sonde_status run_builders(const sonde_builder *builders, size_t count,
                                 const sonde_data *data, const sonde_build_context *context,
                                 sonde_updates *updates, sonde_attributes_error *error)
{
    sonde__updates_clear(updates);
    for (size_t i = 0; i < count; i++) {
        sonde_status status = builders[i].build(builders[i].user, data, context, updates);
        if (status == SONDE_OK)
            status = updates->status;
        if (status != SONDE_OK)
            return fail_record(error, updates, builders[i].name, status);
    }
    return SONDE_OK;
}

/* Fills in the times that were not given. */
static sonde_build_context complete(const sonde_build_context *given, const sonde_usage *usage)
{
    sonde_build_context context = given ? *given : (sonde_build_context){.now.year = 0};
    if (context.now.year == 0)
        sonde_datetime_now(&context.now);
    if (context.previous.year == 0 &&
        sonde_usage_last_updated(usage, &context.previous) != SONDE_OK)
        context.previous = context.now;
    return context;
}

/* Runs builders and applies what they say. */
static sonde_status build(const sonde_builder *builders, size_t count, const sonde_data *data,
                          const sonde_build_context *given, sonde_usage *usage,
                          const sonde__application *how, sonde_updates *updates,
                          sonde_attributes_error *error)
{
    sonde_build_context context = complete(given, usage);
    sonde_status status = run_builders(builders, count, data, &context, updates, error);
    if (status != SONDE_OK && !how->compat)
        return status;
    const sonde__update *bad = NULL;
    sonde__application partial = *how;
    partial.alone |= status != SONDE_OK;
    sonde_status applied = sonde__usage_apply(usage, updates, &partial, &bad);
    if (status == SONDE_OK && applied != SONDE_OK)
        return fail_update(error, updates, bad, applied);
    return status;
}

/* How to apply: the clock is asked here when no time was given. */
static sonde__application application_of(const sonde_data *data, const sonde_build_context *context)
{
    sonde__application how = {.compat = data->table->compat};
    sonde__data_time(data, &how.time);
    if (context)
        how.previous = context->previous;
    if (context && context->now.year != 0)
        how.now = context->now;
    else
        sonde_datetime_now(&how.now);
    return how;
}

sonde_status sonde_builder_build(const sonde_builder *builder, const sonde_data *data,
                                 const sonde_build_context *context, sonde_usage *usage,
                                 sonde_attributes_error *error)
{
    sonde_status status = sonde__builder_check(builder, data->table, error);
    if (status != SONDE_OK)
        return status;
    sonde_updates updates;
    sonde__application how = application_of(data, context);
    how.alone = true;
    sonde__updates_init(&updates);
    status = build(builder, 1, data, context, usage, &how, &updates, error);
    sonde__updates_free(&updates);
    return status;
}

static sonde_status process(sonde_processor *processor, sonde_usage *usage, const sonde_data *data,
                            const sonde_build_context *context, sonde_attributes_error *error)
{
    const sonde__application how = application_of(data, context);
    bool plannable = processor->plannable && !how.compat;
    if (plannable && sonde__plan_cache_apply(&processor->plans, usage, data, &how))
        return SONDE_OK;
    sonde_status status = build(processor->builders, processor->builder_count, data, context, usage,
                                &how, &processor->updates, error);
    if (plannable && status == SONDE_OK)
        sonde__plan_cache_remember(&processor->plans, &processor->updates);
    return status;
}

sonde_status sonde_processor_process(sonde_processor *processor, sonde_usage *usage,
                                     const sonde_data *data, const sonde_build_context *context,
                                     sonde_attributes_error *error)
{
    if (data->table != processor->attributes)
        return sonde__attributes_complain(error, SONDE_EINVAL,
                                          "the record is of another table of attributes");
    pthread_mutex_lock(&processor->lock);
    sonde_status status = process(processor, usage, data, context, error);
    pthread_mutex_unlock(&processor->lock);
    return status;
}

sonde_status sonde_processor_process_json(sonde_processor *processor, sonde_usage *usage,
                                          const char *json, size_t len,
                                          const sonde_build_context *context,
                                          sonde_attributes_error *error)
{
    pthread_mutex_lock(&processor->lock);
    sonde_status status = sonde_extract_telemetry_data(processor->data, json, len, error);
    if (status == SONDE_OK)
        status = process(processor, usage, processor->data, context, error);
    pthread_mutex_unlock(&processor->lock);
    return status;
}

sonde_status sonde_processor_process_batch(sonde_processor *processor, sonde_usage *usage,
                                           const sonde_data *const *records, size_t count,
                                           const sonde_build_context *context, size_t *counted,
                                           sonde_attributes_error *error)
{
    sonde_status status = SONDE_OK;
    size_t done = 0;
    while (done < count && status == SONDE_OK) {
        sonde_attributes_error why = {""};
        status = sonde_processor_process(processor, usage, records[done], context, &why);
        if (status == SONDE_OK)
            done++;
        else
            sonde__attributes_complain(error, status, "record %zu: %.290s", done, why.text);
    }
    *counted = done;
    return status;
}

/* Where a builder goes so that its `after` and those that name it are obeyed: behind all others, or
   before the first that has to run after it. */
static sonde_status place_builder(const sonde_processor *processor, const sonde_builder *builder,
                                  size_t *place, sonde_attributes_error *error)
{
    size_t least = 0;
    size_t most = processor->builder_count;
    bool found = builder->after == NULL;
    for (size_t i = 0; i < processor->builder_count; i++) {
        const sonde_builder *other = &processor->builders[i];
        if (strcmp(other->name, builder->name) == 0)
            return sonde__attributes_complain(error, SONDE_EINVAL,
                                              "there are two builders named %s", builder->name);
        if (builder->after && strcmp(other->name, builder->after) == 0) {
            least = i + 1;
            found = true;
        }
        if (most == processor->builder_count && other->after &&
            strcmp(other->after, builder->name) == 0)
            most = i;
    }
    if (!found)
        return sonde__attributes_complain(error, SONDE_EINVAL,
                                          "builder %s is to run after %s, which is not there",
                                          builder->name, builder->after);
    if (least > most)
        return sonde__attributes_complain(error, SONDE_EINVAL,
                                          "builder %s is to run after %s, which waits for it",
                                          builder->name, builder->after);
    *place = most;
    return SONDE_OK;
}

static sonde_status add_builder(sonde_processor *processor, const sonde_builder *builder,
                                sonde_attributes_error *error)
{
    sonde_status status = sonde__builder_check(builder, processor->attributes, error);
    size_t place = 0;
    if (status == SONDE_OK)
        status = place_builder(processor, builder, &place, error);
    if (status != SONDE_OK)
        return status;
    if (processor->builder_count == SONDE_BUILDERS_MAX)
        return sonde__attributes_complain(error, SONDE_ELIMIT, "more than %d builders",
                                          (int)SONDE_BUILDERS_MAX);
    memmove(&processor->builders[place + 1], &processor->builders[place],
            (processor->builder_count - place) * sizeof processor->builders[0]);
    processor->builders[place] = *builder;
    processor->builder_count++;
    processor->plannable = processor->plannable && sonde__builtin_of(builder) != NULL;
    return SONDE_OK;
}

/* Adds builders that wait for none, then those whose turn has come, until none is left. */
static sonde_status add_all(sonde_processor *processor, const sonde_builder *const *builders,
                            sonde_attributes_error *error)
{
    bool added[SONDE_BUILDERS_MAX] = {false};
    size_t count = 0;
    while (builders[count])
        count++;
    if (count > SONDE_BUILDERS_MAX)
        return sonde__attributes_complain(error, SONDE_ELIMIT, "more than %d builders",
                                          (int)SONDE_BUILDERS_MAX);
    for (size_t left = count; left > 0;) {
        size_t before = left;
        sonde_status failed = SONDE_OK; /* for the first of those that do not go in this time */
        for (size_t i = 0; i < count; i++) {
            if (added[i])
                continue;
            sonde_status status =
                add_builder(processor, builders[i], failed == SONDE_OK ? error : NULL);
            added[i] = status == SONDE_OK;
            left -= added[i];
            failed = failed == SONDE_OK ? status : failed;
        }
        if (left == before)
            return failed;
    }
    return SONDE_OK;
}

static const sonde_builder *const default_builders[] = {
    &sonde__builder_legacy.builder,
    &sonde__builder_comprehensive.builder,
    &sonde__builder_time.builder,
    NULL,
};

sonde_status sonde_processor_create(const sonde_processor_options *options, sonde_processor **out,
                                    sonde_attributes_error *error)
{
    const sonde_processor_options standard = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    options = options ? options : &standard;
    if (options->size != sizeof *options)
        return sonde__attributes_complain(error, SONDE_EINVAL, "options of another size");
    sonde_processor *processor = calloc(1, sizeof *processor);
    sonde_attributes *attributes =
        options->attributes ? options->attributes : sonde__attributes_builtin();
    if (!processor || !attributes) {
        free(processor);
        return sonde__attributes_complain(error, SONDE_ENOMEM, "out of memory");
    }
    pthread_mutex_init(&processor->lock, NULL);
    processor->attributes = attributes;
    processor->plannable = true;
    sonde__updates_init(&processor->updates);
    sonde__plan_cache_init(&processor->plans);
    sonde_status status = sonde_data_create(attributes, &processor->data);
    if (status == SONDE_OK)
        status =
            add_all(processor, options->builders ? options->builders : default_builders, error);
    if (status != SONDE_OK) {
        sonde_processor_destroy(processor);
        return status;
    }
    *out = processor;
    return SONDE_OK;
}

void sonde_processor_destroy(sonde_processor *processor)
{
    if (!processor)
        return;
    sonde_data_destroy(processor->data);
    sonde__updates_free(&processor->updates);
    sonde__plan_cache_free(&processor->plans);
    pthread_mutex_destroy(&processor->lock);
    free(processor);
}

sonde_status sonde_processor_add_builder(sonde_processor *processor, const sonde_builder *builder,
                                         sonde_attributes_error *error)
{
    pthread_mutex_lock(&processor->lock);
    sonde_status status = add_builder(processor, builder, error);
    pthread_mutex_unlock(&processor->lock);
    return status;
}

const char *sonde_processor_builder(const sonde_processor *processor, size_t index)
{
    return index < processor->builder_count ? processor->builders[index].name : NULL;
}

sonde_attributes *sonde_processor_attributes(const sonde_processor *processor)
{
    return processor->attributes;
}
