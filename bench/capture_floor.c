/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_floor.h"

#include "bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static char text[1 << 18];

static int open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    return fd;
}

/* The first disk that has been used, as the regular level would choose it. */
static int open_block_stat(void)
{
    DIR *dir = opendir("/sys/block");
    int found = -1;
    for (struct dirent *entry; dir && found < 0 && (entry = readdir(dir)) != NULL;) {
        char path[300];
        snprintf(path, sizeof path, "/sys/block/%s/stat", entry->d_name);
        int fd = entry->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        ssize_t len = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
        text[len > 0 ? len : 0] = '\0';
        if (len > 0 && strtoul(text, NULL, 10) > 0)
            found = fd;
        else if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
    return found;
}

void capture_floor_open(capture_floor *floor)
{
    floor->stat = open_file("/proc/stat");
    floor->meminfo = open_file("/proc/meminfo");
    floor->diskstats = open_file("/proc/diskstats");
    floor->block_stat = open_block_stat();
    floor->pid_stat = open_file("/proc/self/stat");
    floor->statm = open_file("/proc/self/statm");
    floor->status = open_file("/proc/self/status");
    floor->io = open_file("/proc/self/io");
    floor->fd_folder = open_file("/proc/self/fd");
    floor->netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

static void read_file(int fd)
{
    ssize_t got = pread(fd, text, sizeof text, 0);
    bench_keep(&got);
}

static void read_links(int fd)
{
    struct {
        struct nlmsghdr header;
        struct if_stats_msg message;
    } request = {.header = {.nlmsg_len = sizeof request,
                            .nlmsg_type = RTM_GETSTATS,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
                 .message = {.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)}};
    send(fd, &request, sizeof request, 0);
    for (int done = 0; !done;) {
        ssize_t got = recv(fd, text, sizeof text, 0);
        if (got <= 0)
            return;
        unsigned len = (unsigned)got;
        for (struct nlmsghdr *at = (void *)text; NLMSG_OK(at, len); at = NLMSG_NEXT(at, len))
            done |= at->nlmsg_type == NLMSG_DONE;
    }
}

static void read_socket(int fd)
{
    int value;
    socklen_t len = sizeof value;
    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &value, &len);
    if (value != AF_INET && value != AF_INET6)
        return;
    getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &len);
    unsigned char state;
    len = sizeof state;
    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &state, &len);
}

static void read_descriptors(int folder)
{
    static char listing[32768];
    lseek(folder, 0, SEEK_SET);
    for (long got = sizeof listing; got > (long)sizeof listing - 64;) {
        got = syscall(SYS_getdents64, folder, listing, sizeof listing);
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(listing + at);
            at += entry->d_reclen;
            struct stat info;
            int fd = atoi(entry->d_name);
            if (entry->d_name[0] != '.' && fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode))
                read_socket(fd);
        }
    }
}

static void read_usage(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    getrusage(RUSAGE_THREAD, &usage);
    bench_keep(&usage);
}

void capture_floor_full(void *arg, unsigned calls)
{
    const capture_floor *floor = arg;
    struct statfs fs;
    while (calls-- > 0) {
        read_usage();
        read_file(floor->pid_stat);
        read_file(floor->statm);
        read_file(floor->status);
        read_file(floor->io);
        read_descriptors(floor->fd_folder);
        read_file(floor->stat);
        read_file(floor->meminfo);
        statfs("/", &fs);
        read_file(floor->diskstats);
        read_links(floor->netlink);
    }
}

void capture_floor_regular(void *arg, unsigned calls)
{
    const capture_floor *floor = arg;
    while (calls-- > 0) {
        read_usage();
        read_file(floor->statm);
        read_file(floor->stat);
        read_file(floor->meminfo);
        read_file(floor->block_stat >= 0 ? floor->block_stat : floor->diskstats);
        read_links(floor->netlink);
    }
}

void capture_floor_light(void *arg, unsigned calls)
{
    const capture_floor *floor = arg;
    while (calls-- > 0) {
        read_usage();
        read_file(floor->statm);
    }
}

void capture_floor_descriptors(void *arg, unsigned calls)
{
    const capture_floor *floor = arg;
    while (calls-- > 0)
        read_descriptors(floor->fd_folder);
}
