/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, joining and closing the session of the process. */
#include "sonde/session.h"

#include "base/clock.h"
#include "base/errno_status.h"
#include "base/ids.h"
#include "record/recorder.h"
#include "record/session_name.h"
#include "record/session_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CLASH_MAX = 1000 };

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void free_texts(sonde_session *session)
{
    free(session->workflow_name);
    free(session->campaign_id);
    free(session->user);
    free(session->subtype);
    free(session->parent_workflow_id);
    session->workflow_name = session->campaign_id = session->user = session->subtype =
        session->parent_workflow_id = NULL;
}

static void copy_texts(sonde_session *session, const sonde_options *options)
{
    free_texts(session);
    session->workflow_name = copy_text(options->workflow_name);
    session->campaign_id = copy_text(options->campaign_id);
    session->user = copy_text(options->user ? options->user : getenv("USER"));
    session->subtype = copy_text(options->subtype);
    session->parent_workflow_id = copy_text(options->parent_workflow_id);
}

/* What a program compiled against an older or newer header gave, completed by the defaults. */
static sonde_options complete(const sonde_options *options)
{
    sonde_options all = SONDE_OPTIONS_DEFAULT;
    if (options)
        memcpy(&all, options, options->size < sizeof all ? options->size : sizeof all);
    all.size = sizeof all;
    return all;
}

/* A file of our own for a session that somebody else opened. */
static sonde_status create_member(sonde_session *session, sonde__journal *journal)
{
    char host[80];
    char run[17] = "";
    char path[SONDE__JOURNAL_PATH_MAX + 256];
    sonde__host_name(host, sizeof host);
    sonde__id_to_hex(session->run, run);
    int len = snprintf(path, sizeof path, "%s/%s.%s.%d.%s.sonde", session->dir, session->name, host,
                       (int)getpid(), run);
    if (len < 0 || (size_t)len >= SONDE__JOURNAL_PATH_MAX)
        return SONDE_ELIMIT;
    return sonde__journal_create(journal, path);
}

/* True when the name belongs to the log or the summary of somebody else, who has no journal. */
static bool is_taken(const sonde_session *session)
{
    static const char *const suffixes[] = {".csv", ".json"};
    char path[SONDE__JOURNAL_PATH_MAX + 300];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s/%s%s", session->dir, session->name, suffixes[i]);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* NAME.sonde, or NAME_2.sonde and so on when that exists. */
static sonde_status create_first(sonde_session *session, sonde__journal *journal)
{
    char stem[sizeof session->name];
    memcpy(stem, session->name, sizeof stem);
    for (unsigned i = 1; i < CLASH_MAX; i++) {
        if (i > 1)
            snprintf(session->name, sizeof session->name, "%.200s_%u", stem, i);
        if (is_taken(session))
            continue;
        char path[SONDE__JOURNAL_PATH_MAX + 256];
        int len = snprintf(path, sizeof path, "%s/%s.sonde", session->dir, session->name);
        if (len < 0 || (size_t)len >= SONDE__JOURNAL_PATH_MAX)
            return SONDE_ELIMIT;
        sonde_status status = sonde__journal_create(journal, path);
        if (status != SONDE_EBUSY) {
            memcpy(session->path, path, (size_t)len + 1);
            return status;
        }
    }
    return SONDE_ELIMIT;
}

/* With name, dir, id, trace and parent set: file, segment, drain. */
static sonde_status begin_recording(sonde_session *session, const sonde_attr *attrs, size_t count)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    session->run = sonde__id_random();
    session->disabled = false;
    recorder->compression = SONDE_OK;
    sonde__recorder_prepare();
    sonde__journal *journal = &recorder->drain.journal;
    bool alone =
        session->joined || session->options.journal_only || sonde__env_is_on("SONDE_JOURNAL_ONLY");
    recorder->drain.follower.observer = alone ? NULL : &sonde__session_observer;
    sonde_status status =
        session->joined ? create_member(session, journal) : create_first(session, journal);
    if (status != SONDE_OK)
        return status;
    if (session->options.zstd_level > 0)
        recorder->compression = sonde__packer_init(&journal->packer, session->options.zstd_level);
    status =
        sonde__segment_create(&recorder->segment, session->run, session->options.segment_bytes_max,
                              session->options.safety != SONDE_SAFETY_MEMORY);
    if (status == SONDE_OK)
        status = sonde__start_frame(&recorder->segment, session, attrs, count);
    if (status == SONDE_OK)
        status = sonde__recorder_start(session);
    if (status != SONDE_OK) {
        unlink(journal->path);
        sonde__journal_close(journal);
        sonde__segment_unlink(&recorder->segment);
        sonde__segment_unmap(&recorder->segment);
        return status;
    }
    session->open = true;
    return SONDE_OK;
}

static sonde_status make_dir(const char *dir)
{
    if (mkdir(dir, 0755) == 0 || errno == EEXIST)
        return SONDE_OK;
    return sonde__status_of_errno(errno);
}

/* An absolute path of the directory, which is made when it is missing. */
static sonde_status find_dir(sonde_session *session, const char *dir)
{
    if (!dir)
        dir = getenv("SONDE_DIR");
    if (!dir || dir[0] == '\0')
        dir = "telemetry";
    sonde_status status = make_dir(dir);
    if (status != SONDE_OK)
        return status;
    char *absolute = realpath(dir, NULL);
    if (!absolute)
        return sonde__status_of_errno(errno);
    bool fits = strlen(absolute) < sizeof session->dir;
    if (fits)
        memcpy(session->dir, absolute, strlen(absolute) + 1);
    free(absolute);
    return fits ? SONDE_OK : SONDE_ELIMIT;
}

static sonde_status open_first(sonde_session *session, const char *name)
{
    const sonde_options *options = &session->options;
    if (name && !sonde__session_name_valid(name))
        return SONDE_EINVAL;
    if (name)
        memcpy(session->name, name, strlen(name) + 1);
    else
        sonde__session_name_now(session->name, sizeof session->name);
    sonde_status status = find_dir(session, options->dir);
    if (status != SONDE_OK)
        return status;
    session->joined = false;
    session->id = sonde__id_random();
    sonde_context outer = options->parent;
    const char *traceparent = getenv("TRACEPARENT");
    if ((outer.trace_hi | outer.trace_lo) == 0 && traceparent)
        (void)sonde_context_parse(traceparent, &outer);
    bool given = (outer.trace_hi | outer.trace_lo) != 0;
    session->trace_hi = given ? outer.trace_hi : sonde__id_random();
    session->trace_lo = given ? outer.trace_lo : sonde__id_random();
    session->parent = outer.span;
    return begin_recording(session, options->attrs, options->attr_count);
}

/* True when $SONDE_SESSION names a session that can be joined; its fields are set then. */
static bool read_invitation(sonde_session *session)
{
    const char *text = getenv("SONDE_SESSION");
    if (!text || !sonde__invitation_parse(text, session))
        return false;
    session->joined = true;
    session->parent = 0;
    sonde_context outer;
    const char *traceparent = getenv("TRACEPARENT");
    if (traceparent && sonde_context_parse(traceparent, &outer) == SONDE_OK &&
        outer.trace_hi == session->trace_hi && outer.trace_lo == session->trace_lo)
        session->parent = outer.span;
    return true;
}

/* With the lock held and no session open. */
static sonde_status open_locked(const char *name, const sonde_options *options)
{
    sonde_session *session = &sonde__the_recorder.session;
    session->options = complete(options);
    session->by_default = false;
    sonde__the_recorder.fork_pending = false;
    copy_texts(session, &session->options);
    bool disabled = false;
    sonde_status status = sonde__session_settings(session, &disabled);
    if (status != SONDE_OK)
        return status;
    if (disabled) {
        session->open = session->disabled = true;
        snprintf(session->name, sizeof session->name, "%s", name ? name : "disabled");
        session->path[0] = session->dir[0] = '\0';
        return SONDE_OK;
    }
    if (session->options.join && read_invitation(session))
        status = begin_recording(session, session->options.attrs, session->options.attr_count);
    else
        status = open_first(session, name);
    session->options.attrs = NULL;
    session->options.attr_count = 0;
    return status;
}

/* Both locks: nobody opens, closes, flushes or claims a lane. */
static void lock_all(void)
{
    pthread_mutex_lock(&sonde__the_recorder.control);
    sonde__recorder_lock();
}

static void unlock_all(void)
{
    sonde__recorder_unlock();
    pthread_mutex_unlock(&sonde__the_recorder.control);
}

sonde_status sonde_open(const char *name, const sonde_options *options, sonde_session **out)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__recorder_check_fork();
    lock_all();
    sonde_status status = recorder->session.open ? SONDE_EBUSY : open_locked(name, options);
    if (status == SONDE_OK)
        *out = &recorder->session;
    unlock_all();
    return status;
}

sonde_status sonde_session_default(sonde_session **out)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__recorder_check_fork();
    lock_all();
    sonde_status status = SONDE_OK;
    if (!recorder->session.open && !sonde__session_auto()) {
        status = open_locked(NULL, NULL);
        recorder->session.by_default = true;
    }
    if (status == SONDE_OK)
        *out = &recorder->session;
    unlock_all();
    return status;
}

/* A forked child goes on in its parent's session, in a run of its own. */
static bool join_parent(void)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde_session *session = &recorder->session;
    recorder->fork_pending = false;
    session->joined = true;
    uint64_t parent = sonde__recorder_fork_parent();
    if (parent)
        session->parent = parent;
    return begin_recording(session, NULL, 0) == SONDE_OK;
}

bool sonde__session_auto(void)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    if (recorder->fork_pending)
        return join_parent();
    if (recorder->asked_environment)
        return false;
    recorder->asked_environment = true;
    if (!getenv("SONDE_SESSION"))
        return false;
    sonde_session *session = &recorder->session;
    session->options = complete(NULL);
    bool disabled = false;
    if (sonde__session_settings(session, &disabled) != SONDE_OK || disabled)
        return false;
    copy_texts(session, &session->options);
    if (!read_invitation(session) || begin_recording(session, NULL, 0) != SONDE_OK)
        return false;
    session->by_default = true;
    return true;
}

/* What is needed of a session to tell of its end after the locks were released. */
typedef struct ended_workflow {
    bool tell;
    sonde__finished finished;
    sonde_run run;
    char *name; /* NULL: the session's */
    char session_name[sizeof((sonde_session *)NULL)->name];
    char dir[SONDE__JOURNAL_PATH_MAX];
} ended_workflow;

/* With the locks. A process that joined is part of the opener's workflow. */
static void take_ended(sonde_session *session, sonde_task_status status, ended_workflow *out)
{
    if (session->joined || session->disabled || !session->finished.settings) {
        sonde__finished_free(&session->finished);
        return;
    }
    out->tell = true;
    out->finished = session->finished;
    session->finished = (sonde__finished){0};
    out->run =
        (sonde_run){.run = session->run, .session = session->id, .opener = 1, .status = status};
    out->name = session->workflow_name;
    session->workflow_name = NULL;
    memcpy(out->session_name, session->name, sizeof out->session_name);
    memcpy(out->dir, session->dir, sizeof out->dir);
    out->run.workflow_name = out->name ? out->name : out->session_name;
}

static void tell_ended(ended_workflow *ended, const sonde_attr *attrs, size_t count)
{
    if (ended->tell)
        sonde__finished_tell(&ended->finished, &ended->run, ended->dir, attrs, count);
    sonde__finished_free(&ended->finished);
    free(ended->name);
}

void sonde_close_with(sonde_session *session, sonde_task_status status, const char *error,
                      const sonde_attr *attrs, size_t attr_count)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    if (!session)
        return;
    ended_workflow ended = {.tell = false};
    sonde__recorder_check_fork();
    lock_all();
    if (session == &recorder->session && session->open) {
        sonde__run_end end = {status, SONDE_RUN_CLOSED, error, attrs, attr_count};
        if (!session->disabled)
            sonde__recorder_stop(&end, SONDE__CLOSE_DRAIN_NS);
        take_ended(session, status, &ended);
        session->open = false;
        free_texts(session);
    }
    recorder->fork_pending = false;
    unlock_all();
    tell_ended(&ended, attrs, attr_count);
}

void sonde_close(sonde_session *session)
{
    sonde_close_with(session, SONDE_FINISHED, NULL, NULL, 0);
}

/* A session that nobody closed. Bounded: if the lock or the disk does not come, the segment stays
   for recovery, which finds everything. */
void sonde__session_at_exit(void)
{
    ended_workflow ended = {.tell = false};
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__region *region = atomic_load(&recorder->region);
    if (!region || atomic_load(&region->alive) != 1 ||
        pthread_mutex_trylock(&recorder->control) != 0)
        return;
    if (!sonde__recorder_trylock()) {
        pthread_mutex_unlock(&recorder->control);
        return;
    }
    sonde_session *session = &recorder->session;
    if (session->open && !session->disabled) {
        sonde__run_end end = {session->by_default ? SONDE_FINISHED : SONDE_UNKNOWN,
                              SONDE_RUN_CLOSED, NULL, NULL, 0};
        sonde__recorder_stop(&end, SONDE__EXIT_WAIT_NS);
        take_ended(session, end.status, &ended);
        session->open = false;
    }
    unlock_all();
    tell_ended(&ended, NULL, 0);
}

sonde_status sonde_flush(sonde_session *session, int durable, uint64_t timeout_ns)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    if (!session)
        return SONDE_EINVAL;
    sonde__recorder_check_fork();
    pthread_mutex_lock(&recorder->control);
    sonde_status status = SONDE_OK;
    if (session->open && !session->disabled)
        status = sonde__drain_flush(&recorder->drain, durable != 0, timeout_ns);
    pthread_mutex_unlock(&recorder->control);
    return status;
}

const char *sonde_session_path(const sonde_session *session)
{
    return session->disabled ? "" : sonde__the_recorder.drain.journal.path;
}

const char *sonde_session_name(const sonde_session *session)
{
    return session->name;
}

sonde_context sonde_session_context(const sonde_session *session)
{
    return (sonde_context){session->trace_hi, session->trace_lo, session->parent};
}

sonde_status sonde_session_environment(const sonde_session *session, char *session_out,
                                       size_t session_size, char *traceparent_out,
                                       size_t traceparent_size)
{
    if (!session->open || session->disabled)
        return SONDE_EOFF;
    sonde_context current = sonde_task_context(sonde_task_current());
    if (current.span == 0)
        current = sonde_session_context(session);
    char traceparent[SONDE_TRACEPARENT_SIZE];
    sonde_context_format(current, traceparent);
    char id[17] = "";
    char trace[33] = "";
    sonde__id_to_hex(session->id, id);
    sonde__id_to_hex(session->trace_hi, trace);
    sonde__id_to_hex(session->trace_lo, trace + 16);
    int a = snprintf(session_out, session_size, "SONDE_SESSION=%s:%s:%s", id, trace, session->path);
    int b = snprintf(traceparent_out, traceparent_size, "TRACEPARENT=%s", traceparent);
    return a < 0 || b < 0 || (size_t)a >= session_size || (size_t)b >= traceparent_size
               ? SONDE_ELIMIT
               : SONDE_OK;
}

sonde_status sonde_session_export(const sonde_session *session)
{
    char invitation[SONDE__JOURNAL_PATH_MAX + 80];
    char traceparent[SONDE_TRACEPARENT_SIZE + 16];
    sonde_status status = sonde_session_environment(session, invitation, sizeof invitation,
                                                    traceparent, sizeof traceparent);
    if (status != SONDE_OK)
        return status;
    if (setenv("SONDE_SESSION", strchr(invitation, '=') + 1, 1) != 0 ||
        setenv("TRACEPARENT", strchr(traceparent, '=') + 1, 1) != 0)
        return SONDE_ENOMEM;
    return SONDE_OK;
}

void sonde_session_stats_get(const sonde_session *session, sonde_session_stats *out)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    *out = (sonde_session_stats){0};
    out->names_over = sonde__names_over();
    sonde__recorder_lock();
    if (session->open && !session->disabled && recorder->segment.base) {
        const sonde__drain *drain = &recorder->drain;
        out->written = atomic_load(&drain->written);
        out->lost = atomic_load(&drain->lost);
        out->write_errors = atomic_load(&drain->errors);
        out->journal_bytes = atomic_load(&drain->bytes);
        out->last_error = (sonde_status)atomic_load(&drain->last_error);
        out->part = atomic_load(&drain->part);
        out->stopped = atomic_load(&drain->stopped_writing);
        out->compression = recorder->compression;
        out->lanes = recorder->lanes_used;
        out->shared_memory = recorder->segment.shared;
        out->segment = recorder->segment.reason;
        for (uint32_t i = 0; i < recorder->lanes_used; i++) {
            const sonde__lane_header *lane = sonde__segment_lane(&recorder->segment, i);
            out->lost += atomic_load_explicit(&lane->loss_count, memory_order_relaxed);
            out->stale += atomic_load_explicit(&lane->stale, memory_order_relaxed);
            out->cut += atomic_load_explicit(&lane->cut, memory_order_relaxed);
        }
    }
    sonde__recorder_unlock();
}
