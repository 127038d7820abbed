/* SPDX-License-Identifier: Apache-2.0 */
/* Making the segment. tmpfs gives out pages when they are touched and kills the process by SIGBUS
   when there are none, so every area is backed by posix_fallocate before its first use. The file is
   locked by flock and its descriptor closed: the mapping keeps the open file, and with it the lock,
   until the process is gone, whatever the host does to its descriptors; MADV_DONTFORK keeps
   children from holding it too. */
#include "record/segment.h"

#include "base/errno_status.h"
#include "base/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PAGE = 4096 };

static uint64_t page_up(uint64_t bytes)
{
    return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static uint64_t lane_stride(void)
{
    return page_up(SONDE__LANE_HEADER_BYTES) + (uint64_t)SONDE__SLOTS * SONDE__SLOT_BYTES +
           SONDE__RING_BYTES;
}

static uint64_t names_bytes(void)
{
    return page_up((uint64_t)SONDE__NAMES_MAX * sizeof(uint32_t) + SONDE__NAMES_BYTES);
}

static uint64_t fixed_bytes(void)
{
    return SONDE__SEGMENT_HEADER_BYTES + names_bytes();
}

const char *sonde__segment_dir(void)
{
    const char *dir = getenv("SONDE_SHM_DIR");
    return dir && dir[0] == '/' && strlen(dir) < SONDE__SHM_DIR_MAX ? dir : "/dev/shm";
}

void sonde__boot_id(uint8_t out[16])
{
    memset(out, 0, 16);
    char text[37] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t got = read(fd, text, 36);
    close(fd);
    char hex[33] = "";
    size_t n = 0;
    for (ssize_t i = 0; i < got && n < 32; i++)
        if (text[i] != '-')
            hex[n++] = text[i];
    uint64_t halves[2] = {0, 0};
    if (n == 32 && sonde__id_from_hex(hex, 16, &halves[0]) &&
        sonde__id_from_hex(hex + 16, 16, &halves[1]))
        memcpy(out, halves, 16);
}

bool sonde__file_size_allowed(uint64_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur >= size;
}

/* At most bytes_max, and half of what the file system has free. */
static uint64_t choose_size(int fd, uint64_t bytes_max)
{
    struct statvfs fs;
    uint64_t size = bytes_max;
    if (fstatvfs(fd, &fs) == 0) {
        uint64_t half = (uint64_t)fs.f_bavail * fs.f_frsize / 2;
        size = half < size ? half : size;
    }
    return size & ~(uint64_t)(PAGE - 1);
}

/* The lock, the size, and memory behind the parts that are used at once: the first lane, too. */
static sonde_status prepare_file(int fd, uint64_t size)
{
    if (size < fixed_bytes() + lane_stride() || !sonde__file_size_allowed(size))
        return SONDE_ELIMIT;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || ftruncate(fd, (off_t)size) != 0)
        return sonde__status_of_errno(errno);
    int error = posix_fallocate(fd, 0, (off_t)(fixed_bytes() + lane_stride()));
    return error == ENOSPC ? SONDE_ELIMIT : sonde__status_of_errno(error);
}

static sonde_status map_shared(sonde__segment *segment, uint64_t run, uint64_t bytes_max)
{
    char run_hex[17] = "";
    sonde__id_to_hex(run, run_hex);
    snprintf(segment->path, sizeof segment->path, "%s/sonde.%u.%s", sonde__segment_dir(),
             (unsigned)geteuid(), run_hex);
    int fd = open(segment->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        segment->path[0] = '\0';
        return sonde__status_of_errno(errno);
    }
    uint64_t size = choose_size(fd, bytes_max);
    sonde_status status = prepare_file(fd, size);
    void *base = MAP_FAILED;
    if (status == SONDE_OK) {
        base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        status = base == MAP_FAILED ? sonde__status_of_errno(errno) : SONDE_OK;
    }
    close(fd);
    if (status != SONDE_OK) {
        unlink(segment->path);
        segment->path[0] = '\0';
        return status;
    }
    madvise(base, size, MADV_DONTFORK);
    segment->base = base;
    segment->size = size;
    segment->shared = true;
    return SONDE_OK;
}

static sonde_status map_private(sonde__segment *segment, uint64_t bytes_max)
{
    uint64_t size = bytes_max & ~(uint64_t)(PAGE - 1);
    if (size < fixed_bytes() + lane_stride())
        size = fixed_bytes() + lane_stride();
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return SONDE_ENOMEM;
    madvise(base, size, MADV_DONTFORK);
    segment->base = base;
    segment->size = size;
    segment->shared = false;
    return SONDE_OK;
}

sonde_status sonde__segment_create(sonde__segment *segment, uint64_t run, uint64_t bytes_max,
                                   bool shared)
{
    *segment = (sonde__segment){0};
    if (bytes_max > SONDE__SEGMENT_BYTES_LIMIT)
        bytes_max = SONDE__SEGMENT_BYTES_LIMIT;
    segment->reason = shared ? map_shared(segment, run, bytes_max) : SONDE_EOFF;
    if (segment->reason != SONDE_OK && map_private(segment, bytes_max) != SONDE_OK)
        return SONDE_ENOMEM;
    sonde__segment_header *header = sonde__segment_header_of(segment);
    memcpy(header->magic, SONDE__SEGMENT_MAGIC, sizeof header->magic);
    header->layout = SONDE__SEGMENT_LAYOUT;
    header->header_bytes = SONDE__SEGMENT_HEADER_BYTES;
    header->size = segment->size;
    header->run = run;
    header->pid = (uint32_t)getpid();
    header->uid = (uint32_t)geteuid();
    sonde__boot_id(header->boot_id);
    header->names_offset = SONDE__SEGMENT_HEADER_BYTES;
    header->names_max = SONDE__NAMES_MAX;
    header->names_bytes = SONDE__NAMES_BYTES;
    header->lanes_offset = fixed_bytes();
    header->lane_stride = lane_stride();
    uint64_t lanes = (segment->size - fixed_bytes()) / lane_stride();
    header->lanes_max = lanes > SONDE__LANES_LIMIT ? SONDE__LANES_LIMIT : (uint32_t)lanes;
    return SONDE_OK;
}

/* The descriptor was closed at creation: the file is opened anew for each lane. */
static bool back_with_memory(const sonde__segment *segment, uint64_t offset, uint64_t bytes)
{
    if (!segment->shared)
        return true;
    if (!sonde__file_size_allowed(offset + bytes))
        return false;
    int fd = open(segment->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool backed = posix_fallocate(fd, (off_t)offset, (off_t)bytes) == 0;
    close(fd);
    return backed;
}

bool sonde__segment_add_lane(sonde__segment *segment, uint32_t index)
{
    sonde__segment_header *header = sonde__segment_header_of(segment);
    if (index >= header->lanes_max)
        return false;
    uint64_t offset = header->lanes_offset + (uint64_t)index * header->lane_stride;
    if (index > 0 && !back_with_memory(segment, offset, header->lane_stride))
        return false;
#ifdef MADV_POPULATE_WRITE
    if (index > 0) /* the shared lane is hardly ever used */
        madvise(segment->base + offset, header->lane_stride, MADV_POPULATE_WRITE);
#endif
    sonde__lane_header *lane = sonde__segment_lane(segment, index);
    lane->slots_offset = offset + page_up(SONDE__LANE_HEADER_BYTES);
    lane->slot_count = SONDE__SLOTS;
    lane->ring_offset = lane->slots_offset + (uint64_t)SONDE__SLOTS * SONDE__SLOT_BYTES;
    lane->ring_bytes = SONDE__RING_BYTES;
    lane->ready = 1;
    atomic_store_explicit(&header->lanes_used, index + 1, memory_order_release);
    return true;
}

void sonde__segment_unlink(sonde__segment *segment)
{
    if (segment->path[0] != '\0')
        unlink(segment->path);
    segment->path[0] = '\0';
}

void sonde__segment_unmap(sonde__segment *segment)
{
    if (segment->base)
        munmap(segment->base, segment->size);
    segment->base = NULL;
}
