/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/cgroup, mountinfo and the files of a cgroup: every path is one, and within its bounds.
 */
#include "fuzz.h"

#include "capture/machine_parsers.h"

#include <stdlib.h>

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check_path(const char *path)
{
    size_t len = strnlen(path, SONDE__CGROUP_PATH_BYTES);
    require(len > 0 && len < SONDE__CGROUP_PATH_BYTES && path[0] == '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size ? (const char *)data : "";
    sonde__scan scan = sonde__scan_of(text, size);
    sonde__cgroup_line line;
    while (sonde__cgroup_next(&scan, &line)) {
        require(line.path[0] == '/' && line.path + line.path_len < text + size);
        require(!line.v2 || line.controllers_len == 0);
        sonde__list_has(line.controllers, line.controllers_len, "memory");
    }
    sonde__cgroup_mount mount;
    scan = sonde__scan_of(text, size);
    while (sonde__cgroup_mount_next(&scan, &mount)) {
        check_path(mount.root);
        check_path(mount.point);
        sonde__list_has(mount.options, mount.options_len, "cpu");
    }
    uint64_t number = 42;
    int64_t temperature = 42;
    double cpus = 42;
    if (sonde__parse_number(text, size, &number) != SONDE_OK)
        require(number == 42);
    if (sonde__parse_signed(text, size, &temperature) != SONDE_OK)
        require(temperature == 42);
    require(sonde__parse_cpu_max(text, size, &cpus) != SONDE_OK || cpus >= 0);
    sonde__parse_keyed(text, size, "oom_kill", &number);
    return 0;
}
