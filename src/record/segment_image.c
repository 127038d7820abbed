/* SPDX-License-Identifier: Apache-2.0 */
/* Reading segments of others. A live one changes while it is copied: the drain frees parts of the
   ring and threads overwrite them. What lies between the tail as it is after the copy and the head
   as it was in it cannot have been overwritten. */
#include "record/segment_image.h"

#include "base/errno_status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* More records than a lane makes in a day. */
#define DROPPED_MAX ((uint64_t)1 << 42)

static sonde_status refuse(char *reason, sonde_status status, const char *text)
{
    snprintf(reason, SONDE__REASON_MAX, "%s", text);
    return status;
}

/* True when [offset, offset + bytes) lies inside size and offset is a multiple of 8. */
static bool inside(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset % 8 == 0 && offset <= size && bytes <= size - offset;
}

static sonde_status check_lane(const uint8_t *base, uint64_t size, const sonde__lane_header *lane,
                               char *reason)
{
    (void)base;
    if (lane->ready != 1)
        return refuse(reason, SONDE_EBADDATA, "a lane is not complete");
    uint64_t ring = lane->ring_bytes;
    if (ring < 4096 || ring > SONDE__SEGMENT_BYTES_LIMIT || (ring & (ring - 1)) != 0 ||
        !inside(lane->ring_offset, ring, size))
        return refuse(reason, SONDE_EBADDATA, "a ring lies outside of the segment");
    if (lane->slot_count > 65536 ||
        !inside(lane->slots_offset, (uint64_t)lane->slot_count * SONDE__SLOT_BYTES, size))
        return refuse(reason, SONDE_EBADDATA, "slots lie outside of the segment");
    uint64_t head = atomic_load_explicit(&lane->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&lane->tail, memory_order_relaxed);
    if (head % 8 != 0 || tail % 8 != 0 || head - tail > ring)
        return refuse(reason, SONDE_EBADDATA, "head and tail of a ring do not fit");
    uint64_t drop_end = atomic_load_explicit(&lane->drop_end, memory_order_relaxed);
    uint64_t drop_first = atomic_load_explicit(&lane->drop_first, memory_order_relaxed);
    if (drop_end > 0 && drop_end - drop_first > DROPPED_MAX)
        return refuse(reason, SONDE_EBADDATA, "the count of dropped records of a lane is not one");
    return SONDE_OK;
}

static sonde_status check_header(const sonde__segment_header *header, uint64_t size, char *reason)
{
    static const uint8_t nothing[sizeof header->magic];
    if (memcmp(header->magic, nothing, sizeof nothing) == 0)
        return refuse(reason, SONDE_EEARLY, "its process has not finished opening it");
    if (memcmp(header->magic, SONDE__SEGMENT_MAGIC, sizeof header->magic) != 0)
        return refuse(reason, SONDE_EBADDATA, "it is not a segment of Sonde");
    if (header->layout != SONDE__SEGMENT_LAYOUT) {
        snprintf(reason, SONDE__REASON_MAX,
                 "its layout is version %u, this program reads version %u", header->layout,
                 (unsigned)SONDE__SEGMENT_LAYOUT);
        return SONDE_EUNSUPPORTED;
    }
    if (atomic_load_explicit(&header->ready, memory_order_acquire) != 1)
        return refuse(reason, SONDE_EEARLY, "its process has not finished opening it");
    if (header->header_bytes != SONDE__SEGMENT_HEADER_BYTES ||
        header->start_frame_bytes > sizeof header->start_frame ||
        memchr(header->journal_path, '\0', sizeof header->journal_path) == NULL ||
        header->journal_path[0] != '/')
        return refuse(reason, SONDE_EBADDATA, "its header is damaged");
    if (header->names_max > SONDE__NAMES_MAX ||
        header->names_offset < SONDE__SEGMENT_HEADER_BYTES ||
        atomic_load_explicit(&header->names_count, memory_order_relaxed) > header->names_max ||
        !inside(header->names_offset,
                (uint64_t)header->names_max * sizeof(uint32_t) + header->names_bytes, size))
        return refuse(reason, SONDE_EBADDATA, "its names lie outside of the segment");
    uint32_t lanes = atomic_load_explicit(&header->lanes_used, memory_order_relaxed);
    if (lanes > SONDE__LANES_LIMIT || header->lane_stride < SONDE__LANE_HEADER_BYTES ||
        header->lane_stride > size || header->lane_stride % 64 != 0 ||
        header->lanes_offset % 64 != 0 || header->lanes_offset < SONDE__SEGMENT_HEADER_BYTES ||
        !inside(header->lanes_offset, lanes * header->lane_stride, size))
        return refuse(reason, SONDE_EBADDATA, "its lanes lie outside of the segment");
    return SONDE_OK;
}

sonde_status sonde__segment_image_check(const uint8_t *base, uint64_t size, char *reason)
{
    if (size < SONDE__SEGMENT_HEADER_BYTES)
        return refuse(reason, SONDE_EBADDATA, "it is too short for a segment");
    const sonde__segment_header *header = (const sonde__segment_header *)(const void *)base;
    sonde_status status = check_header(header, size, reason);
    uint32_t lanes =
        status == SONDE_OK ? atomic_load_explicit(&header->lanes_used, memory_order_relaxed) : 0;
    for (uint32_t i = 0; i < lanes && status == SONDE_OK; i++) {
        const sonde__lane_header *lane =
            (const sonde__lane_header *)(const void *)(base + header->lanes_offset +
                                                       i * header->lane_stride);
        status = check_lane(base, size, lane, reason);
    }
    return status;
}

static sonde_status read_all(int fd, uint8_t *out, uint64_t bytes, uint64_t offset)
{
    while (bytes > 0) {
        ssize_t got = pread(fd, out, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return SONDE_EIO;
        out += got;
        offset += (uint64_t)got;
        bytes -= (uint64_t)got;
    }
    return SONDE_OK;
}

/* Takes the tails as they are now: see the head of this file. */
static sonde_status refresh_tails(const sonde__segment_image *image)
{
    sonde__segment_header *header = sonde__image_header(image);
    uint32_t lanes = atomic_load_explicit(&header->lanes_used, memory_order_relaxed);
    for (uint32_t i = 0; i < lanes; i++) {
        uint64_t offset = header->lanes_offset + i * header->lane_stride;
        sonde__lane_header *lane = (sonde__lane_header *)(void *)(image->base + offset);
        uint64_t now[4]; /* tail, its number, what was dropped before it */
        if (read_all(image->fd, (uint8_t *)now, sizeof now,
                     offset + offsetof(sonde__lane_header, tail)) != SONDE_OK)
            return SONDE_EIO;
        uint64_t head = atomic_load_explicit(&lane->head, memory_order_relaxed);
        if ((int64_t)(now[0] - head) > 0)
            atomic_store_explicit(&lane->head, now[0], memory_order_relaxed);
        atomic_store_explicit(&lane->tail, now[0], memory_order_relaxed);
        atomic_store_explicit(&lane->tail_seq, now[1], memory_order_relaxed);
        atomic_store_explicit(&lane->drop_first, now[2], memory_order_relaxed);
        atomic_store_explicit(&lane->drop_end, now[3], memory_order_relaxed);
    }
    return SONDE_OK;
}

static sonde_status check_file(int fd, uint32_t uid, uint64_t *size, char *reason)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return refuse(reason, SONDE_EIO, "it cannot be examined");
    if (!S_ISREG(st.st_mode) || st.st_uid != uid || (st.st_mode & 077) != 0)
        return refuse(reason, SONDE_EDENIED, "its owner or mode is not that of a segment");
    if (st.st_nlink == 0)
        return refuse(reason, SONDE_EABSENT, "it was recovered by somebody else");
    if (st.st_size == 0)
        return refuse(reason, SONDE_EEARLY, "its process has not finished opening it");
    if (st.st_size < SONDE__SEGMENT_HEADER_BYTES || st.st_size > SONDE__SEGMENT_BYTES_LIMIT)
        return refuse(reason, SONDE_EBADDATA, "its size is not that of a segment");
    *size = (uint64_t)st.st_size;
    return SONDE_OK;
}

/* Copies the header, learns how much is used, copies that. */
static sonde_status copy_in(sonde__segment_image *image, uint64_t file_size, char *reason)
{
    void *base = mmap(NULL, file_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return refuse(reason, SONDE_ENOMEM, "there is no memory for a copy");
    image->base = base;
    image->size = file_size;
    if (read_all(image->fd, image->base, SONDE__SEGMENT_HEADER_BYTES, 0) != SONDE_OK)
        return refuse(reason, SONDE_EIO, "it cannot be read");
    const sonde__segment_header *header = sonde__image_header(image);
    sonde_status status = check_header(header, file_size, reason);
    if (status != SONDE_OK)
        return status;
    uint64_t used =
        header->lanes_offset +
        atomic_load_explicit(&header->lanes_used, memory_order_relaxed) * header->lane_stride;
    if (read_all(image->fd, image->base + SONDE__SEGMENT_HEADER_BYTES,
                 used - SONDE__SEGMENT_HEADER_BYTES, SONDE__SEGMENT_HEADER_BYTES) != SONDE_OK ||
        refresh_tails(image) != SONDE_OK)
        return refuse(reason, SONDE_EIO, "it cannot be read");
    return sonde__segment_image_check(image->base, file_size, reason);
}

sonde_status sonde__segment_image_open(sonde__segment_image *image, const char *path, uint32_t uid,
                                       bool lock, char *reason)
{
    *image = (sonde__segment_image){.fd = -1};
    reason[0] = '\0';
    image->fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (image->fd < 0) {
        snprintf(reason, SONDE__REASON_MAX, "%s", strerror(errno));
        return sonde__status_of_errno(errno);
    }
    uint64_t size = 0;
    sonde_status status = SONDE_OK;
    if (lock && flock(image->fd, LOCK_EX | LOCK_NB) != 0)
        status = refuse(reason, SONDE_EBUSY, "its process is alive");
    if (status == SONDE_OK)
        status = check_file(image->fd, uid, &size, reason);
    if (status == SONDE_OK)
        status = copy_in(image, size, reason);
    if (status == SONDE_OK) {
        uint8_t boot[16];
        sonde__boot_id(boot);
        if (memcmp(boot, sonde__image_header(image)->boot_id, sizeof boot) != 0)
            status = refuse(reason, SONDE_EUNSUPPORTED, "it is of another boot or host");
    }
    if (status != SONDE_OK && status != SONDE_EEARLY)
        sonde__segment_image_close(image);
    return status;
}

sonde_status sonde__segment_peek(const char *path, uint32_t uid, sonde__segment_header *out)
{
    char reason[SONDE__REASON_MAX];
    uint64_t size = 0;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return sonde__status_of_errno(errno);
    sonde_status status = check_file(fd, uid, &size, reason);
    if (status == SONDE_OK)
        status = read_all(fd, (uint8_t *)out, sizeof *out, 0);
    close(fd);
    return status == SONDE_OK ? check_header(out, size, reason) : status;
}

void sonde__segment_image_close(sonde__segment_image *image)
{
    if (image->base)
        munmap(image->base, image->size);
    if (image->fd >= 0)
        close(image->fd);
    *image = (sonde__segment_image){.fd = -1};
}

void sonde__segment_list(uint32_t uid, void (*visit)(void *user, const char *path), void *user)
{
    char prefix[32];
    int prefix_len = snprintf(prefix, sizeof prefix, "sonde.%u.", uid);
    DIR *dir = opendir(sonde__segment_dir());
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, prefix, (size_t)prefix_len) != 0 ||
            strlen(entry->d_name) != (size_t)prefix_len + 16)
            continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", sonde__segment_dir(), entry->d_name);
        visit(user, path);
    }
    closedir(dir);
}
