/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/cgroup names the cgroup in its hierarchy, /proc/PID/mountinfo tells which part of the
   hierarchy is mounted where. Inside a container the two differ: without a cgroup namespace the
   path is the host's (/docker/ID) and so is the root of the mount; with one both are "/". A path
   outside what is mounted ("/../x") can only be shown as the mount point itself. */
#include "capture/cgroup_place.h"

#include "capture/small_file.h"

#include <stdio.h>

static const char *const names[SONDE__CONTROLLER_COUNT] = {"cpu", "cpuacct", "memory", "pids"};

typedef struct membership {
    bool v1[SONDE__CONTROLLER_COUNT];
    char path[SONDE__CONTROLLER_COUNT + 1][SONDE__CGROUP_PATH_BYTES]; /* the last: of v2 */
    bool known[SONDE__CONTROLLER_COUNT + 1];
} membership;

static void keep_path(membership *member, unsigned slot, const sonde__cgroup_line *line)
{
    if (line->path_len >= SONDE__CGROUP_PATH_BYTES || member->known[slot])
        return;
    memcpy(member->path[slot], line->path, line->path_len);
    member->path[slot][line->path_len] = '\0';
    member->known[slot] = true;
}

static sonde_status read_membership(sonde__host *host, membership *member)
{
    sonde__kernel_file file;
    sonde_status status = sonde__host_open_file(host, "cgroup", SONDE__FILE_WHOLE, &file);
    if (status != SONDE_OK)
        return status;
    status = sonde__kernel_file_read(&file, &host->text);
    sonde__kernel_file_close(&file);
    sonde__scan scan = sonde__scan_of(host->text.data, host->text.len);
    sonde__cgroup_line line;
    while (status == SONDE_OK && sonde__cgroup_next(&scan, &line)) {
        if (line.v2)
            keep_path(member, SONDE__CONTROLLER_COUNT, &line);
        for (unsigned i = 0; i < SONDE__CONTROLLER_COUNT; i++) {
            if (!sonde__list_has(line.controllers, line.controllers_len, names[i]))
                continue;
            member->v1[i] = true;
            keep_path(member, i, &line);
        }
    }
    return status;
}

/* Mount point + path, less the part of the path above what is mounted. */
static void place_at(sonde__cgroup_place *place, unsigned version, const sonde__cgroup_mount *mount,
                     const char *path)
{
    size_t root_len = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    bool inside = strncmp(path, mount->root, root_len) == 0 &&
                  (path[root_len] == '/' || path[root_len] == '\0') && !strstr(path, "/..");
    const char *rest = inside ? path + root_len : "";
    if (strcmp(rest, "/") == 0)
        rest = "";
    place->version = version;
    place->mount_len = strlen(mount->point);
    snprintf(place->folder, sizeof place->folder, "%s%s", mount->point, rest);
}

static void place_mount(const membership *member, const sonde__cgroup_mount *mount,
                        sonde__cgroup_place place[SONDE__CONTROLLER_COUNT])
{
    const unsigned v2 = SONDE__CONTROLLER_COUNT;
    for (unsigned i = 0; i < SONDE__CONTROLLER_COUNT; i++) {
        if (place[i].version != 0)
            continue;
        if (mount->v2 && !member->v1[i] && member->known[v2])
            place_at(&place[i], 2, mount, member->path[v2]);
        else if (!mount->v2 && member->known[i] &&
                 sonde__list_has(mount->options, mount->options_len, names[i]))
            place_at(&place[i], 1, mount, member->path[i]);
    }
}

static sonde_status read_mounts(sonde__host *host)
{
    sonde__kernel_file file;
    sonde_status status = sonde__host_open_file(host, "mountinfo", SONDE__FILE_RECORDS, &file);
    if (status != SONDE_OK)
        return status;
    status = sonde__kernel_file_read(&file, &host->text);
    sonde__kernel_file_close(&file);
    return status;
}

sonde_status sonde__cgroup_locate_v2(sonde__host *host, sonde__cgroup_place *place)
{
    membership member = {0};
    *place = (sonde__cgroup_place){0};
    sonde_status status = read_membership(host, &member);
    if (status == SONDE_OK)
        status = read_mounts(host);
    if (status != SONDE_OK)
        return status;
    sonde__scan scan = sonde__scan_of(host->text.data, host->text.len);
    sonde__cgroup_mount mount;
    while (place->version == 0 && sonde__cgroup_mount_next(&scan, &mount))
        if (mount.v2 && member.known[SONDE__CONTROLLER_COUNT])
            place_at(place, 2, &mount, member.path[SONDE__CONTROLLER_COUNT]);
    return place->version != 0 ? SONDE_OK : SONDE_EABSENT;
}

sonde_status sonde__cgroup_locate(sonde__host *host,
                                  sonde__cgroup_place place[SONDE__CONTROLLER_COUNT])
{
    membership member = {0};
    memset(place, 0, SONDE__CONTROLLER_COUNT * sizeof *place);
    sonde_status status = read_membership(host, &member);
    if (status == SONDE_OK)
        status = read_mounts(host);
    if (status != SONDE_OK)
        return status;
    sonde__scan scan = sonde__scan_of(host->text.data, host->text.len);
    sonde__cgroup_mount mount;
    while (status == SONDE_OK && sonde__cgroup_mount_next(&scan, &mount))
        place_mount(&member, &mount, place);
    bool found = false;
    for (unsigned i = 0; i < SONDE__CONTROLLER_COUNT; i++)
        found |= place[i].version != 0;
    return status != SONDE_OK ? status : found ? SONDE_OK : SONDE_EABSENT;
}

bool sonde__cgroup_up(sonde__cgroup_place *place)
{
    char *slash = strrchr(place->folder, '/');
    if (!slash || (size_t)(slash - place->folder) < place->mount_len)
        return false;
    *slash = '\0';
    return true;
}
