/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the journal. The descriptor is kept above the numbers that programs use by hand, and
   checked before each write: daemons close all descriptors, and the number may then be somebody
   else's file. */
#include "record/journal.h"

#include "base/errno_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FD_FLOOR = 64, PIECES_MAX = 4, CLASH_MAX = 1000 };

static sonde_status status_of_write(int error)
{
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return SONDE_ELIMIT;
    sonde_status status = sonde__status_of_errno(error);
    return status == SONDE_OK ? SONDE_EIO : status;
}

/* Moves fd out of the way of the host; keeps it where it is when that is not possible. */
static int lift(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static sonde_status adopt(sonde__journal *journal, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
        close(fd);
        return SONDE_EDENIED;
    }
    journal->fd = lift(fd);
    journal->dev = st.st_dev;
    journal->ino = st.st_ino;
    journal->end = (uint64_t)st.st_size;
    return SONDE_OK;
}

static sonde_status remember_path(sonde__journal *journal, const char *path)
{
    *journal = (sonde__journal){.fd = -1, .part = 1};
    if (strlen(path) >= sizeof journal->path)
        return SONDE_ELIMIT;
    memcpy(journal->path, path, strlen(path) + 1);
    memcpy(journal->part_path, path, strlen(path) + 1);
    return SONDE_OK;
}

sonde_status sonde__journal_create(sonde__journal *journal, const char *path)
{
    sonde_status status = remember_path(journal, path);
    if (status != SONDE_OK)
        return status;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno == EEXIST ? SONDE_EBUSY : status_of_write(errno);
    return adopt(journal, fd);
}

sonde_status sonde__journal_open(sonde__journal *journal, const char *path)
{
    sonde_status status = remember_path(journal, path);
    if (status != SONDE_OK)
        return status;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return status_of_write(errno);
    return adopt(journal, fd);
}

/* True when the descriptor is still our file. */
static bool is_ours(const sonde__journal *journal)
{
    struct stat st;
    return journal->fd >= 0 && fstat(journal->fd, &st) == 0 && st.st_dev == journal->dev &&
           st.st_ino == journal->ino;
}

static sonde_status reopen(sonde__journal *journal)
{
    uint64_t end = journal->end;
    dev_t dev = journal->dev;
    ino_t ino = journal->ino;
    int fd = open(journal->part_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return status_of_write(errno);
    sonde_status status = adopt(journal, fd);
    if (status == SONDE_OK && (journal->dev != dev || journal->ino != ino)) {
        close(journal->fd);
        journal->fd = -1;
        status = SONDE_EGONE;
    }
    journal->dev = dev;
    journal->ino = ino;
    journal->end = end;
    return status;
}

static sonde_status write_all(sonde__journal *journal, struct iovec *pieces, int count)
{
    uint64_t at = journal->end;
    while (count > 0) {
        ssize_t wrote = pwritev(journal->fd, pieces, count, (off_t)at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? status_of_write(errno) : SONDE_EIO;
        at += (uint64_t)wrote;
        size_t left = (size_t)wrote;
        while (count > 0 && left >= pieces->iov_len) {
            left -= pieces->iov_len;
            pieces++;
            count--;
        }
        if (count > 0) {
            pieces->iov_base = (char *)pieces->iov_base + left;
            pieces->iov_len -= left;
        }
    }
    return SONDE_OK;
}

sonde_status sonde__journal_write(sonde__journal *journal, const struct iovec *pieces, int count,
                                  size_t length)
{
    if (journal->memory) {
        for (int i = 0; i < count; i++)
            sonde__buf_append(journal->memory, pieces[i].iov_base, pieces[i].iov_len);
        journal->end += length;
        journal->written += length;
        return journal->memory->status;
    }
    struct iovec copy[PIECES_MAX];
    memcpy(copy, pieces, (size_t)count * sizeof *pieces);
    sonde_status status = is_ours(journal) ? SONDE_OK : reopen(journal);
    if (status == SONDE_OK)
        status = write_all(journal, copy, count);
    if (status == SONDE_OK) {
        journal->end += length;
        journal->written += length;
    } else {
        journal->errors++;
    }
    journal->last = status;
    return status;
}

sonde_status sonde__journal_frame(sonde__journal *journal, sonde__frame_header *header,
                                  struct iovec *body, int count)
{
    struct iovec pieces[PIECES_MAX] = {{header, sizeof *header}};
    count = sonde__pack(&journal->packer, header, body, count);
    uint32_t length = sonde__frame_seal(header, body, count);
    memcpy(pieces + 1, body, (size_t)count * sizeof *body);
    return sonde__journal_write(journal, pieces, count + 1, length);
}

void sonde__journal_in_memory(sonde__journal *journal, sonde__buf *memory)
{
    *journal = (sonde__journal){.fd = -1, .part = 1, .memory = memory};
}

bool sonde__journal_part_path(const char *path, unsigned part, char out[SONDE__JOURNAL_PATH_MAX])
{
    const char suffix[] = ".sonde";
    size_t len = strlen(path);
    if (len < sizeof suffix || len >= SONDE__JOURNAL_PATH_MAX)
        return false;
    int stem = (int)(len - (sizeof suffix - 1));
    int wrote =
        part <= 1 ? snprintf(out, SONDE__JOURNAL_PATH_MAX, "%s", path)
                  : snprintf(out, SONDE__JOURNAL_PATH_MAX, "%.*s.p%u%s", stem, path, part, suffix);
    return wrote > 0 && wrote < SONDE__JOURNAL_PATH_MAX;
}

sonde_status sonde__journal_next_part(sonde__journal *journal)
{
    for (unsigned part = journal->part + 1; part <= journal->part + CLASH_MAX; part++) {
        sonde__journal next;
        char path[SONDE__JOURNAL_PATH_MAX];
        if (!sonde__journal_part_path(journal->path, part, path))
            return SONDE_ELIMIT;
        sonde_status status = sonde__journal_create(&next, path);
        if (status == SONDE_EBUSY)
            continue;
        if (status != SONDE_OK) {
            journal->errors++;
            return status;
        }
        if (is_ours(journal))
            close(journal->fd);
        journal->fd = next.fd;
        journal->dev = next.dev;
        journal->ino = next.ino;
        journal->before += journal->end;
        journal->end = 0;
        journal->part = part;
        memcpy(journal->part_path, path, sizeof path);
        return SONDE_OK;
    }
    return SONDE_ELIMIT;
}

sonde_status sonde__journal_sync(sonde__journal *journal)
{
    if (journal->memory || (is_ours(journal) && fdatasync(journal->fd) == 0))
        return SONDE_OK;
    journal->errors++;
    journal->last = SONDE_EIO;
    (void)sonde__journal_next_part(journal);
    return SONDE_EIO;
}

void sonde__journal_close(sonde__journal *journal)
{
    if (!journal->memory && is_ours(journal))
        close(journal->fd);
    journal->fd = -1;
    sonde__packer_free(&journal->packer);
}
