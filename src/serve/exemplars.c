/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/exemplars.h"

#include "serve/worker.h"
#include "sonde/reader.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 32, RECORDS_AT_ONCE = 5000, KEPT = 512, NAME_BYTES = 256 };

/* A record without what it borrowed, but its name. */
typedef struct example {
    sonde_record record;
    char name[NAME_BYTES];
} example;

typedef struct tail {
    char path[SONDE__PROCESS_PATH];
    sonde_reader *reader;
    bool wanted;
} tail;

struct sonde__exemplars {
    sonde__worker *worker;
    bool busy; /* the job, and all below, is the worker's */
    sonde__job job;
    char paths[SESSIONS][SONDE__PROCESS_PATH];
    size_t path_count;
    tail tails[SESSIONS];
    example kept[KEPT]; /* a ring of the last ones */
    uint64_t kept_count;
};

static void keep(sonde__exemplars *all, const sonde_record *record)
{
    if (record->kind != SONDE_RECORD_TASK || record->name_len >= NAME_BYTES)
        return;
    example *to = &all->kept[all->kept_count++ % KEPT];
    memcpy(to->name, record->name, record->name_len);
    to->record = (sonde_record){.kind = record->kind,
                                .run = record->run,
                                .id = record->id,
                                .trace_hi = record->trace_hi,
                                .trace_lo = record->trace_lo,
                                .name = to->name,
                                .name_len = record->name_len,
                                .submitted_wall_ns = record->submitted_wall_ns,
                                .start_wall_ns = record->start_wall_ns,
                                .end_wall_ns = record->end_wall_ns,
                                .duration_ns = record->duration_ns};
}

static void read_on(sonde__exemplars *all, sonde_reader *reader)
{
    sonde_record record;
    for (int i = 0; i < RECORDS_AT_ONCE; i++) {
        if (sonde_reader_next(reader, &record) == SONDE_OK)
            keep(all, &record);
        else if (sonde_reader_follow(reader, 0) != SONDE_OK)
            return;
    }
}

static tail *tail_of(sonde__exemplars *all, const char *path)
{
    tail *unused = NULL;
    for (size_t i = 0; i < SESSIONS; i++) {
        tail *one = &all->tails[i];
        if (one->reader && strcmp(one->path, path) == 0)
            return one;
        if (!one->reader && !unused)
            unused = one;
    }
    sonde_reader_options options = SONDE_READER_OPTIONS_DEFAULT;
    options.recover = 0;
    options.live = 0;
    if (!unused || sonde_reader_open(path, &options, &unused->reader) != SONDE_OK)
        return NULL;
    memcpy(unused->path, path, strlen(path) + 1);
    return unused;
}

static void close_tails(sonde__exemplars *all, bool unwanted_only)
{
    for (size_t i = 0; i < SESSIONS; i++) {
        tail *one = &all->tails[i];
        if (one->reader && !(unwanted_only && one->wanted)) {
            sonde_reader_close(one->reader);
            one->reader = NULL;
        }
    }
}

static void run(sonde__job *job)
{
    sonde__exemplars *all =
        (sonde__exemplars *)(void *)((char *)job - offsetof(sonde__exemplars, job));
    for (size_t i = 0; i < SESSIONS; i++)
        all->tails[i].wanted = false;
    for (size_t i = 0; i < all->path_count; i++) {
        tail *one = tail_of(all, all->paths[i]);
        if (!one)
            continue;
        one->wanted = true;
        read_on(all, one->reader);
    }
    close_tails(all, true);
}

sonde__exemplars *sonde__exemplars_create(int wake_fd)
{
    sonde__exemplars *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->worker = sonde__worker_create(wake_fd);
    if (!all->worker) {
        free(all);
        return NULL;
    }
    return all;
}

void sonde__exemplars_destroy(sonde__exemplars *all)
{
    if (!all)
        return;
    sonde__worker_destroy(all->worker);
    close_tails(all, false);
    free(all);
}

static void add_path(sonde__exemplars *all, const char *path)
{
    for (size_t i = 0; i < all->path_count; i++)
        if (strcmp(all->paths[i], path) == 0)
            return;
    if (all->path_count < SESSIONS)
        memcpy(all->paths[all->path_count++], path, strlen(path) + 1);
}

void sonde__exemplars_read(sonde__exemplars *all, const sonde__processes *processes)
{
    if (all->busy)
        return;
    all->path_count = 0;
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->journal[0])
            add_path(all, processes->list[i]->journal);
    all->job.run = run;
    all->busy = sonde__worker_submit(all->worker, &all->job);
}

void sonde__exemplars_collect(sonde__exemplars *all, sonde_view *view)
{
    if (!sonde__worker_done(all->worker))
        return;
    all->busy = false;
    uint64_t count = all->kept_count < KEPT ? all->kept_count : KEPT;
    for (uint64_t i = all->kept_count - count; i < all->kept_count; i++)
        sonde_view_exemplar(view, &all->kept[i % KEPT].record);
    all->kept_count = 0;
}
