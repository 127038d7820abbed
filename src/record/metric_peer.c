/* SPDX-License-Identifier: Apache-2.0 */
/* Reading another process's store: its used parts are copied with pread into memory of the same
   layout, and read like our own. Where things are follows from the layout number and the number of
   lanes, so there are no offsets in the file to check. */
#include "base/errno_status.h"
#include "base/ids.h"
#include "record/metric_fill.h"
#include "record/metric_registry.h"
#include "record/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_part(int fd, const sonde__metric_view *to, uint64_t offset, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, to->base + offset + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (uint64_t)got;
    }
    return true;
}

static uint32_t at_most(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

/* The cells that have memory, by what the header says; its numbers are cut to the limits. */
static bool read_cells(int fd, const sonde__metric_view *copy)
{
    sonde__metric_header *header = sonde__metric_header_of(copy);
    uint32_t gauges = at_most(atomic_load(&header->gauges), SONDE__GAUGES_MAX);
    uint32_t blocks = at_most(atomic_load(&header->blocks), SONDE__METRIC_BLOCKS);
    uint64_t series = atomic_load(&header->series_end);
    if (series > SONDE__METRIC_SERIES_BYTES)
        return false;
    bool good = read_part(fd, copy, copy->at.series, series) &&
                read_part(fd, copy, copy->at.gauges, gauges * sizeof(uint64_t));
    for (uint32_t lane = 0; good && lane < copy->lanes_max; lane++) {
        uint64_t base = copy->at.lanes + lane * copy->at.lane_stride;
        uint32_t counters = at_most(atomic_load(&header->lane_counters[lane]), SONDE__COUNTERS_MAX);
        uint32_t histograms =
            at_most(atomic_load(&header->lane_histograms[lane]), SONDE__HISTOGRAMS_MAX);
        atomic_store(&header->lane_counters[lane], counters);
        atomic_store(&header->lane_histograms[lane], histograms);
        good = read_part(fd, copy, base, counters * sizeof(uint64_t)) &&
               read_part(fd, copy, base + copy->at.histograms,
                         histograms * sizeof(sonde_histogram_cell));
    }
    /* blocks last: a cell that refers to one was read before it was counted, or not at all */
    return good && read_part(fd, copy, copy->at.blocks, (uint64_t)blocks * 512);
}

static sonde_status check_header(int fd, uint32_t *lanes)
{
    union {
        sonde__metric_header header;
        uint8_t bytes[sizeof(sonde__metric_header)];
    } first;
    if (pread(fd, first.bytes, sizeof first, 0) != (ssize_t)sizeof first ||
        memcmp(first.header.magic, SONDE__METRIC_MAGIC, sizeof first.header.magic) != 0)
        return SONDE_EBADDATA;
    if (first.header.layout != SONDE__METRIC_LAYOUT)
        return SONDE_EUNSUPPORTED;
    *lanes = first.header.lanes_max;
    return *lanes > 0 && *lanes <= SONDE__METRIC_LANES ? SONDE_OK : SONDE_EBADDATA;
}

static sonde_status read_fd(sonde_metric_set *set, int fd)
{
    struct stat info;
    sonde__metric_view copy = {0};
    if (fstat(fd, &info) != 0)
        return sonde__status_of_errno(errno);
    if (!S_ISREG(info.st_mode) || info.st_uid != geteuid())
        return SONDE_EDENIED;
    sonde_status status = check_header(fd, &copy.lanes_max);
    if (status != SONDE_OK)
        return status;
    copy.at = sonde__metric_layout_of(copy.lanes_max);
    if ((uint64_t)info.st_size != copy.at.size)
        return SONDE_EBADDATA;
    void *base = mmap(NULL, copy.at.size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return SONDE_ENOMEM;
    copy.base = base;
    if (!read_part(fd, &copy, 0, sizeof(sonde__metric_header)) || !read_cells(fd, &copy))
        status = SONDE_EBADDATA;
    else
        status = sonde__metric_fill(set, &copy);
    munmap(base, copy.at.size);
    return status;
}

sonde_status sonde_metric_set_read_run(sonde_metric_set *set, uint64_t run)
{
    char path[SONDE__METRIC_PATH_BYTES];
    sonde__metric_store_path(run, path);
    int fd = sonde__metric_store_open(path);
    if (fd < 0)
        return sonde__status_of_errno(errno);
    sonde_status status = read_fd(set, fd);
    close(fd);
    return status;
}

/* The run of a file name, when its process is pid. */
static bool run_of_pid(const char *name, const char *prefix, uint32_t pid, uint64_t *run)
{
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0 || strlen(name) != len + 16 ||
        !sonde__id_from_hex(name + len, 16, run))
        return false;
    char path[SONDE__METRIC_PATH_BYTES];
    sonde__metric_store_path(*run, path);
    int fd = sonde__metric_store_open(path);
    if (fd < 0)
        return false;
    uint32_t owner = 0;
    bool mine = pread(fd, &owner, sizeof owner, offsetof(sonde__metric_header, pid)) ==
                    (ssize_t)sizeof owner &&
                owner == pid;
    close(fd);
    return mine;
}

sonde_status sonde_metric_set_read_pid(sonde_metric_set *set, int pid)
{
    DIR *dir = opendir(sonde__segment_dir());
    if (!dir)
        return sonde__status_of_errno(errno);
    char prefix[48];
    snprintf(prefix, sizeof prefix, "sonde-metrics.%u.", (unsigned)geteuid());
    uint64_t run = 0;
    bool found = false;
    for (const struct dirent *entry; !found && (entry = readdir(dir));)
        found = run_of_pid(entry->d_name, prefix, (uint32_t)pid, &run);
    closedir(dir);
    return found ? sonde_metric_set_read_run(set, run) : SONDE_EABSENT;
}
