/* SPDX-License-Identifier: Apache-2.0 */
#include "view/atomic_file.h"

#include "base/errno_status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static sonde_status status_of(int error)
{
    if (error == ENOSPC || error == EDQUOT)
        return SONDE_ELIMIT;
    return sonde__status_of_errno(error);
}

static int write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t wrote = write(fd, data, len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return errno;
        data += wrote;
        len -= (size_t)wrote;
    }
    return 0;
}

sonde_status sonde__atomic_write(const char *path, const char *data, size_t len)
{
    char draft[PATH_MAX];
    int used = snprintf(draft, sizeof draft, "%s.new.%d", path, (int)getpid());
    if (used < 0 || (size_t)used >= sizeof draft)
        return SONDE_ELIMIT;
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return status_of(errno);
    int error = write_all(fd, data, len);
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && rename(draft, path) != 0)
        error = errno;
    if (error != 0)
        unlink(draft);
    return error == 0 ? SONDE_OK : status_of(error);
}
