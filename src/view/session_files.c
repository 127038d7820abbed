/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are made from the journal, not in the threads that record: a task pays nothing for them, and
   whatever the disk does to the log cannot hold anybody up. The log is append-only and its rows are
   written whole; the summary is replaced by rename. */
#include "view/session_files.h"

#include "base/clock.h"
#include "base/errno_status.h"
#include "sonde/reader.h"
#include "view/atomic_file.h"
#include "view/json_indent.h"
#include "view/packet_csv.h"
#include "view/session_facts.h"
#include "view/summary_json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ROWS_BYTES = 256 << 10,   /* written at once */
    ROWS_BYTES_MAX = 4 << 20, /* held while the log cannot be written; then rows wait */
    SUMMARY_BYTES_MAX = 16 << 20,
    FD_FLOOR = 64,
};

/* The summary is refreshed when something was added, or its time has grown old. */
#define REFRESH_NS      1000000000u
#define REFRESH_IDLE_NS 10000000000u

struct sonde__session_files {
    char journal[PATH_MAX];
    char csv[PATH_MAX];
    char json[PATH_MAX];
    int fd;
    dev_t dev;
    ino_t ino;
    sonde_reader *reader; /* NULL: the journal has no frame yet */
    sonde__buf rows;
    sonde__buf compact;
    sonde__buf pretty;
    sonde__tally tally;
    sonde__packet packet;
    uint64_t csv_bytes;
    bool log_closed; /* the disk does not take the last rows: they are counted instead */
    uint64_t rows_missing;
    sonde_status rows_reason;
    uint64_t open;
    uint64_t refreshed_ns;
    uint64_t refreshed_packets;
    sonde_status last_error;
    void (*more)(sonde__json *json, void *user);
    void *user;
};

static bool make_paths(sonde__session_files *files, const char *journal)
{
    const char suffix[] = ".sonde";
    size_t len = strlen(journal), stem = len - (sizeof suffix - 1);
    if (len < sizeof suffix || len >= sizeof files->journal || strcmp(journal + stem, suffix) != 0)
        return false;
    memcpy(files->journal, journal, len + 1);
    memcpy(files->csv, journal, stem);
    memcpy(files->csv + stem, ".csv", 5);
    memcpy(files->json, journal, stem);
    memcpy(files->json + stem, ".json", 6);
    return true;
}

static sonde_status status_of_write(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? SONDE_ELIMIT
                                                                : sonde__status_of_errno(error);
}

/* The host may have closed our descriptor, and its number may be another file now. */
static bool is_ours(const sonde__session_files *files)
{
    struct stat st;
    return fstat(files->fd, &st) == 0 && st.st_dev == files->dev && st.st_ino == files->ino;
}

static sonde_status check_descriptor(sonde__session_files *files)
{
    struct stat st;
    if (is_ours(files))
        return SONDE_OK;
    int fd = open(files->csv, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return status_of_write(errno);
    if (fstat(fd, &st) != 0 || st.st_dev != files->dev || st.st_ino != files->ino) {
        close(fd);
        return SONDE_EGONE;
    }
    files->fd = fd;
    return SONDE_OK;
}

/* Appends what is held, and takes back a row that was cut off by a full disk. */
static void write_rows(sonde__session_files *files)
{
    size_t done = 0;
    files->last_error = check_descriptor(files);
    if (files->last_error != SONDE_OK)
        return;
    while (done < files->rows.len) {
        ssize_t wrote = pwrite(files->fd, files->rows.data + done, files->rows.len - done,
                               (off_t)(files->csv_bytes + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            files->last_error = wrote < 0 ? status_of_write(errno) : SONDE_EIO;
            break;
        }
        done += (size_t)wrote;
    }
    while (done > 0 && done < files->rows.len && files->rows.data[done - 1] != '\n')
        done--;
    if (files->last_error != SONDE_OK &&
        ftruncate(files->fd, (off_t)(files->csv_bytes + done)) != 0)
        files->last_error = SONDE_EIO;
    files->csv_bytes += done;
    if (done > 0)
        memmove(files->rows.data, files->rows.data + done, files->rows.len - done);
    files->rows.len -= done;
}

static void make_summary(sonde__session_files *files, const char *state)
{
    sonde__session_facts facts = {0};
    sonde_reader_stats stats = {0};
    if (files->reader) {
        sonde__session_facts_read(files->reader, &facts);
        sonde_reader_stats_get(files->reader, &stats);
    }
    if (state && strcmp(state, "finished") == 0 && facts.died > 0)
        state = "died";
    sonde__summary summary = {
        .session_name = facts.session_name,
        .start_ns = facts.start_ns,
        .end_ns = facts.end_ns > 0 && strcmp(state, "running") != 0 ? facts.end_ns
                                                                    : sonde__clock_wall_ns(),
        .prompt_tokens = facts.prompt_tokens,
        .tokens_generated = facts.tokens_generated,
        .csv_log = files->csv,
        .json_summary = files->json,
        .state = state,
        .with_loss = true,
        .lost = stats.lost,
        .missing = stats.missing,
        .open = files->open,
        .csv_rows_missing = files->rows_missing,
        .csv_reason = sonde_status_text(files->rows_reason),
        .more = files->more,
        .user = files->user,
    };
    sonde__json json;
    sonde__buf_clear(&files->compact);
    sonde__buf_clear(&files->pretty);
    sonde__json_init(&json, &files->compact);
    sonde__summary_json(&json, &summary, &files->tally);
    sonde__json_indent(&files->pretty, files->compact.data, files->compact.len);
}

static void write_summary(sonde__session_files *files, const char *state)
{
    make_summary(files, state);
    sonde_status status = files->pretty.status;
    if (status == SONDE_OK)
        status = sonde__atomic_write(files->json, files->pretty.data, files->pretty.len);
    if (status != SONDE_OK)
        files->last_error = status;
    files->refreshed_ns = sonde__clock_monotonic_ns();
    files->refreshed_packets = files->tally.packets;
}

/* Out of the way of numbers that programs use by hand. */
static void lift(sonde__session_files *files)
{
    struct stat st;
    int high = fcntl(files->fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high >= 0) {
        close(files->fd);
        files->fd = high;
    }
    if (fstat(files->fd, &st) == 0) {
        files->dev = st.st_dev;
        files->ino = st.st_ino;
    }
}

sonde_status sonde__session_files_open(const char *journal, sonde__session_files **out)
{
    sonde__session_files *files = calloc(1, sizeof *files);
    if (!files)
        return SONDE_ENOMEM;
    files->fd = -1;
    sonde__tally_init(&files->tally, SONDE__TALLY_SUMMARY);
    sonde__buf_init(&files->rows, ROWS_BYTES_MAX);
    sonde__buf_init(&files->compact, SUMMARY_BYTES_MAX);
    sonde__buf_init(&files->pretty, SUMMARY_BYTES_MAX);
    sonde_status status = make_paths(files, journal) ? SONDE_OK : SONDE_ELIMIT;
    if (status == SONDE_OK) {
        files->fd = open(files->csv, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (files->fd < 0)
            status = errno == EEXIST ? SONDE_EBUSY : status_of_write(errno);
        else
            lift(files);
    }
    if (status == SONDE_OK) {
        sonde__buf_text(&files->rows, sonde__packet_csv_header);
        status = files->rows.status;
    }
    if (status == SONDE_OK) {
        write_rows(files);
        status = files->last_error;
    }
    if (status != SONDE_OK) {
        if (files->fd >= 0)
            unlink(files->csv);
        sonde__session_files_abandon(files);
        return status;
    }
    *out = files;
    return SONDE_OK;
}

static void add_row(sonde__session_files *files)
{
    if (!files->log_closed) {
        sonde__packet_csv_write(&files->rows, &files->packet);
        if (files->rows.status == SONDE_OK)
            return;
        files->rows_reason =
            files->rows.status; /* no memory for this one; the next may be shorter */
        files->rows.status = SONDE_OK;
    }
    files->rows_missing++;
}

static void take_record(sonde__session_files *files, const sonde_record *record)
{
    if (sonde__packet_of_record(record, &files->packet)) {
        add_row(files);
        sonde__tally_add(&files->tally, &files->packet);
    } else if (record->kind == SONDE_RECORD_OPEN) {
        files->open++;
    }
}

static bool open_reader(sonde__session_files *files)
{
    if (files->reader)
        return sonde_reader_follow(files->reader, 0) == SONDE_OK;
    sonde_reader_options options = SONDE_READER_OPTIONS_DEFAULT;
    options.recover = options.live = 0;
    return sonde_reader_open(files->journal, &options, &files->reader) == SONDE_OK;
}

/* True: there may be more. */
static bool take_records(sonde__session_files *files, size_t records_max)
{
    sonde_record record;
    bool fresh = false;
    while (files->reader || (fresh = open_reader(files))) {
        if (files->rows.len >= ROWS_BYTES)
            write_rows(files);
        if (files->rows.len >= ROWS_BYTES)
            return false; /* the disk does not take them now */
        if (records_max == 0)
            return true;
        if (sonde_reader_next(files->reader, &record) == SONDE_OK) {
            take_record(files, &record);
            records_max--;
        } else if (fresh || !open_reader(files)) {
            return false;
        } else {
            fresh = true; /* followed once in this pass */
        }
    }
    return false;
}

bool sonde__session_files_pass(sonde__session_files *files, size_t records_max)
{
    bool more = take_records(files, records_max);
    if (files->rows.len > 0)
        write_rows(files);
    uint64_t age_ns = sonde__clock_monotonic_ns() - files->refreshed_ns;
    bool changed = files->tally.packets != files->refreshed_packets;
    if (age_ns >= (changed ? REFRESH_NS : REFRESH_IDLE_NS))
        write_summary(files, "running");
    return more;
}

void sonde__session_files_more(sonde__session_files *files,
                               void (*more)(sonde__json *json, void *user), void *user)
{
    files->more = more;
    files->user = user;
}

void sonde__session_files_stats_get(const sonde__session_files *files,
                                    sonde__session_files_stats *out)
{
    sonde_reader_stats stats = {0};
    *out = (sonde__session_files_stats){
        .packets = files->tally.packets,
        .failed = files->tally.failed,
        .open = files->open,
        .csv_bytes = files->csv_bytes,
        .last_error = files->last_error,
    };
    if (!files->reader)
        return;
    sonde_reader_stats_get(files->reader, &stats);
    out->lost = stats.lost;
    out->missing = stats.missing;
    out->rows_missing = files->rows_missing;
    out->journal_bytes = stats.bytes;
    out->journals = stats.files;
}

const char *sonde__session_files_csv(const sonde__session_files *files)
{
    return files->csv;
}

const char *sonde__session_files_json(const sonde__session_files *files)
{
    return files->json;
}

/* Rows that could not be written up to now never will be; the summary still counts everything. */
static void close_log(sonde__session_files *files)
{
    for (size_t i = 0; i < files->rows.len; i++)
        files->rows_missing += files->rows.data[i] == '\n';
    files->rows_reason = files->last_error;
    files->log_closed = true;
    sonde__buf_clear(&files->rows);
}

void sonde__session_files_close(sonde__session_files *files, sonde__session_files_stats *out)
{
    if (files && files->fd >= 0) {
        while (sonde__session_files_pass(files, SIZE_MAX))
            ;
        if (files->rows.len > 0) {
            close_log(files);
            take_records(files, SIZE_MAX);
        }
        write_summary(files, files->reader ? "finished" : "incomplete");
        if (out)
            sonde__session_files_stats_get(files, out);
    }
    sonde__session_files_abandon(files);
}

void sonde__session_files_abandon(sonde__session_files *files)
{
    if (!files)
        return;
    if (files->fd >= 0 && is_ours(files))
        close(files->fd);
    sonde_reader_close(files->reader);
    sonde__tally_free(&files->tally);
    sonde__buf_free(&files->rows);
    sonde__buf_free(&files->compact);
    sonde__buf_free(&files->pretty);
    free(files);
}
