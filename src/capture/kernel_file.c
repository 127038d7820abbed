/* SPDX-License-Identifier: Apache-2.0 */
/* Reading with pread from offset 0 costs half of open, read, close. Kernel files made by
   single_open (stat, meminfo, /proc/PID/...) hand out everything at once; those with many records
   (diskstats, net/dev, cpuinfo) stop when the next record does not fit their page, so a short read
   is the end only when it left room for any record. */
#include "capture/kernel_file.h"

#include "base/errno_status.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_READ = 8192,
    LINE_MAX_BYTES = 512,             /* longer than any line of diskstats, net/dev, vmstat */
    PAGE_ROOM = 4096 - LINE_MAX_BYTES /* a read of fewer bytes was not stopped by the page */
};

sonde_status sonde__kernel_file_adopt(sonde__kernel_file *file, int fd)
{
    struct stat identity;
    if (fstat(fd, &identity) != 0) {
        int error = errno;
        close(fd);
        return sonde__status_of_errno(error);
    }
    *file = (sonde__kernel_file){.fd = fd, .device = identity.st_dev, .inode = identity.st_ino};
    return SONDE_OK;
}

sonde_status sonde__kernel_file_open(sonde__kernel_file *file, const char *path,
                                     sonde__kernel_file_kind kind)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return sonde__status_of_errno(errno);
    sonde_status status = sonde__kernel_file_adopt(file, fd);
    file->kind = kind;
    return status;
}

/* The folder of an ended process's descriptors cannot be asked for its identity; nobody but us
   would have such a thing open. */
sonde_status sonde__kernel_file_check(const sonde__kernel_file *file)
{
    struct stat now;
    if (file->fd < 0)
        return SONDE_EIO;
    if (fstat(file->fd, &now) != 0)
        return errno == ENOENT || errno == ESRCH ? SONDE_EGONE : SONDE_EIO;
    return now.st_dev == file->device && now.st_ino == file->inode ? SONDE_OK : SONDE_EIO;
}

bool sonde__kernel_file_is_ours(const sonde__kernel_file *file)
{
    return sonde__kernel_file_check(file) == SONDE_OK;
}

void sonde__kernel_file_close(sonde__kernel_file *file)
{
    if (sonde__kernel_file_check(file) != SONDE_EIO)
        close(file->fd);
    file->fd = -1;
}

static bool read_ended(const sonde__kernel_file *file, size_t got, size_t room)
{
    return got == 0 || (file->kind == SONDE__FILE_WHOLE && got < room) ||
           (file->kind == SONDE__FILE_LINES && got < PAGE_ROOM);
}

sonde_status sonde__kernel_file_read(const sonde__kernel_file *file, sonde__buf *buf)
{
    sonde__buf_clear(buf);
    for (;;) {
        if (!sonde__buf_reserve(buf, FIRST_READ))
            return buf->status;
        size_t room = buf->cap - buf->len;
        ssize_t got = pread(file->fd, buf->data + buf->len, room, (off_t)buf->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return sonde__status_of_errno(errno);
        buf->len += (size_t)got;
        if (read_ended(file, (size_t)got, room))
            return SONDE_OK;
    }
}
