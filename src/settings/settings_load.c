/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reading the file. Only regular files are read, and never more than the limit and one
   byte of them: a FIFO would block for ever, /dev/zero would never end. */
#include "settings/settings_error.h"
#include "settings/settings_value.h"
#include "sonde/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const sonde__place whole_file = {0, 0};
static const sonde__place file_start = {1, 1};

static sonde_status refuse_errno(const sonde__complaints *complaints, int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return sonde__complain(complaints, whole_file, SONDE_EABSENT,
                               "there is no such file; check the name");
    if (error == EACCES || error == EPERM)
        return sonde__complain(complaints, whole_file, SONDE_EDENIED,
                               "no permission to read it; check its owner and mode");
    return sonde__complain(complaints, whole_file, error == ENOMEM ? SONDE_ENOMEM : SONDE_EIO,
                           "cannot be read: %s", strerrordesc_np(error));
}

static sonde_status check_kind(int fd, const sonde__complaints *complaints)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return refuse_errno(complaints, errno);
    if (!S_ISREG(info.st_mode))
        return sonde__complain(complaints, whole_file, SONDE_EBADDATA, "is %s; expected a file",
                               S_ISDIR(info.st_mode) ? "a folder" : "a device or a pipe");
    if (info.st_size > SONDE__SETTINGS_FILE_BYTES)
        return sonde__complain(complaints, file_start, SONDE_ELIMIT,
                               "the file has %lld bytes, too many for settings; expected at "
                               "most %d",
                               (long long)info.st_size, (int)SONDE__SETTINGS_FILE_BYTES);
    return SONDE_OK;
}

/* Reads fd to its end or to the limit and one byte, by which the parser sees that it is too large.
 */
static sonde_status read_all(int fd, const sonde__complaints *complaints, sonde__buf *out)
{
    while (out->len <= SONDE__SETTINGS_FILE_BYTES) {
        size_t room = SONDE__SETTINGS_FILE_BYTES + 1 - out->len;
        size_t piece = room < 65536 ? room : 65536;
        if (!sonde__buf_reserve(out, piece))
            return refuse_errno(complaints, ENOMEM);
        ssize_t got = read(fd, out->data + out->len, piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse_errno(complaints, errno);
        if (got == 0)
            break;
        out->len += (size_t)got;
    }
    return SONDE_OK;
}

static int open_file(const char *path)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* Reads an open file, and closes it. */
static sonde_status load_open(int fd, const char *path, sonde_settings **out,
                              sonde_settings_error *error)
{
    const sonde__complaints complaints = {path, error};
    sonde__buf text;
    sonde__buf_init(&text, SONDE__SETTINGS_FILE_BYTES + 1);
    sonde_status status = check_kind(fd, &complaints);
    if (status == SONDE_OK)
        status = read_all(fd, &complaints, &text);
    if (status == SONDE_OK)
        status = sonde_settings_parse(text.data, text.len, path, out, error);
    sonde__buf_free(&text);
    close(fd);
    return status;
}

static sonde_status load_named(const char *path, sonde_settings **out, sonde_settings_error *error)
{
    int fd = open_file(path);
    if (fd < 0)
        return refuse_errno(&(sonde__complaints){path, error}, errno);
    return load_open(fd, path, out, error);
}

/* Loads a file that nobody named. EOFF, without a message, when it is not there. A folder that may
   not be entered counts as that: HOME is often another user's in containers. */
static sonde_status load_if_there(const char *path, sonde_settings **out,
                                  sonde_settings_error *error)
{
    int fd = open_file(path);
    if (fd >= 0)
        return load_open(fd, path, out, error);
    int reason = errno;
    struct stat info;
    bool unseen =
        reason == ENOENT || reason == ENOTDIR || (reason == EACCES && stat(path, &info) != 0);
    return unseen ? SONDE_EOFF : refuse_errno(&(sonde__complaints){path, error}, reason);
}

/* $XDG_CONFIG_HOME/sonde/settings.yaml (when absolute, as its specification asks), else the same
   under ~/.config. *out is NULL when neither variable is set. False: out of memory. */
static bool personal_path(char **out)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    bool own = config && config[0] == '/';
    *out = NULL;
    if (!own && (!home || !home[0]))
        return true;
    return asprintf(out, "%s%s/sonde/settings.yaml", own ? config : home, own ? "" : "/.config") >=
           0;
}

static sonde_status load_personal(sonde_settings **out, sonde_settings_error *error)
{
    char *path;
    if (!personal_path(&path))
        return refuse_errno(&(sonde__complaints){"settings.yaml", error}, ENOMEM);
    sonde_status status = path ? load_if_there(path, out, error) : SONDE_EOFF;
    free(path);
    return status;
}

sonde_status sonde_settings_load(const char *path, sonde_settings **out,
                                 sonde_settings_error *error)
{
    const char *named = path ? path : getenv("SONDE_SETTINGS");
    if (path || (named && named[0]))
        return load_named(named, out, error);
    sonde_status status = load_if_there("settings.yaml", out, error);
    if (status == SONDE_EOFF)
        status = load_personal(out, error);
    if (status != SONDE_EOFF)
        return status;
    sonde_settings *settings = sonde__settings_create();
    if (!settings)
        return refuse_errno(&(sonde__complaints){"settings", error}, ENOMEM);
    *out = settings;
    return SONDE_OK;
}
