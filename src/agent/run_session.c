/* SPDX-License-Identifier: Apache-2.0 */
/* The command is a task, the parent of what its processes record; samples are tasks below it. Their
   subtypes tell them from the program's own work, which alone goes into the log. */
#include "agent/run_session.h"

#include "base/clock.h"
#include "sonde/reader.h"
#include "view/packet.h"
#include "view/summary_json.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SEGMENT_BYTES = 1 << 20, /* one thread records, a few times a second */
    PASS_RECORDS = 1 << 16,
    SAMPLE_BYTES_MAX = 4096,
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static sonde_status fail(sonde__run_report *report, sonde_status status, const char *what,
                         const char *dir)
{
    snprintf(report->error, sizeof report->error, "%s %.150s: %s", what, dir ? dir : "telemetry",
             status == SONDE_ELIMIT ? "no space left, or the path is too long"
                                    : sonde_status_text(status));
    return status;
}

static void begin_task(sonde__run_session *self, char *const *argv)
{
    char line[2048];
    size_t len = 0;
    self->task = sonde_task_begin(sonde_name_get(base_name(argv[0])));
    sonde_task_subtype(self->task, SONDE__SUBTYPE_PROCESS);
    for (size_t i = 0; argv[i] && len < sizeof line; i++)
        len += (size_t)snprintf(line + len, sizeof line - len, "%s%s", i ? " " : "", argv[i]);
    sonde_task_string_n(self->task, SONDE_USED, SONDE_NAME("command"), line,
                        len < sizeof line ? len : sizeof line - 1);
}

sonde_status sonde__run_session_open(sonde__run_session *self,
                                     const sonde__supervise_options *options,
                                     sonde__run_report *report)
{
    sonde_options how = SONDE_OPTIONS_DEFAULT;
    how.dir = options->dir;
    how.join = 0;
    how.journal_only = 1;
    how.segment_bytes_max = SEGMENT_BYTES;
    how.subtype = "sonde.run";
    *self = (sonde__run_session){0};
    sonde_status status = sonde_open(options->session, &how, &self->session);
    if (status == SONDE_EINVAL) {
        snprintf(report->error, sizeof report->error,
                 "--session: \"%.100s\" is not a name: letters, digits, . _ - only",
                 options->session);
        return status;
    }
    if (status != SONDE_OK)
        return fail(report, status, "cannot record in", options->dir);
    snprintf(report->session_name, sizeof report->session_name, "%s",
             sonde_session_name(self->session));
    snprintf(report->journal, sizeof report->journal, "%s", sonde_session_path(self->session));
    status = sonde__session_files_open(report->journal, &self->files);
    if (status != SONDE_OK) {
        sonde_close(self->session);
        return fail(report, status, "cannot write the log in", options->dir);
    }
    snprintf(report->csv, sizeof report->csv, "%s", sonde__session_files_csv(self->files));
    snprintf(report->json, sizeof report->json, "%s", sonde__session_files_json(self->files));
    sonde__session_files_more(self->files, sonde__run_report_json, report);
    begin_task(self, options->argv);
    if (sonde_session_environment(self->session, self->invitation, sizeof self->invitation,
                                  self->traceparent, sizeof self->traceparent) != SONDE_OK)
        self->invitation[0] = '\0';
    return SONDE_OK;
}

void sonde__run_session_environment(sonde__run_session *self, char *out[3])
{
    out[0] = self->invitation[0] ? self->invitation : NULL;
    out[1] = self->invitation[0] ? self->traceparent : NULL;
    out[2] = NULL;
}

static void write_sample(const sonde__run_report *report, sonde__buf *out)
{
    const sonde__family *family = &report->last;
    sonde__json json;
    sonde__json_init(&json, out);
    sonde__json_begin_object(&json);
    sonde__json_member_uint(&json, "processes", family->processes);
    sonde__json_member_uint(&json, "threads", family->threads);
    sonde__json_member_double(&json, "cpu_s", (double)(report->user_ns + report->system_ns) / 1e9);
    sonde__json_member_uint(&json, "rss_bytes", family->rss_bytes);
    sonde__json_member_uint(&json, "read_bytes", report->read_bytes);
    sonde__json_member_uint(&json, "written_bytes", report->written_bytes);
    sonde__json_end_object(&json);
}

void sonde__run_session_sample(sonde__run_report *report)
{
    char text[SAMPLE_BYTES_MAX];
    sonde__buf tree;
    sonde__buf_init_fixed(&tree, text, sizeof text);
    write_sample(report, &tree);
    const char *host;
    size_t host_len;
    sonde__host_watch_read(&report->host, &host, &host_len);
    sonde_attr attrs[2] = {
        {.group = SONDE_METADATA, .type = SONDE_ATTR_JSON, .key = "tree"},
        {.group = SONDE_METADATA, .type = SONDE_ATTR_JSON, .key = "host"},
    };
    attrs[0].value.s.data = text;
    attrs[0].value.s.len = tree.len;
    attrs[1].value.s.data = host;
    attrs[1].value.s.len = host_len;
    sonde_task_info info = {
        .activity = SONDE_NAME("sample"),
        .start_wall_ns = sonde__clock_wall_ns(),
        .status = SONDE_FINISHED,
        .subtype = SONDE__SUBTYPE_SAMPLE,
        .attrs = attrs,
        .attr_count = host ? 2 : 1,
    };
    sonde_task_record(&info);
}

void sonde__run_session_pass(sonde__run_session *self)
{
    sonde__session_files_pass(self->files, PASS_RECORDS);
}

static void end_task(sonde__run_session *self, const sonde__run_report *report)
{
    char error[80] = "";
    if (report->launch_error)
        snprintf(error, sizeof error, "%.70s", strerror(report->launch_error));
    else if (report->signal)
        snprintf(error, sizeof error, "killed by signal %d", report->signal);
    else if (report->exit_code)
        snprintf(error, sizeof error, "exit code %d", report->exit_code);
    sonde_task_int(self->task, SONDE_GENERATED, SONDE_NAME("exit_code"), report->exit_code);
    sonde_task_double(self->task, SONDE_GENERATED, SONDE_NAME("cpu_s"),
                      (double)(report->user_ns + report->system_ns) / 1e9);
    sonde_task_uint(self->task, SONDE_GENERATED, SONDE_NAME("peak_rss_bytes"),
                    report->peak_rss_bytes);
    sonde_task_end_with(self->task, error[0] ? SONDE_ERROR : SONDE_FINISHED,
                        error[0] ? error : NULL);
}

/* Processes of the command that died without closing: what they left in shared memory. */
static void recover_members(const char *journal)
{
    char dir[sizeof((sonde__run_report *)NULL)->journal];
    snprintf(dir, sizeof dir, "%s", journal);
    *strrchr(dir, '/') = '\0';
    sonde_recover(dir, NULL, NULL);
}

void sonde__run_session_close(sonde__run_session *self, sonde__run_report *report)
{
    bool failed = report->exit_code != 0;
    end_task(self, report);
    sonde_close_with(self->session, failed ? SONDE_ERROR : SONDE_FINISHED, NULL, NULL, 0);
    sonde__session_files_pass(self->files, SIZE_MAX);
    sonde__session_files_stats_get(self->files, &report->files);
    if (report->files.journals > 1)
        recover_members(report->journal);
    sonde__session_files_close(self->files, &report->files);
    if (report->launch_error) { /* nothing ran: no session is better than an empty one */
        unlink(report->csv);
        unlink(report->json);
        unlink(report->journal);
    }
}
