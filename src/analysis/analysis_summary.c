/* SPDX-License-Identifier: Apache-2.0 */
/* The summary beside a log: read for what the log itself does not hold (tokens, times, the run),
   written anew where it is missing. */
#include "analysis/analysis.h"

#include "base/json_read.h"
#include "view/atomic_file.h"
#include "view/csv_log.h"
#include "view/json_indent.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUMMARY_BYTES_MAX = 16 << 20 };

static char *read_whole(const char *path, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0)
        return NULL;
    char *text = NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SUMMARY_BYTES_MAX)
        text = malloc((size_t)st.st_size + 1);
    ssize_t got = text ? read(fd, text, (size_t)st.st_size) : -1;
    close(fd);
    if (got < 0) {
        free(text);
        return NULL;
    }
    *len = (size_t)got;
    return text;
}

/* The value of a member, as bytes of the file. */
static void keep_run(sonde__analysis *analysis, sonde__json_reader *reader)
{
    size_t start = reader->pos;
    if (!sonde__json_skip(reader))
        return;
    while (start < reader->pos && strchr(" \t\r\n", reader->text[start]))
        start++;
    free(analysis->run_json);
    analysis->run_json = strndup(reader->text + start, reader->pos - start);
}

static void take_member(sonde__analysis *analysis, sonde__json_reader *reader)
{
    if (sonde__json_equals(reader, "run")) {
        keep_run(analysis, reader);
        return;
    }
    if (sonde__json_equals(reader, "state")) {
        if (sonde__json_next(reader) == SONDE__JSON_STRING)
            analysis->json_unfinished |=
                sonde__json_equals(reader, "running") || sonde__json_equals(reader, "incomplete");
        return;
    }
    if (sonde__json_equals(reader, "csv_rows_missing")) {
        analysis->json_unfinished = true;
        sonde__json_skip(reader);
        return;
    }
    bool prompt = sonde__json_equals(reader, "prompt_tokens");
    bool generated = sonde__json_equals(reader, "tokens_generated");
    bool start = sonde__json_equals(reader, "start_time");
    bool end = sonde__json_equals(reader, "end_time");
    if (!prompt && !generated && !start && !end) {
        sonde__json_skip(reader);
        return;
    }
    double seconds;
    uint64_t count;
    if (sonde__json_next(reader) != SONDE__JSON_NUMBER)
        return;
    if ((prompt || generated) && sonde__json_get_uint(reader, &count) == SONDE_OK)
        *(prompt ? &analysis->prompt_tokens : &analysis->tokens_generated) = count;
    if ((start || end) && sonde__json_get_double(reader, &seconds) == SONDE_OK && seconds > 0 &&
        seconds < 1e10)
        *(start ? &analysis->start_ns : &analysis->end_ns) = (uint64_t)(seconds * 1e9);
}

void sonde__analysis_read_summary(sonde__analysis *analysis)
{
    size_t len;
    char *text = analysis->json_path[0] ? read_whole(analysis->json_path, &len) : NULL;
    if (!text)
        return;
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, text, len);
    if (sonde__json_next(&reader) == SONDE__JSON_OBJECT_BEGIN) {
        sonde__json_token token;
        while ((token = sonde__json_next(&reader)) == SONDE__JSON_KEY)
            take_member(analysis, &reader);
        analysis->have_json = token == SONDE__JSON_OBJECT_END;
    }
    free(text);
}

static void write_run(sonde__json *json, void *user)
{
    const char *run_json = user;
    if (!run_json)
        return;
    sonde__json_key(json, "run");
    sonde__json_raw(json, run_json, strlen(run_json));
}

sonde__summary sonde__analysis_summary(const sonde__analysis *analysis)
{
    sonde__summary summary = {
        .session_name = analysis->session_name,
        .start_ns = analysis->start_ns,
        .end_ns = analysis->end_ns,
        .prompt_tokens = analysis->prompt_tokens,
        .tokens_generated = analysis->tokens_generated,
        .csv_log = analysis->csv_path[0] ? analysis->csv_path : NULL,
        .json_summary = analysis->json_path[0] ? analysis->json_path : NULL,
        .with_loss = analysis->from_journal,
        .lost = analysis->stats.lost,
        .missing = analysis->stats.missing,
        .open = analysis->open_count,
        .more = write_run,
        .user = analysis->run_json,
    };
    if (analysis->from_journal)
        summary.state = analysis->running          ? "running"
                        : analysis->processes_died ? "died"
                                                   : "finished";
    return summary;
}

/* A summary that is there and is no JSON is somebody else's: it stays. */
static bool is_needed(const sonde__analysis *analysis)
{
    struct stat st;
    if (!analysis->json_path[0] || analysis->running)
        return false;
    if (analysis->have_json)
        return analysis->json_unfinished && analysis->from_journal;
    return stat(analysis->json_path, &st) != 0;
}

/* A session whose summary says that it runs was left by a process that died, and its log may lack
   the last rows. A session without a summary has no log to complete unless there is one. */
static sonde_status complete_log(sonde__analysis *analysis)
{
    char csv[SONDE__ANALYSIS_PATH_MAX];
    size_t stem = strlen(analysis->json_path) - strlen(".json");
    snprintf(csv, sizeof csv, "%.*s.csv", (int)stem, analysis->json_path);
    if (!analysis->from_journal || (!analysis->json_unfinished && access(csv, F_OK) != 0))
        return SONDE_OK;
    bool wrote;
    sonde_status status = sonde__csv_log_complete(analysis->path, csv, &wrote);
    if (wrote && !analysis->csv_path[0])
        memcpy(analysis->csv_path, csv, sizeof csv);
    return status;
}

sonde_status sonde__analysis_rebuild(sonde__analysis *analysis, bool *wrote)
{
    *wrote = false;
    if (!is_needed(analysis))
        return SONDE_OK;
    sonde_status log = complete_log(analysis); /* first: the summary says when all is done */
    if (log != SONDE_OK)
        return log;
    sonde__buf compact, pretty;
    sonde__json json;
    sonde__buf_init(&compact, SUMMARY_BYTES_MAX);
    sonde__buf_init(&pretty, 4 * (size_t)SUMMARY_BYTES_MAX);
    sonde__json_init(&json, &compact);
    sonde__summary summary = sonde__analysis_summary(analysis);
    sonde__summary_json(&json, &summary, &analysis->tally);
    sonde__json_indent(&pretty, compact.data, compact.len);
    sonde_status status = pretty.status;
    if (status == SONDE_OK)
        status = sonde__atomic_write(analysis->json_path, pretty.data, pretty.len);
    sonde__buf_free(&compact);
    sonde__buf_free(&pretty);
    *wrote = status == SONDE_OK;
    return status;
}
