/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of the process: how many, how many of them regular files, how many TCP or UDP
   sockets. getdents on the kept folder, then one fstat each (psutil: one readlink, one stat, one
   open each). Own sockets are asked directly; those of another process through a duplicate
   (pidfd_getfd), and where that is not permitted by sock_diag. A socket behind two descriptors
   counts once, as psutil has it. A namespace (nsfs) calls itself a regular file but has no name. */
#include "base/errno_status.h"
#include "capture/parsers.h"
#include "capture/sockets.h"
#include "capture/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LISTING_BYTES = 32768,
    ENTRY_MAX_BYTES = 64, /* longer than any entry of a folder of numbers */
};

typedef struct inode_list {
    uint64_t *inode;
    size_t count;
    size_t cap;
} inode_list;

typedef struct fd_state {
    sonde__kernel_file folder;
    sonde__kernel_file pidfd; /* of another process; not open: none */
    dev_t nsfs;               /* device of namespaces; 0: not known */
    char *listing;
    inode_list sockets;
} fd_state;

typedef struct fd_counts {
    uint64_t all;
    uint64_t files;
    sonde_status kinds;       /* why the kinds of descriptors are not known */
    sonde_status connections; /* why those of sockets are not */
} fd_counts;

static bool inode_list_add(inode_list *list, uint64_t inode)
{
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 16;
        uint64_t *grown = realloc(list->inode, cap * sizeof *grown);
        if (!grown)
            return false;
        list->inode = grown;
        list->cap = cap;
    }
    list->inode[list->count++] = inode;
    return true;
}

static int compare_inodes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void inode_list_sort_unique(inode_list *list)
{
    if (list->count < 2)
        return;
    qsort(list->inode, list->count, sizeof *list->inode, compare_inodes);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++)
        if (list->inode[i] != list->inode[kept - 1])
            list->inode[kept++] = list->inode[i];
    list->count = kept;
}

/* Whether a socket of the process is a connection; counts->kinds tells when that cannot be asked.
   Without a pidfd all sockets are kept for sock_diag to look up. */
static bool is_connection(const sonde__host *host, const fd_state *state, int fd, fd_counts *counts)
{
    if (host->self)
        return sonde__socket_is_connection(fd);
    if (state->pidfd.fd < 0)
        return true;
    int copy = (int)syscall(SYS_pidfd_getfd, state->pidfd.fd, fd, 0);
    if (copy < 0) {
        bool closed_by_now = errno == EBADF && sonde__kernel_file_is_ours(&state->pidfd);
        if (!closed_by_now)
            counts->connections = sonde__status_of_errno(errno);
        return false;
    }
    bool yes = sonde__socket_is_connection(copy);
    close(copy);
    return yes;
}

/* Looks at one descriptor, which may be gone by now. */
static void count_one(const sonde__host *host, fd_state *state, const char *name, fd_counts *counts)
{
    struct stat info;
    int fd = atoi(name);
    /* not fstat: the thread sanitizer takes a look at another thread's descriptor for a use of it
     */
    int failed = host->self ? fstatat(fd, "", &info, AT_EMPTY_PATH)
                            : fstatat(state->folder.fd, name, &info, 0);
    if (failed) {
        if (errno == EACCES || errno == EPERM)
            counts->kinds = SONDE_EDENIED;
        return;
    }
    if (S_ISREG(info.st_mode) && info.st_nlink > 0 && info.st_dev != state->nsfs)
        counts->files++;
    else if (S_ISSOCK(info.st_mode) && is_connection(host, state, fd, counts) &&
             !inode_list_add(&state->sockets, info.st_ino))
        counts->connections = SONDE_ENOMEM;
}

static void count_listing(const sonde__host *host, fd_state *state, size_t len, fd_counts *counts)
{
    for (size_t at = 0; at < len;) {
        const struct dirent64 *entry = (const void *)(state->listing + at);
        at += entry->d_reclen;
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        counts->all++;
        if (host->live)
            count_one(host, state, entry->d_name, counts);
    }
}

static sonde_status list_folder(const sonde__host *host, fd_state *state, fd_counts *counts)
{
    sonde_status status = sonde__kernel_file_check(&state->folder);
    if (status != SONDE_OK)
        return status; /* closed by the host, maybe; what has its number now must not be moved */
    if (lseek(state->folder.fd, 0, SEEK_SET) != 0)
        return sonde__status_of_errno(errno);
    for (;;) {
        long got = syscall(SYS_getdents64, state->folder.fd, state->listing, LISTING_BYTES);
        if (got < 0)
            return errno == ENOENT ? SONDE_EGONE : sonde__status_of_errno(errno);
        count_listing(host, state, (size_t)got, counts);
        if (got < LISTING_BYTES - ENTRY_MAX_BYTES)
            return SONDE_OK;
    }
}

static bool same_network_namespace(const sonde__host *host)
{
    char path[64];
    struct stat own, other;
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)host->pid);
    return stat("/proc/self/ns/net", &own) == 0 && stat(path, &other) == 0 &&
           own.st_ino == other.st_ino;
}

static sonde_status count_connections(const sonde__host *host, fd_state *state, uint64_t *count)
{
    inode_list_sort_unique(&state->sockets);
    *count = state->sockets.count;
    if (host->self || state->pidfd.fd >= 0 || state->sockets.count == 0)
        return SONDE_OK;
    if (!same_network_namespace(host))
        return SONDE_EUNSUPPORTED;
    return sonde__sock_diag_count(state->sockets.inode, state->sockets.count, count);
}

static sonde_status fd_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    fd_state *state = opaque;
    state->sockets.count = 0;
    fd_counts counts = {.kinds = host->live ? SONDE_OK : SONDE_EUNSUPPORTED};
    sonde_status status = list_folder(host, state, &counts);
    if (status != SONDE_OK)
        return status;
    sonde__set_uint(out, SONDE_FIELD_PROCESS_DESCRIPTORS, counts.all);
    out->value[SONDE_FIELD_PROCESS_FILES].u = counts.files;
    out->status[SONDE_FIELD_PROCESS_FILES] = (int8_t)counts.kinds;
    if (counts.kinds != SONDE_OK)
        counts.connections = counts.kinds;
    if (counts.connections == SONDE_OK)
        counts.connections =
            count_connections(host, state, &out->value[SONDE_FIELD_PROCESS_CONNECTIONS].u);
    out->status[SONDE_FIELD_PROCESS_CONNECTIONS] = (int8_t)counts.connections;
    return SONDE_OK;
}

/* A pidfd of another process, if it lets us duplicate its descriptors. Tried on its standard input;
   whether that one is open does not matter, only whether we may ask. */
static void open_pidfd(pid_t pid, sonde__kernel_file *pidfd)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 || sonde__kernel_file_adopt(pidfd, fd) != SONDE_OK)
        return;
    int copy = (int)syscall(SYS_pidfd_getfd, fd, 0, 0);
    if (copy >= 0)
        close(copy);
    else if (errno != EBADF)
        sonde__kernel_file_close(pidfd);
}

static void fd_close(void *opaque)
{
    fd_state *state = opaque;
    sonde__kernel_file_close(&state->folder);
    sonde__kernel_file_close(&state->pidfd);
    free(state->listing);
    free(state->sockets.inode);
}

static sonde_status fd_open(sonde__host *host, void *opaque)
{
    fd_state *state = opaque;
    state->pidfd.fd = -1;
    sonde_status status = sonde__host_open_file(host, "fd", SONDE__FILE_WHOLE, &state->folder);
    if (status != SONDE_OK)
        return status;
    state->listing = malloc(LISTING_BYTES);
    if (!state->listing) {
        fd_close(state);
        return SONDE_ENOMEM;
    }
    struct stat space;
    if (host->live && stat("/proc/self/ns/net", &space) == 0)
        state->nsfs = space.st_dev;
    if (host->live && !host->self)
        open_pidfd(host->pid, &state->pidfd);
    return SONDE_OK;
}

const sonde__source sonde__source_proc_pid_fd = {
    .name = "proc_pid_fd",
    .summary = "descriptors, files and connections of the process",
    .remedy = "only the same user or root may list the descriptors of a process",
    .types = SONDE_CAPTURE_PROCESS,
    .levels = SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_PROCESS_DESCRIPTORS, SONDE_FIELD_PROCESS_CONNECTIONS},
               {SONDE_FIELD_PROCESS_FILES, SONDE_FIELD_PROCESS_FILES}},
    .state_bytes = sizeof(fd_state),
    .open = fd_open,
    .read = fd_read,
    .close = fd_close,
};
