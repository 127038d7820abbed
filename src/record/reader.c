/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a session for reading, and its records in order of time: a heap over one stream per lane,
   each of which is in order by itself. */
#include "sonde/reader.h"

#include "base/clock.h"
#include "base/errno_status.h"
#include "record/metric_store.h"
#include "record/reader_impl.h"
#include "record/recover.h"
#include "record/segment_image.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".sonde"
enum { FOLLOW_POLL_NS = 20000000, LIVE_FRAMES_MAX = 1 << 30, LIST_TRIES = 8 };

static sonde_status complain(sonde_reader *reader, sonde_status status, const char *path,
                             const char *text)
{
    if (reader->options.error && reader->options.error_size > 0)
        snprintf(reader->options.error, reader->options.error_size, "%s: %s", path, text);
    return status;
}

/* --- segments of the session --- */

/* True when the segment writes for this session, whose opener's file may still be empty. */
static bool is_ours(const sonde_reader *reader, const sonde__segment_header *header)
{
    return (reader->session_known && header->session == reader->session) ||
           strcmp(header->journal_path, reader->path) == 0;
}

static void take_frames(sonde_reader *reader, const sonde__segment_image *image, bool dead)
{
    sonde__buf memory;
    sonde__buf_init(&memory, LIVE_FRAMES_MAX);
    if (sonde__segment_frames(image, dead, &memory) == SONDE_OK && memory.len > 0)
        sonde__reader_add_memory(reader, &memory);
    sonde__buf_free(&memory);
}

static void note_state(sonde_reader *reader, uint64_t run, sonde_run_state state)
{
    for (size_t i = 0; i < reader->run_count; i++)
        if (reader->runs[i]->run.run == run && !reader->runs[i]->ended)
            reader->runs[i]->run.state = state;
}

/* One segment: finished on disk when its process is dead, else read as it is. */
static void visit_segment(void *user, const char *path)
{
    sonde_reader *reader = user;
    char reason[SONDE__REASON_MAX];
    struct stat st;
    sonde__segment_image image;
    sonde__segment_header header;
    if (stat(reader->path, &st) != 0 ||
        sonde__segment_peek(path, (uint32_t)st.st_uid, &header) != SONDE_OK ||
        !is_ours(reader, &header))
        return;
    sonde_recovery what;
    if (reader->options.recover && sonde__recover_segment(path, false, &what) == SONDE_OK)
        return;
    /* not ours to finish, or not possible: whoever gets the lock knows that the process is dead */
    sonde_status status =
        sonde__segment_image_open(&image, path, (uint32_t)st.st_uid, true, reason);
    bool dead = status == SONDE_OK;
    if (status == SONDE_EBUSY)
        status = sonde__segment_image_open(&image, path, (uint32_t)st.st_uid, false, reason);
    if (status == SONDE_OK && (reader->options.live || dead)) {
        take_frames(reader, &image, dead);
        note_state(reader, sonde__image_header(&image)->run,
                   dead ? SONDE_RUN_DIED : SONDE_RUN_RUNNING);
    }
    sonde__segment_image_close(&image);
}

/* --- files of the session --- */

/* X.anything.sonde beside X.sonde, in dir_path. False: one of them has gone while we looked. */
static bool add_members_once(sonde_reader *reader, const char *dir_path, const char *name)
{
    DIR *dir = opendir(dir_path);
    size_t name_len = strlen(name);
    bool settled = true;
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        size_t len = strlen(entry->d_name);
        char path[2 * PATH_MAX];
        if (len < name_len + 1 + sizeof SUFFIX || strncmp(entry->d_name, name, name_len) != 0 ||
            entry->d_name[name_len] != '.' ||
            strcmp(entry->d_name + len - (sizeof SUFFIX - 1), SUFFIX) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir_path, entry->d_name);
        if (sonde__reader_has_file(reader, path))
            continue;
        sonde_status status = sonde__reader_add_file(reader, path);
        if (status == SONDE_EDENIED)
            reader->stats.refused++;
        settled = settled && status != SONDE_EABSENT;
    }
    if (dir)
        closedir(dir);
    return settled;
}

/* All other files of the session, complete as of a moment within the call: a part that went was
   replaced by a later one, which tells what was in it; one that was there is read to its end after
   its successor was found. */
static sonde_status add_members(sonde_reader *reader)
{
    char *dir_path = strdup(reader->stem);
    if (!dir_path)
        return SONDE_ENOMEM;
    char *slash = strrchr(dir_path, '/');
    char *name = slash + 1;
    *slash = '\0';
    size_t before = reader->source_count;
    for (int i = 0; i < LIST_TRIES; i++)
        if (add_members_once(reader, slash == dir_path ? "/" : dir_path, name))
            break;
    if (reader->source_count != before)
        sonde__reader_rescan(reader);
    free(dir_path);
    return reader->failed_memory ? SONDE_ENOMEM : SONDE_OK;
}

/* --- the heap --- */

static bool before(const sonde__stream *a, const sonde__stream *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    return a->control && !b->control && a->entry.kind == SONDE__KIND_RUN_BEGIN;
}

static void sift_down(sonde_reader *reader, size_t at)
{
    sonde__stream **heap = reader->streams;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < reader->heap_count; child++)
            if (before(heap[child], heap[least]))
                least = child;
        if (least == at)
            return;
        sonde__stream *swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

/* Loads every stream that has something and makes the heap. */
static void build_heap(sonde_reader *reader)
{
    reader->heap_count = 0;
    for (size_t i = 0; i < reader->stream_count; i++) {
        sonde__stream *stream = reader->streams[i];
        if (!stream->loaded && !sonde__stream_advance(reader, stream))
            continue;
        reader->streams[i] = reader->streams[reader->heap_count];
        reader->streams[reader->heap_count++] = stream;
    }
    for (size_t i = reader->heap_count; i-- > 0;)
        sift_down(reader, i);
}

static void pop_heap(sonde_reader *reader)
{
    sonde__stream *stream = reader->streams[0];
    if (!sonde__stream_advance(reader, stream)) {
        reader->heap_count--;
        reader->streams[0] = reader->streams[reader->heap_count];
        reader->streams[reader->heap_count] = stream;
    }
    sift_down(reader, 0);
}

/* --- public --- */

static sonde_status open_all(sonde_reader *reader)
{
    sonde_status status = sonde__reader_add_file(reader, reader->path);
    if (status == SONDE_OK) {
        struct stat st;
        uint32_t owner = stat(reader->path, &st) == 0 ? (uint32_t)st.st_uid : (uint32_t)geteuid();
        if (reader->options.recover || reader->options.live)
            sonde__segment_list(owner, visit_segment, reader);
        if (reader->options.recover)
            sonde__metric_store_sweep();
        sonde__reader_rescan(reader); /* what recovery, or the process itself, has added */
        if (reader->session_known)
            status = add_members(reader);
    }
    if (status != SONDE_OK)
        return complain(reader, status, reader->path, sonde_status_text(status));
    struct stat st;
    if (!reader->session_known && stat(reader->path, &st) == 0 && st.st_size > 0)
        return complain(reader, SONDE_EBADDATA, reader->path,
                        "no valid frame in it: not a journal of Sonde, or damaged throughout");
    return SONDE_OK;
}

static void opener_first(sonde_reader *reader)
{
    for (size_t i = 1; i < reader->run_count; i++)
        if (reader->runs[i]->run.opener && !reader->runs[0]->run.opener) {
            sonde__run_info *swap = reader->runs[0];
            reader->runs[0] = reader->runs[i];
            reader->runs[i] = swap;
        }
}

sonde_status sonde_reader_open(const char *path, const sonde_reader_options *options,
                               sonde_reader **out)
{
    sonde_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return SONDE_ENOMEM;
    sonde_reader_options all = SONDE_READER_OPTIONS_DEFAULT;
    if (options)
        memcpy(&all, options, options->size < sizeof all ? options->size : sizeof all);
    reader->options = all;
    reader->path = realpath(path, NULL);
    if (!reader->path) {
        sonde_status status = sonde__status_of_errno(errno);
        complain(reader, status, path, strerror(errno));
        free(reader);
        return status;
    }
    size_t len = strlen(reader->path);
    bool named =
        len > sizeof SUFFIX && strcmp(reader->path + len - (sizeof SUFFIX - 1), SUFFIX) == 0;
    reader->stem = strndup(reader->path, named ? len - (sizeof SUFFIX - 1) : len);
    sonde_status status = reader->stem ? open_all(reader) : SONDE_ENOMEM;
    if (status != SONDE_OK) {
        sonde_reader_close(reader);
        return status;
    }
    opener_first(reader);
    build_heap(reader);
    *out = reader;
    return SONDE_OK;
}

/* Nobody can end a task any more: attributes that still wait for their task wait in vain. */
static bool all_ended(const sonde_reader *reader)
{
    for (size_t i = 0; i < reader->run_count; i++)
        if (!reader->runs[i]->ended)
            return false;
    return reader->run_count > 0;
}

sonde_status sonde_reader_next(sonde_reader *reader, sonde_record *out)
{
    /* the record before this one is borrowed until now: its stream moves only here */
    for (;;) {
        if (reader->streams && reader->heap_count > 0 && !reader->streams[0]->loaded)
            pop_heap(reader);
        if (!reader->streams || reader->heap_count == 0)
            return all_ended(reader) && sonde__builder_leftover(reader, out) ? SONDE_OK
                                                                             : SONDE_EEND;
        sonde__stream *stream = reader->streams[0];
        bool made = sonde__builder_make(reader, stream, out);
        stream->loaded = false;
        if (made)
            return SONDE_OK;
    }
}

sonde_status sonde_reader_follow(sonde_reader *reader, uint64_t timeout_ns)
{
    uint64_t deadline = sonde__clock_monotonic_ns() + timeout_ns;
    for (;;) {
        bool grew = sonde__reader_rescan(reader);
        size_t sources = reader->source_count;
        if (reader->session_known)
            add_members(reader);
        if (grew || reader->source_count != sources) {
            opener_first(reader);
            if (reader->heap_count > 0 && !reader->streams[0]->loaded)
                pop_heap(reader);
            build_heap(reader);
            if (reader->heap_count > 0)
                return SONDE_OK;
        }
        if (sonde__clock_monotonic_ns() >= deadline)
            return SONDE_EEND;
        nanosleep(&(struct timespec){0, FOLLOW_POLL_NS}, NULL);
    }
}

size_t sonde_reader_run_count(const sonde_reader *reader)
{
    return reader->run_count;
}

const sonde_run *sonde_reader_run(const sonde_reader *reader, size_t index)
{
    return index < reader->run_count ? &reader->runs[index]->run : NULL;
}

void sonde_reader_stats_get(const sonde_reader *reader, sonde_reader_stats *out)
{
    *out = reader->stats;
    for (size_t i = 0; i < reader->source_count; i++) {
        const sonde__journal_scan *scan = &reader->sources[i]->scan;
        if (scan->fd >= 0) {
            out->bytes += scan->size;
            out->bad_bytes += scan->size - scan->valid;
        }
    }
    for (size_t i = 0; i < reader->run_count; i++)
        out->lost += reader->runs[i]->signal_lost;
}

void sonde_reader_close(sonde_reader *reader)
{
    if (!reader)
        return;
    sonde__reader_free_index(reader);
    sonde__builder_free(&reader->builder);
    free(reader->path);
    free(reader->stem);
    free(reader);
}
