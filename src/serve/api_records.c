/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded sessions: which there are, and the last tasks of one. Reading takes as long as a session
   is, so it is done by a worker. Nothing is written: what a dead process left is read where it is.
   A session is only ever named, by a name that is valid, in the one folder we were given. */
#include "analysis/analysis.h"
#include "base/json_write.h"
#include "record/session_name.h"
#include "serve/server.h"
#include "sonde/encode.h"
#include "sonde/reader.h"
#include "view/flowcept_json.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096, ERROR_BYTES = 512 };

/* --- one session --- */

static void refuse(sonde__request *request, unsigned status, const char *text)
{
    sonde__json json;
    sonde__buf_clear(&request->body);
    sonde__json_init(&json, &request->body);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "error");
    sonde__json_string(&json, text);
    sonde__json_end_object(&json);
    sonde__buf_char(&request->body, '\n');
    request->type = "application/json";
    request->status = status;
}

static sonde_reader *open_reader(sonde__request *request, char *path)
{
    const char *dir = request->server->options->dir;
    const char *name = sonde__target_get(&request->target, "session");
    if (name)
        snprintf(path, PATH_BYTES, "%s/%s.sonde", dir, name);
    else if (sonde__session_newest(dir, path, PATH_BYTES) != SONDE_OK) {
        refuse(request, MHD_HTTP_NOT_FOUND, "there is no session in the folder that is served");
        return NULL;
    }
    char error[ERROR_BYTES] = "";
    sonde_reader_options options = SONDE_READER_OPTIONS_DEFAULT;
    options.recover = 0;
    options.error = error;
    options.error_size = sizeof error;
    sonde_reader *reader;
    sonde_status status = sonde_reader_open(path, &options, &reader);
    if (status == SONDE_OK)
        return reader;
    bool absent = status == SONDE_EABSENT;
    refuse(request, absent ? MHD_HTTP_NOT_FOUND : MHD_HTTP_INTERNAL_SERVER_ERROR,
           absent     ? "there is no session of that name; see /api/v1/sessions"
           : error[0] ? error
                      : sonde_status_text(status));
    return NULL;
}

static bool is_wanted(const sonde_record *record, const char *activity)
{
    if (record->kind != SONDE_RECORD_TASK && record->kind != SONDE_RECORD_OPEN)
        return false;
    return !activity || (record->name_len == strlen(activity) &&
                         memcmp(record->name, activity, record->name_len) == 0);
}

/* How many tasks there are, and how many of them come before the last `limit`. */
static uint64_t count_tasks(sonde_reader *reader, const char *activity)
{
    sonde_record record;
    uint64_t total = 0;
    while (sonde_reader_next(reader, &record) == SONDE_OK)
        total += is_wanted(&record, activity);
    return total;
}

static size_t limit_of(const sonde__request *request)
{
    const char *text = sonde__target_get(&request->target, "limit");
    size_t limit = SONDE__SERVE_RECORDS_DEFAULT;
    if (text)
        sonde__count_parse(text, SONDE__SERVE_RECORDS_MAX, &limit); /* it was checked */
    return limit;
}

/* Opens twice: once to count, once to begin where the last ones are. */
static sonde_reader *open_at_last(sonde__request *request, uint64_t *total, char *path)
{
    const char *activity = sonde__target_get(&request->target, "activity");
    size_t limit = limit_of(request);
    sonde_reader *reader = open_reader(request, path);
    if (!reader)
        return NULL;
    *total = count_tasks(reader, activity);
    sonde_reader_close(reader);
    reader = open_reader(request, path);
    sonde_record record;
    for (uint64_t skip = *total > limit ? *total - limit : 0; reader && skip > 0;) {
        if (sonde_reader_next(reader, &record) != SONDE_OK)
            break;
        skip -= is_wanted(&record, activity);
    }
    return reader;
}

static void put_stats(sonde__json *json, const sonde_reader *reader)
{
    sonde_reader_stats stats;
    sonde_reader_stats_get(reader, &stats);
    sonde__json_key(json, "lost");
    sonde__json_uint(json, stats.lost);
    sonde__json_key(json, "missing");
    sonde__json_uint(json, stats.missing);
}

static void read_tasks(sonde__request *request)
{
    char path[PATH_BYTES];
    uint64_t total = 0;
    const char *activity = sonde__target_get(&request->target, "activity");
    sonde_reader *reader = open_at_last(request, &total, path);
    if (!reader)
        return;
    sonde__json json;
    sonde__buf one;
    sonde__buf_init(&one, SONDE__SERVE_BODY_MAX);
    sonde__buf_clear(&request->body);
    sonde__json_init(&json, &request->body);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "total");
    sonde__json_uint(&json, total);
    sonde__json_key(&json, "tasks");
    sonde__json_begin_array(&json);
    sonde_record record;
    uint64_t shown = 0;
    size_t limit = limit_of(request);
    while (shown < limit && sonde_reader_next(reader, &record) == SONDE_OK) {
        if (!is_wanted(&record, activity))
            continue;
        sonde__buf_clear(&one);
        sonde__flowcept_json(&record, &one);
        if (one.status != SONDE_OK || request->body.len + one.len > SONDE__SERVE_BODY_MAX - 1024)
            break; /* "shown" tells */
        sonde__json_raw(&json, one.data, one.len - 1);
        shown++;
    }
    sonde__json_end_array(&json);
    sonde__json_key(&json, "shown");
    sonde__json_uint(&json, shown);
    put_stats(&json, reader);
    sonde__json_end_object(&json);
    sonde__buf_char(&request->body, '\n');
    request->status = MHD_HTTP_OK;
    request->type = "application/json";
    sonde__buf_free(&one);
    sonde_reader_close(reader);
}

/* True: the parameters are good. */
static bool check_parameters(const sonde__request *request, enum MHD_Result *result)
{
    const char *name = sonde__target_get(&request->target, "session");
    const char *limit = sonde__target_get(&request->target, "limit");
    size_t count;
    if (name && !sonde__session_name_valid(name)) {
        *result = sonde__reply_error(request, MHD_HTTP_BAD_REQUEST,
                                     "session: letters, digits and ._- only");
        return false;
    }
    if (limit && !sonde__count_parse(limit, SONDE__SERVE_RECORDS_MAX, &count)) {
        *result = sonde__reply_error(request, MHD_HTTP_BAD_REQUEST, "limit: a number from 1 to %d",
                                     (int)SONDE__SERVE_RECORDS_MAX);
        return false;
    }
    return true;
}

static enum MHD_Result answer_read(sonde__request *request)
{
    if (request->status == 0 || request->body.status != SONDE_OK)
        return sonde__reply_error(request, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                  "it could not be read: %s",
                                  sonde_status_text(request->body.status));
    return sonde__reply(request, request->status, request->type, &request->body);
}

enum MHD_Result sonde__api_tasks(sonde__request *request)
{
    enum MHD_Result result = MHD_NO;
    if (request->read_done)
        return answer_read(request);
    return check_parameters(request, &result) ? sonde__request_read(request, read_tasks) : result;
}

/* --- spans --- */

static int put_piece(void *user, const char *data, size_t len)
{
    sonde__buf *body = user;
    sonde__buf_append(body, data, len);
    return body->status == SONDE_OK;
}

static bool span_format(const sonde__request *request, sonde_format *out)
{
    const char *format = sonde__target_get(&request->target, "format");
    *out = SONDE_FORMAT_SPANS;
    if (!format)
        return true;
    return sonde_format_parse(format, out) == SONDE_OK &&
           (*out == SONDE_FORMAT_SPANS || *out == SONDE_FORMAT_JAEGER ||
            *out == SONDE_FORMAT_OTLP_JSON);
}

static void read_spans(sonde__request *request)
{
    char path[PATH_BYTES];
    uint64_t total = 0;
    sonde_format format;
    sonde_reader *reader = open_at_last(request, &total, path);
    if (!reader)
        return;
    span_format(request, &format); /* it was checked */
    sonde_encode_options options = SONDE_ENCODE_OPTIONS_DEFAULT;
    options.limit = limit_of(request);
    sonde__buf_clear(&request->body);
    sonde_status status = sonde_encode_records(reader, format, &options, put_piece, &request->body);
    sonde_reader_close(reader);
    if (status == SONDE_OK) {
        request->status = MHD_HTTP_OK;
        request->type = sonde_format_describe(format)->content_type;
    } else if (request->body.status == SONDE_ELIMIT) {
        refuse(request, MHD_HTTP_CONTENT_TOO_LARGE,
               "these spans are more than 16 MiB; ask for fewer with limit");
    }
}

enum MHD_Result sonde__api_spans(sonde__request *request)
{
    enum MHD_Result result = MHD_NO;
    sonde_format format;
    if (request->read_done)
        return answer_read(request);
    if (!span_format(request, &format))
        return sonde__reply_error(request, MHD_HTTP_BAD_REQUEST,
                                  "format: spans, jaeger or otlp-json");
    return check_parameters(request, &result) ? sonde__request_read(request, read_spans) : result;
}
