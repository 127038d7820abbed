/* SPDX-License-Identifier: Apache-2.0 */
#include "view/csv_log.h"

#include "base/buf.h"
#include "base/errno_status.h"
#include "sonde/reader.h"
#include "view/packet_csv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE_BYTES = 256 << 10, ROWS_BYTES_MAX = 4 << 20 };

static sonde_status write_rows(int fd, sonde__buf *rows)
{
    if (rows->status != SONDE_OK)
        return rows->status;
    for (size_t done = 0; done < rows->len;) {
        ssize_t wrote = write(fd, rows->data + done, rows->len - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return errno == ENOSPC || errno == EDQUOT || errno == EFBIG
                       ? SONDE_ELIMIT
                       : sonde__status_of_errno(errno);
        done += (size_t)wrote;
    }
    sonde__buf_clear(rows);
    return SONDE_OK;
}

static sonde_status write_log(sonde_reader *reader, int fd)
{
    sonde__packet *packet = calloc(1, sizeof *packet);
    if (!packet)
        return SONDE_ENOMEM;
    sonde__buf rows;
    sonde_record record;
    sonde_status status = SONDE_OK;
    sonde__buf_init(&rows, ROWS_BYTES_MAX);
    sonde__buf_text(&rows, sonde__packet_csv_header);
    while (status == SONDE_OK && sonde_reader_next(reader, &record) == SONDE_OK) {
        if (sonde__packet_of_record(&record, packet))
            sonde__packet_csv_write(&rows, packet);
        if (rows.len >= WRITE_BYTES)
            status = write_rows(fd, &rows);
    }
    if (status == SONDE_OK)
        status = write_rows(fd, &rows);
    sonde__buf_free(&rows);
    free(packet);
    return status;
}

static bool is_shorter(int fd, const char *csv)
{
    struct stat made, there;
    return stat(csv, &there) == 0 && (fstat(fd, &made) != 0 || made.st_size < there.st_size);
}

sonde_status sonde__csv_log_complete(const char *journal, const char *csv, bool *wrote)
{
    char draft[PATH_MAX];
    sonde_reader *reader;
    *wrote = false;
    int used = snprintf(draft, sizeof draft, "%s.new.%d", csv, (int)getpid());
    if (used < 0 || (size_t)used >= sizeof draft)
        return SONDE_ELIMIT;
    sonde_status status = sonde_reader_open(journal, NULL, &reader);
    if (status != SONDE_OK)
        return status;
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) {
        status = sonde__status_of_errno(errno);
        sonde_reader_close(reader);
        return status;
    }
    status = write_log(reader, fd);
    sonde_reader_close(reader);
    bool keep = status != SONDE_OK || is_shorter(fd, csv);
    if (close(fd) != 0 && status == SONDE_OK)
        status = SONDE_EIO;
    if (!keep && status == SONDE_OK && rename(draft, csv) != 0)
        status = sonde__status_of_errno(errno);
    *wrote = !keep && status == SONDE_OK;
    if (!*wrote)
        unlink(draft);
    return status;
}
