/* SPDX-License-Identifier: Apache-2.0 */
/* A window over a CSV file: what is not handed out yet is moved to its front and the rest filled
   by read. The window grows only for a long record, up to the limit; beyond it the record is
   thrown away piece by piece, so that a line of a gigabyte costs time but no memory. */
#include "base/csv_read.h"

#include "base/errno_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sonde_status sonde__csv_open(sonde__csv_file *file, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return sonde__status_of_errno(errno);
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return SONDE_EBADDATA;
    }
    char *window = malloc(SONDE__CSV_WINDOW_MIN);
    if (!window) {
        close(fd);
        return SONDE_ENOMEM;
    }
    *file = (sonde__csv_file){.fd = fd, .window = window, .cap = SONDE__CSV_WINDOW_MIN};
    return SONDE_OK;
}

/* Reads more behind what is held. EEND: there is nothing more. */
static sonde_status fill(sonde__csv_file *file)
{
    if (file->start > 0) {
        memmove(file->window, file->window + file->start, file->end - file->start);
        file->end -= file->start;
        file->start = 0;
    }
    if (file->end == file->cap) {
        size_t cap = file->cap < SONDE__CSV_WINDOW_MIN ? SONDE__CSV_WINDOW_MIN : file->cap * 2;
        char *larger = realloc(file->window, cap);
        if (!larger)
            return SONDE_ENOMEM;
        file->window = larger;
        file->cap = cap;
    }
    for (;;) {
        ssize_t got = read(file->fd, file->window + file->end, file->cap - file->end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return SONDE_EIO;
        file->eof = got == 0;
        file->end += (size_t)got;
        file->bytes += (uint64_t)got;
        return SONDE_OK;
    }
}

/* Throws away what is held up to and with the next line end. */
static void skip_line(sonde__csv_file *file)
{
    char *at = file->window + file->start;
    char *line_end = memchr(at, '\n', file->end - file->start);
    if (!file->skipping)
        file->too_long++;
    file->skipping = line_end == NULL;
    file->start = line_end ? (size_t)(line_end - file->window) + 1 : file->end;
}

sonde_status sonde__csv_next(sonde__csv_file *file, sonde__csv_row *row)
{
    for (;;) {
        size_t held = file->end - file->start;
        if (file->skipping && held > 0) {
            skip_line(file);
            continue;
        }
        size_t used = 0;
        if (held > 0)
            used = sonde__csv_parse(file->window + file->start, held, file->eof, row);
        if (used > 0) {
            file->start += used;
            if (row->count > 1 || row->field[0].len > 0)
                return SONDE_OK;
            continue;
        }
        if (held >= SONDE__CSV_RECORD_MAX) {
            skip_line(file);
            continue;
        }
        if (file->eof)
            return SONDE_EEND;
        sonde_status status = fill(file);
        if (status != SONDE_OK)
            return status;
    }
}

void sonde__csv_close(sonde__csv_file *file)
{
    close(file->fd);
    free(file->window);
    file->window = NULL;
}
