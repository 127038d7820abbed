/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup v2, Documentation/admin-guide/cgroup-v2.rst. The group is made below the one this process
   is in. cpu.stat is there in every group; memory.peak only where the parent hands the memory
   controller down, which is not ours to change. */
#include "agent/own_group.h"

#include "base/buf.h"
#include "capture/capture_limits.h"
#include "capture/cgroup_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sonde_status find_own_folder(sonde__cgroup_place *place)
{
    sonde__host *host = calloc(1, sizeof *host); /* this machine, this process */
    if (!host)
        return SONDE_ENOMEM;
    sonde__buf_init(&host->text, SONDE__KERNEL_FILE_MAX);
    sonde_status status = sonde__cgroup_locate_v2(host, place);
    sonde__buf_free(&host->text);
    free(host);
    return status;
}

void sonde__own_group_make(sonde__own_group *group)
{
    sonde__cgroup_place own;
    *group = (sonde__own_group){.fd = -1};
    if (find_own_folder(&own) != SONDE_OK) {
        snprintf(group->reason, sizeof group->reason, "no cgroup v2 here");
        return;
    }
    int len =
        snprintf(group->path, sizeof group->path, "%.400s/sonde-run-%d", own.folder, (int)getpid());
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

static bool read_file(const sonde__own_group *group, const char *name, sonde__buf *text)
{
    char path[600];
    sonde__kernel_file file;
    snprintf(path, sizeof path, "%s/%s", group->path, name);
    if (sonde__kernel_file_open(&file, path, SONDE__FILE_WHOLE) != SONDE_OK)
        return false;
    sonde_status status = sonde__kernel_file_read(&file, text);
    sonde__kernel_file_close(&file);
    return status == SONDE_OK;
}

void sonde__own_group_read(const sonde__own_group *group, sonde__own_group_use *out)
{
    sonde__buf text;
    uint64_t usage_us;
    *out = (sonde__own_group_use){0};
    if (!group->path[0])
        return;
    sonde__buf_init(&text, SONDE__KERNEL_FILE_MAX);
    out->has_cpu = read_file(group, "cpu.stat", &text) &&
                   sonde__parse_keyed(text.data, text.len, "usage_usec", &usage_us) == SONDE_OK;
    if (out->has_cpu)
        out->cpu_ns = usage_us * 1000;
    out->has_memory = read_file(group, "memory.peak", &text) &&
                      sonde__parse_number(text.data, text.len, &out->memory_peak_bytes) == SONDE_OK;
    sonde__buf_free(&text);
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
