/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup v2, Documentation/admin-guide/cgroup-v2.rst. The group is made below the one this process
   is in. cpu.stat is there in every group; memory.peak only where the parent hands the memory
   controller down, which is not ours to change. */
#include "agent/own_group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_BYTES = 16384 };

static bool read_text(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, out, size - 1);
    close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The path of our group within the hierarchy: the line "0::/path". */
static bool own_path(char *out, size_t size)
{
    char text[TEXT_BYTES];
    if (!read_text("/proc/self/cgroup", text, sizeof text))
        return false;
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchrnul(line, '\n');
        bool last = *end == '\0';
        *end = '\0';
        if (strncmp(line, "0::", 3) == 0) {
            snprintf(out, size, "%s", strcmp(line + 3, "/") == 0 ? "" : line + 3);
            return true;
        }
        if (last)
            break;
    }
    return false;
}

/* Where cgroup2 is mounted: field 5 of a line of mountinfo whose type behind " - " is cgroup2. */
static bool mount_point(char *out, size_t size)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[2048];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *type = strstr(line, " - ");
        if (!type || strncmp(type + 3, "cgroup2 ", 8) != 0)
            continue;
        char point[512];
        found = sscanf(line, "%*s %*s %*s %*s %511s", point) == 1;
        if (found)
            snprintf(out, size, "%s", point);
    }
    if (file)
        fclose(file);
    return found;
}

void sonde__own_group_make(sonde__own_group *group)
{
    char mount[512], own[512];
    *group = (sonde__own_group){.fd = -1};
    if (!mount_point(mount, sizeof mount) || !own_path(own, sizeof own)) {
        snprintf(group->reason, sizeof group->reason, "no cgroup v2 here");
        return;
    }
    int len = snprintf(group->path, sizeof group->path, "%.200s%.200s/sonde-run-%d", mount, own,
                       (int)getpid());
    if (len < 0 || (size_t)len >= sizeof group->path || mkdir(group->path, 0755) != 0) {
        snprintf(group->reason, sizeof group->reason, "cannot make one: %s", strerror(errno));
        group->path[0] = '\0';
        return;
    }
    group->fd = open(group->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group->fd < 0) {
        snprintf(group->reason, sizeof group->reason, "cannot use one: %s", strerror(errno));
        rmdir(group->path);
        group->path[0] = '\0';
    }
}

void sonde__own_group_read(const sonde__own_group *group, sonde__own_group_use *out)
{
    char path[600], text[TEXT_BYTES];
    *out = (sonde__own_group_use){0};
    if (!group->path[0])
        return;
    snprintf(path, sizeof path, "%s/cpu.stat", group->path);
    const char *usage = read_text(path, text, sizeof text) ? strstr(text, "usage_usec ") : NULL;
    if (usage) {
        out->has_cpu = true;
        out->cpu_ns = strtoull(usage + 11, NULL, 10) * 1000;
    }
    snprintf(path, sizeof path, "%s/memory.peak", group->path);
    if (read_text(path, text, sizeof text)) {
        out->has_memory = true;
        out->memory_peak_bytes = strtoull(text, NULL, 10);
    }
}

/* One process after another: cgroup.procs takes one number at a time. */
static void move_out(const sonde__own_group *group)
{
    char path[600], line[32];
    snprintf(path, sizeof path, "%s/cgroup.procs", group->path);
    FILE *from = fopen(path, "re");
    snprintf(path, sizeof path, "%s/../cgroup.procs", group->path);
    while (from && fgets(line, sizeof line, from)) {
        int to = open(path, O_WRONLY | O_CLOEXEC);
        if (to < 0 || write(to, line, strlen(line)) < 0)
            break;
        close(to);
    }
    if (from)
        fclose(from);
}

void sonde__own_group_remove(sonde__own_group *group)
{
    if (group->fd >= 0)
        close(group->fd);
    group->fd = -1;
    if (!group->path[0] || rmdir(group->path) == 0)
        return;
    move_out(group);
    rmdir(group->path);
}
