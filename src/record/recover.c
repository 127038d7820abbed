/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery: the drain's own passes on a copy of the segment. Whoever holds the segment's lock does
   it; a death in the middle is found by the next one, who sees in the journal how far it came. */
#include "record/recover.h"

#include "base/errno_status.h"
#include "record/drain.h"
#include "record/frame_scan.h"
#include "record/metric_frame.h"
#include "record/metric_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DISCARDED_MAX = 1 << 30 }; /* bytes of frames that are made only to be counted */

/* What the journal has of a run behind the point that the segment accounts for. */
typedef struct seen {
    uint64_t run;
    bool ended;
    uint64_t next_seq[SONDE__LANES_LIMIT + 1];
} seen;

static void note_frame(void *user, const sonde__frame_header *header, const uint8_t *frame,
                       uint64_t offset)
{
    (void)offset;
    seen *s = user;
    if (header->run != s->run || header->type != SONDE__FRAME_RECORDS)
        return;
    if (header->lane <= SONDE__LANES_LIMIT) {
        uint64_t next = header->first_seq + header->count;
        if (header->count > 0 && next > s->next_seq[header->lane])
            s->next_seq[header->lane] = next;
        return;
    }
    const uint8_t *record = frame + sizeof *header + header->string_bytes;
    if (header->records == 1 && header->plain_bytes == 0 &&
        header->length > sizeof *header + header->string_bytes &&
        (record[0] & 15) == SONDE__KIND_RUN_END)
        s->ended = true;
}

static sonde_status look_at_journal(const sonde__segment_header *header, sonde__journal *journal,
                                    seen *s)
{
    *s = (seen){.run = header->run};
    uint64_t from = atomic_load_explicit(&header->journal_end, memory_order_relaxed);
    if (from > journal->end)
        from = 0;
    sonde__journal_scan scan = {.fd = journal->fd, .next = from};
    return sonde__frame_scan(&scan, note_frame, s);
}

static sonde_status pump_out(const sonde__segment_image *image, sonde__journal *journal, seen *s,
                             sonde_recovery *out)
{
    sonde__pump *pump = calloc(1, sizeof *pump);
    if (!pump)
        return SONDE_ENOMEM;
    sonde_status status = sonde__pump_init(pump, image->base, image->size, journal);
    if (status != SONDE_OK) {
        free(pump);
        return status;
    }
    const sonde__segment_header *header = sonde__image_header(image);
    uint32_t lanes = atomic_load_explicit(&header->lanes_used, memory_order_relaxed);
    for (uint32_t i = 0; i < lanes; i++)
        sonde__pump_skip(pump, i, s->next_seq[i]);
    pump->records = 0;
    bool moved;
    status = sonde__pump_pass(pump, &moved);
    sonde__run_end end = {SONDE_UNKNOWN, SONDE_RUN_RECOVERED, NULL, NULL, 0};
    if (status == SONDE_OK && !s->ended)
        status = sonde__pump_finish(pump, &end);
    out->records = pump->records;
    out->open = pump->open;
    out->lost = pump->lost;
    sonde__pump_free(pump);
    free(pump);
    return status;
}

/* The journal is gone, and with it the place for what the segment holds: that is counted, and the
   segment removed. */
static sonde_status discard(const sonde__segment_image *image, const char *path,
                            sonde_recovery *out)
{
    sonde__buf memory;
    sonde__journal journal;
    seen s = {.run = sonde__image_header(image)->run};
    sonde__buf_init(&memory, DISCARDED_MAX);
    sonde__journal_in_memory(&journal, &memory);
    sonde_status status = pump_out(image, &journal, &s, out);
    sonde__buf_free(&memory);
    if (status != SONDE_OK)
        return status;
    out->lost += out->records;
    out->records = 0;
    snprintf(out->reason, sizeof out->reason, "its journal was removed; what was left is, too");
    sonde__metric_store_remove(sonde__image_header(image)->run);
    unlink(path);
    return SONDE_OK;
}

/* True when the journal was removed and its folder was not: a folder may come back. */
static bool was_removed(const char *journal)
{
    char folder[SONDE__JOURNAL_PATH_MAX];
    struct stat st;
    snprintf(folder, sizeof folder, "%s", journal);
    *strrchr(folder, '/') = '\0'; /* the header's check has seen that it begins with one */
    return stat(folder[0] ? folder : "/", &st) == 0 && S_ISDIR(st.st_mode);
}

static sonde_status recover_into_journal(const sonde__segment_image *image, const char *path,
                                         bool gone_too, sonde_recovery *out)
{
    const sonde__segment_header *header = sonde__image_header(image);
    sonde__journal journal;
    seen s;
    unsigned part = atomic_load_explicit(&header->journal_part, memory_order_acquire);
    char journal_path[SONDE__JOURNAL_PATH_MAX];
    if (!sonde__journal_part_path(header->journal_path, part, journal_path))
        return SONDE_EBADDATA;
    sonde_status status = sonde__journal_open(&journal, journal_path);
    if (status == SONDE_EABSENT && (gone_too || was_removed(journal_path)))
        return discard(image, path, out);
    if (status == SONDE_EABSENT) {
        snprintf(out->reason, sizeof out->reason,
                 "the folder of its journal is not there; --discard removes what is left");
        return status;
    }
    if (status != SONDE_OK) {
        snprintf(out->reason, sizeof out->reason, "its journal cannot be written: %s",
                 sonde_status_text(status));
        return status;
    }
    status = look_at_journal(header, &journal, &s);
    if (status == SONDE_OK)
        status = pump_out(image, &journal, &s, out);
    if (status == SONDE_OK &&
        sonde__metric_frames_recover(&journal, header->session, header->run) != SONDE_EIO)
        sonde__metric_store_remove(header->run);
    if (status == SONDE_OK && fdatasync(journal.fd) != 0)
        status = SONDE_EIO;
    sonde__journal_close(&journal);
    if (status == SONDE_OK)
        unlink(path);
    else
        snprintf(out->reason, sizeof out->reason, "writing its journal failed: %s",
                 sonde_status_text(status));
    return status;
}

sonde_status sonde__recover_segment(const char *path, bool gone_too, sonde_recovery *out)
{
    *out = (sonde_recovery){0};
    snprintf(out->segment, sizeof out->segment, "%s", path);
    sonde__segment_image image;
    out->status = sonde__segment_image_open(&image, path, (uint32_t)geteuid(), true, out->reason);
    if (out->status == SONDE_EEARLY) { /* it died while it opened: there is nothing in it */
        unlink(path);
        sonde__segment_image_close(&image);
        return out->status = SONDE_OK;
    }
    if (out->status != SONDE_OK)
        return out->status;
    const sonde__segment_header *header = sonde__image_header(&image);
    memcpy(out->journal, header->journal_path, sizeof header->journal_path);
    out->run = header->run;
    out->pid = header->pid;
    out->status = recover_into_journal(&image, path, gone_too, out);
    sonde__segment_image_close(&image);
    return out->status;
}

sonde_status sonde__segment_frames(const sonde__segment_image *image, bool dead, sonde__buf *out)
{
    sonde__pump *pump = calloc(1, sizeof *pump);
    sonde__journal journal;
    if (!pump)
        return SONDE_ENOMEM;
    sonde__journal_in_memory(&journal, out);
    sonde_status status = sonde__pump_init(pump, image->base, image->size, &journal);
    if (status == SONDE_OK) {
        bool moved;
        sonde__run_end end = {SONDE_UNKNOWN, SONDE_RUN_DIED, NULL, NULL, 0};
        status = sonde__pump_pass(pump, &moved);
        if (status == SONDE_OK)
            status = dead ? sonde__pump_finish(pump, &end) : sonde__pump_tell_dropped(pump);
        if (status == SONDE_OK && !dead)
            status = sonde__pump_open_tasks(pump);
        sonde__pump_free(pump);
    }
    free(pump);
    return status;
}

typedef struct search {
    char dir[SONDE__JOURNAL_PATH_MAX]; /* "" for any */
    void (*report)(void *user, const sonde_recovery *what);
    void *user;
    sonde_status worst;
    bool gone_too;
} search;

/* True when the segment writes into the directory that is asked for. */
static bool wanted(const search *s, const char *path)
{
    if (s->dir[0] == '\0')
        return true;
    sonde__segment_header header;
    if (sonde__segment_peek(path, (uint32_t)geteuid(), &header) != SONDE_OK)
        return false;
    size_t len = strlen(s->dir);
    return strncmp(header.journal_path, s->dir, len) == 0 && header.journal_path[len] == '/' &&
           strchr(header.journal_path + len + 1, '/') == NULL;
}

static void recover_one(void *user, const char *path)
{
    search *s = user;
    if (!wanted(s, path))
        return;
    sonde_recovery what;
    sonde_status status = sonde__recover_segment(path, s->gone_too, &what);
    if (status == SONDE_EIO || status == SONDE_ELIMIT)
        s->worst = SONDE_EIO;
    if (s->report)
        s->report(s->user, &what);
}

static sonde_status recover_all(const char *dir,
                                void (*report)(void *user, const sonde_recovery *what), void *user,
                                bool gone_too)
{
    search s = {.report = report, .user = user, .worst = SONDE_OK, .gone_too = gone_too};
    if (dir) {
        char *absolute = realpath(dir, NULL);
        if (!absolute)
            return sonde__status_of_errno(errno);
        snprintf(s.dir, sizeof s.dir, "%s", strcmp(absolute, "/") == 0 ? "" : absolute);
        free(absolute);
    }
    sonde__segment_list((uint32_t)geteuid(), recover_one, &s);
    sonde__metric_store_sweep();
    return s.worst;
}

sonde_status sonde_recover(const char *dir, void (*report)(void *user, const sonde_recovery *what),
                           void *user)
{
    return recover_all(dir, report, user, false);
}

sonde_status sonde_recover_discard(const char *dir,
                                   void (*report)(void *user, const sonde_recovery *what),
                                   void *user)
{
    return recover_all(dir, report, user, true);
}
