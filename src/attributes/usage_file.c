/* SPDX-License-Identifier: Apache-2.0 */
/* The file that metrics last in. Whoever writes holds flock on it; under the lock the end of what
   is whole is found, what a writer that died left behind it is cut off, and the commit is written
   there. When the deltas outweigh the snapshot before them, a new file with a snapshot takes the
   place of the old one by rename; who waited for the old one's lock sees that and opens the new
   one. The view of a handle is a pure function of the file: own commits are read back like all
   others. */
#include "attributes/usage_frame.h"
#include "base/errno_status.h"
#include "base/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    COMPACT_BYTES_MIN = 1 << 20, /* deltas of less than this stay */
    COMPACT_RATIO = 4,           /* deltas may be so many times the snapshot */
    RESYNC_BYTES = 64 << 10,     /* looked through at once for the next frame */
};

struct sonde_usage_file {
    char *path;
    char *path_new; /* of the file being compacted */
    int fd;
    uint64_t end;          /* of what has been read: always the end of a commit */
    uint64_t snapshot_end; /* of the snapshot at the beginning, 0: none */
    uint64_t writer;
    uint64_t sequence;
    sonde_usage *view;
    sonde_usage *pending;
    sonde__buf frame; /* being read or written */
};

static sonde_status status_of(int error)
{
    bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return full ? SONDE_ELIMIT : sonde__status_of_errno(error);
}

static sonde_status check_kind(int fd)
{
    /* NFS, SMB, CIFS, SMB2: flock there is not what it is here */
    static const unsigned remote[] = {0x6969, 0x517B, 0xFF534D42, 0xFE534D42};
    struct stat info;
    struct statfs system;
    if (fstat(fd, &info) != 0 || fstatfs(fd, &system) != 0)
        return status_of(errno);
    if (!S_ISREG(info.st_mode))
        return SONDE_EBADDATA;
    for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++) {
        if ((unsigned)system.f_type == remote[i])
            return SONDE_EUNSUPPORTED;
    }
    uint32_t magic = SONDE__USAGE_MAGIC;
    uint32_t start = 0;
    ssize_t got = pread(fd, &start, sizeof start, 0);
    if (got < 0)
        return status_of(errno);
    return memcmp(&start, &magic, (size_t)got) == 0 ? SONDE_OK : SONDE_EBADDATA;
}

/* Opens the path; what was read before is of another file. */
static sonde_status open_path(sonde_usage_file *file)
{
    int fd = open(file->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0)
        return errno == EISDIR ? SONDE_EBADDATA : status_of(errno);
    sonde_status status = check_kind(fd);
    if (status != SONDE_OK) {
        close(fd);
        return status;
    }
    if (file->fd >= 0)
        close(file->fd);
    file->fd = fd;
    file->end = file->snapshot_end = 0;
    sonde__usage_clear(file->view);
    return SONDE_OK;
}

/* Whether the descriptor is still the file of that name. */
static bool is_current(const sonde_usage_file *file)
{
    struct stat ours;
    struct stat named;
    return fstat(file->fd, &ours) == 0 && stat(file->path, &named) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

static sonde_status lock_file(sonde_usage_file *file)
{
    for (;;) {
        while (flock(file->fd, LOCK_EX) != 0) {
            if (errno != EINTR)
                return status_of(errno);
        }
        if (is_current(file))
            return SONDE_OK;
        sonde_status status = open_path(file);
        if (status != SONDE_OK)
            return status;
    }
}

static void unlock_file(const sonde_usage_file *file)
{
    flock(file->fd, LOCK_UN);
}

/* Reads len bytes at offset into the frame buffer. EABSENT: there are fewer. */
static sonde_status read_bytes(sonde_usage_file *file, uint64_t offset, size_t len)
{
    sonde__buf_clear(&file->frame);
    if (!sonde__buf_reserve(&file->frame, len))
        return file->frame.status;
    while (file->frame.len < len) {
        ssize_t got = pread(file->fd, file->frame.data + file->frame.len, len - file->frame.len,
                            (off_t)(offset + file->frame.len));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return status_of(errno);
        if (got == 0)
            return SONDE_EABSENT;
        file->frame.len += (size_t)got;
    }
    return SONDE_OK;
}

/* Reads the frame at offset and checks it. EBADDATA: there is no good one; EABSENT: nor is there
   enough of the file for one. */
static sonde_status read_frame(sonde_usage_file *file, uint64_t offset, sonde__usage_header *header)
{
    sonde_status status = read_bytes(file, offset, sizeof *header);
    if (status != SONDE_OK)
        return status;
    memcpy(header, file->frame.data, sizeof *header);
    if (!sonde__usage_header_good(header))
        return SONDE_EBADDATA;
    status = read_bytes(file, offset, header->length);
    if (status == SONDE_OK && !sonde__usage_frame_good((const uint8_t *)file->frame.data))
        status = SONDE_EBADDATA;
    return status;
}

/* Where the commit that begins at offset ends. EBADDATA, EABSENT: it is not whole. */
static sonde_status find_commit(sonde_usage_file *file, uint64_t offset, uint64_t *end)
{
    sonde__usage_header first;
    sonde_status status = read_frame(file, offset, &first);
    if (status != SONDE_OK)
        return status;
    if (!(first.flags & SONDE__USAGE_FLAG_FIRST))
        return SONDE_EBADDATA;
    sonde__usage_header header = first;
    offset += header.length;
    while (!(header.flags & SONDE__USAGE_FLAG_LAST)) {
        status = read_frame(file, offset, &header);
        if (status != SONDE_OK)
            return status;
        if (header.writer != first.writer || header.sequence != first.sequence)
            return SONDE_EBADDATA;
        offset += header.length;
    }
    *end = offset;
    return SONDE_OK;
}

/* Applies a commit that is whole to the view. */
static sonde_status apply_commit(sonde_usage_file *file, uint64_t start, uint64_t end)
{
    sonde__usage_header header = {0};
    for (uint64_t at = start; at < end; at += header.length) {
        sonde_status status = read_frame(file, at, &header);
        if (status == SONDE_OK)
            status = sonde__usage_decode((const uint8_t *)file->frame.data, file->view);
        if (status != SONDE_OK)
            return status;
    }
    if (header.type == SONDE__USAGE_SNAPSHOT)
        file->snapshot_end = end;
    return SONDE_OK;
}

/* The next place behind offset where a whole commit begins. EABSENT: there is none. */
static sonde_status resync(sonde_usage_file *file, uint64_t offset, uint64_t *found)
{
    const uint32_t magic = SONDE__USAGE_MAGIC;
    uint64_t end;
    for (;;) {
        char chunk[RESYNC_BYTES];
        ssize_t got = pread(file->fd, chunk, sizeof chunk, (off_t)offset);
        if (got < 0)
            return status_of(errno);
        if ((size_t)got < sizeof(sonde__usage_header))
            return SONDE_EABSENT;
        const char *hit = memmem(chunk, (size_t)got, &magic, sizeof magic);
        if (!hit) {
            offset += (uint64_t)got - sizeof magic + 1;
            continue;
        }
        offset += (uint64_t)(hit - chunk);
        if (find_commit(file, offset, &end) == SONDE_OK) {
            *found = offset;
            return SONDE_OK;
        }
        offset++;
    }
}

/* Brings the view up to date with the file. Damaged bytes are passed over. */
static sonde_status catch_up(sonde_usage_file *file)
{
    for (;;) {
        uint64_t start = file->end;
        uint64_t end = 0;
        sonde_status status = find_commit(file, start, &end);
        if (status == SONDE_EBADDATA || status == SONDE_EABSENT) {
            status = resync(file, start + 1, &start);
            if (status == SONDE_EABSENT)
                return SONDE_OK;
            if (status == SONDE_OK)
                status = find_commit(file, start, &end);
        }
        if (status == SONDE_OK)
            status = apply_commit(file, start, end);
        if (status != SONDE_OK) {
            /* the view may hold half of a commit */
            file->end = file->snapshot_end = 0;
            sonde__usage_clear(file->view);
            return status;
        }
        file->end = end;
    }
}

static sonde_status write_at(int fd, const char *data, size_t len, uint64_t offset)
{
    while (len > 0) {
        ssize_t put = pwrite(fd, data, len, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? status_of(errno) : SONDE_EIO;
        data += put;
        len -= (size_t)put;
        offset += (uint64_t)put;
    }
    return SONDE_OK;
}

static sonde_status encode(sonde_usage_file *file, const sonde_usage *usage, int type)
{
    sonde__buf_clear(&file->frame);
    return sonde__usage_encode(usage, type, file->writer, ++file->sequence, &file->frame);
}

/* Writes the view as a new file and puts it in place of the old one. */
static sonde_status compact(sonde_usage_file *file)
{
    sonde_status status = encode(file, file->view, SONDE__USAGE_SNAPSHOT);
    if (status != SONDE_OK)
        return status;
    struct stat info;
    mode_t mode = fstat(file->fd, &info) == 0 ? info.st_mode & 0777u : 0600;
    int fd = open(file->path_new, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return status_of(errno);
    uint64_t size = file->frame.len;
    status = flock(fd, LOCK_EX) == 0 ? write_at(fd, file->frame.data, size, 0) : status_of(errno);
    if (status == SONDE_OK && (fdatasync(fd) != 0 || rename(file->path_new, file->path) != 0))
        status = status_of(errno);
    if (status != SONDE_OK) {
        unlink(file->path_new);
        close(fd);
        return status;
    }
    close(file->fd);
    file->fd = fd;
    file->end = file->snapshot_end = size;
    return SONDE_OK;
}

static bool wants_compaction(const sonde_usage_file *file)
{
    uint64_t deltas = file->end - file->snapshot_end;
    return deltas > COMPACT_BYTES_MIN && deltas > COMPACT_RATIO * file->snapshot_end;
}

/* Appends what is pending behind what is whole. */
static sonde_status append(sonde_usage_file *file)
{
    sonde_status status = encode(file, file->pending, SONDE__USAGE_DELTAS);
    if (status == SONDE_OK && ftruncate(file->fd, (off_t)file->end) != 0)
        status = status_of(errno);
    if (status == SONDE_OK)
        status = write_at(file->fd, file->frame.data, file->frame.len, file->end);
    if (status != SONDE_OK && ftruncate(file->fd, (off_t)file->end) != 0)
        return status_of(errno);
    return status;
}

static bool is_empty(const sonde_usage *usage)
{
    return usage->count == 0 && usage->records == 0 && usage->overflow == 0 &&
           usage->session_count == 0;
}

/* Whether another process has counted one of the pending sessions meanwhile. */
static bool is_counted_twice(const sonde_usage_file *file)
{
    for (size_t i = 0; i < file->pending->session_count; i++)
        if (sonde__usage_has_session(file->view, file->pending->sessions[i]))
            return true;
    return false;
}

/* What is appended counts even when compacting then fails: it is tried again at the next commit. */
static sonde_status commit(sonde_usage_file *file)
{
    sonde_status status = lock_file(file);
    if (status != SONDE_OK)
        return status;
    status = catch_up(file);
    if (status == SONDE_OK && is_counted_twice(file))
        status = SONDE_EBUSY;
    if (status == SONDE_OK)
        status = append(file);
    if (status == SONDE_OK) {
        sonde__usage_clear(file->pending);
        if (catch_up(file) == SONDE_OK && wants_compaction(file))
            compact(file);
    }
    unlock_file(file);
    return status;
}

sonde_status sonde_usage_file_commit(sonde_usage_file *file)
{
    sonde__usage_lock(file->pending);
    sonde_status status = is_empty(file->pending) ? SONDE_OK : commit(file);
    sonde__usage_unlock(file->pending);
    return status;
}

/* Reading takes the lock too, so that it never sees the middle of a commit as damage. */
static sonde_status refresh(sonde_usage_file *file)
{
    sonde_status status = lock_file(file);
    if (status != SONDE_OK)
        return status;
    status = catch_up(file);
    unlock_file(file);
    return status;
}

sonde_status sonde_usage_file_refresh(sonde_usage_file *file, const sonde_usage **out)
{
    sonde__usage_lock(file->pending);
    sonde_status status = refresh(file);
    sonde__usage_unlock(file->pending);
    if (status == SONDE_OK)
        *out = file->view;
    return status;
}

sonde_status sonde_usage_file_import(sonde_usage_file *file, const char *json, size_t len,
                                     unsigned flags, sonde_usage_import *did,
                                     sonde_attributes_error *error)
{
    sonde__usage_lock(file->pending);
    sonde_status status = lock_file(file);
    if (status == SONDE_OK) {
        status = catch_up(file);
        if (status == SONDE_OK)
            status = sonde_usage_import_json(file->view, json, len, flags, did, error);
        if (status == SONDE_OK && !(flags & SONDE_IMPORT_DRY_RUN)) {
            status = compact(file);
            if (status != SONDE_OK) {
                file->end = file->snapshot_end = 0;
                sonde__usage_clear(file->view);
            }
        }
        unlock_file(file);
    }
    sonde__usage_unlock(file->pending);
    return status;
}

sonde_usage *sonde_usage_file_pending(sonde_usage_file *file)
{
    return file->pending;
}

static sonde_status make_parts(sonde_usage_file *file, const char *path, size_t metrics_max)
{
    file->path = strdup(path);
    if (!file->path || asprintf(&file->path_new, "%s.new", path) < 0) {
        file->path_new = NULL;
        return SONDE_ENOMEM;
    }
    sonde_status status = sonde_usage_create(SONDE__USAGE_CELLS_HARD_MAX, &file->view);
    if (status == SONDE_OK)
        status = sonde_usage_create(metrics_max, &file->pending);
    if (status == SONDE_OK)
        file->pending->parent = file->view;
    return status;
}

sonde_status sonde_usage_file_open(const char *path, size_t metrics_max, sonde_usage_file **out)
{
    sonde_usage_file *file = calloc(1, sizeof *file);
    if (!file)
        return SONDE_ENOMEM;
    file->fd = -1;
    file->writer = sonde__id_random();
    sonde__buf_init(&file->frame, SIZE_MAX / 2);
    sonde_status status = make_parts(file, path, metrics_max);
    if (status == SONDE_OK)
        status = open_path(file);
    if (status == SONDE_OK)
        status = refresh(file);
    if (status != SONDE_OK) {
        sonde_usage_file_close(file);
        return status;
    }
    *out = file;
    return SONDE_OK;
}

void sonde_usage_file_close(sonde_usage_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    sonde_usage_destroy(file->view);
    sonde_usage_destroy(file->pending);
    sonde__buf_free(&file->frame);
    free(file->path);
    free(file->path_new);
    free(file);
}
