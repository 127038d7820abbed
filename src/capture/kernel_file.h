/* SPDX-License-Identifier: Apache-2.0 */
/* A file of /proc or /sys that stays open and is read again from its start. */
#ifndef SONDE_CAPTURE_KERNEL_FILE_H
#define SONDE_CAPTURE_KERNEL_FILE_H

#include "base/buf.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <sys/types.h>

/* How much of a file one read call returns. */
typedef enum sonde__kernel_file_kind {
    SONDE__FILE_WHOLE,   /* all that fits the buffer */
    SONDE__FILE_LINES,   /* a page of short lines at a time */
    SONDE__FILE_RECORDS, /* a page of records of any length at a time */
} sonde__kernel_file_kind;

typedef struct sonde__kernel_file {
    int fd; /* -1: not open */
    sonde__kernel_file_kind kind;
    dev_t device; /* identity of what was opened, so that a descriptor the host has closed and */
    ino_t inode;  /* used again is neither trusted nor closed */
} sonde__kernel_file;

#define SONDE__KERNEL_FILE_NONE \
    {                           \
        .fd = -1                \
    }

/* Opens path for reading, close-on-exec. On failure the file is not open. */
sonde_status sonde__kernel_file_open(sonde__kernel_file *file, const char *path,
                                     sonde__kernel_file_kind kind);

/* Takes over a descriptor that is open already; closes it on failure. */
sonde_status sonde__kernel_file_adopt(sonde__kernel_file *file, int fd);

/* Closes the descriptor if it is still ours. Safe on a file that is not open. */
void sonde__kernel_file_close(sonde__kernel_file *file);

/* Reads the file from its start into buf (replacing what was there). Grows buf when the file
   outgrew it; otherwise allocates nothing. EGONE when the process behind the file has ended. */
sonde_status sonde__kernel_file_read(const sonde__kernel_file *file, sonde__buf *buf);

/* Whether the descriptor still is what was opened: OK; EGONE when the process behind it has ended;
   EIO when it is closed or something else by now. */
sonde_status sonde__kernel_file_check(const sonde__kernel_file *file);

/* True when the check says OK. */
bool sonde__kernel_file_is_ours(const sonde__kernel_file *file);

#endif
