/* SPDX-License-Identifier: Apache-2.0 */
/* Sonde's own finished workflows as usage records: the workflow's name is the action, its outcome
   the success, its duration the time; whatever else an attribute asks for is looked up among the
   attributes of the workflow, by raw key, and goes before what is derived. The record is made as
   JSON and counted like any other, so it is checked like any other. */
#include "attributes/workflow_records.h"

#include "attributes/attribute_table.h"
#include "attributes/usage_map.h"
#include "base/json_write.h"
#include "record/attr_json.h"
#include "sonde/processor.h"
#include "sonde/reader.h"

#include <string.h>

enum { RECORD_BYTES_MAX = 1 << 20, ERROR_BYTES = 240 };

/* The last value of a key; NULL: the workflow has none. */
static const sonde_attr *find_attr(const sonde_run *run, const sonde__row *row)
{
    for (size_t i = run->attr_count; i > 0; i--) {
        const sonde_attr *attr = &run->attrs[i - 1];
        if (attr->key_len == row->raw_key_len && attr->type != SONDE_ATTR_BYTES &&
            memcmp(attr->key, row->raw_key, row->raw_key_len) == 0)
            return attr;
    }
    return NULL;
}

/* What the workflow itself says about an attribute. */
static void write_derived(sonde__json *json, const sonde_attributes *table, size_t index,
                          const sonde_run *run)
{
    const char *key = table->rows[index].raw_key;
    if ((int)index == table->roles[SONDE__ROLE_ACTION] && run->workflow_name) {
        sonde__json_key(json, key);
        sonde__json_string(json, run->workflow_name);
    } else if ((int)index == table->roles[SONDE__ROLE_SUCCESS]) {
        sonde__json_key(json, key);
        sonde__json_bool(json, run->status == SONDE_FINISHED);
    } else if ((int)index == table->roles[SONDE__ROLE_TIME] &&
               run->ended_wall_ns > run->started_wall_ns) {
        sonde__json_key(json, key);
        sonde__json_double(json, (double)(run->ended_wall_ns - run->started_wall_ns) / 1e9);
    }
}

static void write_record(const sonde_attributes *table, const sonde_run *run, sonde__buf *out)
{
    sonde__json json;
    sonde__buf_clear(out);
    sonde__json_init(&json, out);
    sonde__json_begin_object(&json);
    for (size_t i = 0; i < table->count; i++) {
        const sonde_attr *attr = find_attr(run, &table->rows[i]);
        if (attr) {
            sonde__json_key(&json, table->rows[i].raw_key);
            sonde__attr_json_value(&json, attr);
        } else {
            write_derived(&json, table, i, run);
        }
    }
    sonde__json_end_object(&json);
}

/* A process that joined is part of the opener's workflow. */
static bool is_finished_workflow(const sonde_run *run)
{
    return run->opener && run->ended_wall_ns != 0;
}

/* Remembers the session, unless it is known: false then. */
static sonde_status claim_session(sonde_usage *usage, uint64_t session, bool *claimed)
{
    sonde__usage_lock(usage);
    *claimed = !sonde__usage_has_session(usage, session);
    sonde_status status = *claimed ? sonde__usage_add_session(usage, session) : SONDE_OK;
    sonde__usage_unlock(usage);
    return status;
}

static void forget_session(sonde_usage *usage, uint64_t session)
{
    sonde__usage_lock(usage);
    for (size_t i = 0; i < usage->session_count; i++)
        if (usage->sessions[i] == session)
            usage->sessions[i] = usage->sessions[--usage->session_count];
    sonde__usage_unlock(usage);
}

sonde_status sonde__processor_process_run(sonde_processor *processor, sonde_usage *usage,
                                          const sonde_run *run, const sonde_build_context *context,
                                          size_t *counted, sonde_attributes_error *error)
{
    bool claimed;
    sonde_status status = claim_session(usage, run->session, &claimed);
    if (status != SONDE_OK || !claimed)
        return status;
    sonde__buf record;
    sonde__buf_init(&record, RECORD_BYTES_MAX);
    write_record(sonde_processor_attributes(processor), run, &record);
    status = record.status;
    if (status == SONDE_OK)
        status =
            sonde_processor_process_json(processor, usage, record.data, record.len, context, error);
    else
        sonde__attributes_complain(error, status, "the attributes of the workflow: %s",
                                   sonde_status_text(status));
    sonde__buf_free(&record);
    if (status == SONDE_OK)
        ++*counted;
    else
        forget_session(usage, run->session);
    return status;
}

static sonde_status count_runs(sonde_processor *processor, sonde_usage *usage, sonde_reader *reader,
                               const sonde_build_context *context, size_t *counted,
                               sonde_attributes_error *error)
{
    sonde_status status = SONDE_OK;
    for (size_t i = 0; status == SONDE_OK && i < sonde_reader_run_count(reader); i++) {
        const sonde_run *run = sonde_reader_run(reader, i);
        if (is_finished_workflow(run))
            status = sonde__processor_process_run(processor, usage, run, context, counted, error);
    }
    return status;
}

sonde_status sonde_processor_process_session(sonde_processor *processor, sonde_usage *usage,
                                             const char *path, const sonde_build_context *context,
                                             size_t *counted, sonde_attributes_error *error)
{
    char why[ERROR_BYTES] = "";
    sonde_reader_options options = SONDE_READER_OPTIONS_DEFAULT;
    options.error = why;
    options.error_size = sizeof why;
    sonde_reader *reader;
    *counted = 0;
    sonde_status status = sonde_reader_open(path, &options, &reader);
    if (status != SONDE_OK)
        return sonde__attributes_complain(error, status, "%s",
                                          why[0] ? why : sonde_status_text(status));
    status = count_runs(processor, usage, reader, context, counted, error);
    sonde_reader_close(reader);
    return status;
}
