/* SPDX-License-Identifier: Apache-2.0 */
/* A frame whose check fails is not skipped by its length, which may be what is damaged: the search
   goes on one byte further. */
#include "record/frame_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 2 * SONDE__FRAME_BYTES_MAX };

/* Bytes from offset on: as many as fit into the window, or all of the memory. */
static sonde_status fill(const sonde__journal_scan *scan, uint8_t *window, uint64_t offset,
                         const uint8_t **data, size_t *len)
{
    uint64_t left = scan->size - offset;
    if (scan->fd < 0) {
        *data = scan->data + offset;
        *len = (size_t)left;
        return SONDE_OK;
    }
    size_t want = left < WINDOW ? (size_t)left : WINDOW;
    size_t have = 0;
    while (have < want) {
        ssize_t got = pread(scan->fd, window + have, want - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return SONDE_EIO;
        if (got == 0)
            break; /* it became shorter */
        have += (size_t)got;
    }
    *data = window;
    *len = have;
    return SONDE_OK;
}

/* Offset of the next byte sequence that may start a frame, from at on; len when there is none. */
static size_t next_magic(const uint8_t *data, size_t len, size_t at)
{
    const uint32_t magic = SONDE__FRAME_MAGIC;
    const uint8_t *found = at < len ? memmem(data + at, len - at, &magic, sizeof magic) : NULL;
    if (found)
        return (size_t)(found - data);
    /* the last three bytes may be the beginning of one */
    size_t keep = len > 3 ? len - 3 : 0;
    return keep > at ? keep : (at < len ? at + 1 : len);
}

/* Frames of one window. Returns how many bytes are done with; *more: a frame needs bytes behind. */
static size_t scan_window(sonde__journal_scan *scan, const uint8_t *data, size_t len, uint64_t base,
                          bool at_end, sonde__frame_visit *visit, void *user)
{
    size_t at = 0;
    while (at < len) {
        size_t length = 0;
        sonde_status status = sonde__frame_check(data + at, len - at, &length);
        if (status == SONDE_EEND && !at_end)
            return at;
        if (status != SONDE_OK) {
            at = next_magic(data, len, at + 1);
            continue;
        }
        sonde__frame_header header;
        memcpy(&header, data + at, sizeof header);
        visit(user, &header, data + at, base + at);
        scan->valid += length;
        scan->frames++;
        at += length;
        scan->next = base + at;
    }
    return at;
}

sonde_status sonde__frame_scan(sonde__journal_scan *scan, sonde__frame_visit *visit, void *user)
{
    uint8_t *window = NULL;
    if (scan->fd >= 0) {
        struct stat st;
        if (fstat(scan->fd, &st) != 0)
            return SONDE_EIO;
        scan->size = (uint64_t)st.st_size;
        if (scan->size <= scan->next)
            return SONDE_OK;
        window =
            malloc(scan->size - scan->next < WINDOW ? (size_t)(scan->size - scan->next) : WINDOW);
        if (!window)
            return SONDE_ENOMEM;
    }
    sonde_status status = SONDE_OK;
    for (uint64_t at = scan->next; at < scan->size && status == SONDE_OK;) {
        const uint8_t *data = NULL;
        size_t len = 0;
        status = fill(scan, window, at, &data, &len);
        if (status != SONDE_OK || len == 0)
            break;
        at += scan_window(scan, data, len, at, at + len >= scan->size, visit, user);
    }
    free(window);
    return status;
}
