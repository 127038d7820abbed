/* SPDX-License-Identifier: Apache-2.0 */
/* The file a process appends its frames to. One writer; written by position, so that a failed or
   short write is simply written again at the same place and never leaves a hole. */
#ifndef SONDE_RECORD_JOURNAL_H
#define SONDE_RECORD_JOURNAL_H

#include "base/buf.h"
#include "record/frame_pack.h"
#include "record/limits.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef struct sonde__journal {
    int fd;
    dev_t dev;
    ino_t ino;
    uint64_t end;     /* where the next frame goes */
    uint64_t before;  /* bytes of earlier parts */
    unsigned part;    /* from 1 */
    uint64_t written; /* bytes, by this process, also those removed since */
    uint64_t errors;
    sonde_status last;
    char path[SONDE__JOURNAL_PATH_MAX];      /* of part 1: the same as long as it is open */
    char part_path[SONDE__JOURNAL_PATH_MAX]; /* of the part being written */
    sonde__buf *memory;                      /* not NULL: frames go here instead of a file */
    sonde__packer packer;                    /* zero: frames are not compressed */
} sonde__journal;

/* A journal in memory, for readers that may not write. */
void sonde__journal_in_memory(sonde__journal *journal, sonde__buf *memory);

/* The path of a part: path itself for 0 and 1, NAME.pN.sonde above. False: too long. */
bool sonde__journal_part_path(const char *path, unsigned part, char out[SONDE__JOURNAL_PATH_MAX]);

/* Creates path, which must not exist (EBUSY then). */
sonde_status sonde__journal_create(sonde__journal *journal, const char *path);

/* Opens an existing file to append to it: a regular file of this user. */
sonde_status sonde__journal_open(sonde__journal *journal, const char *path);

/* Writes the pieces at the end, wholly or not at all. ELIMIT: no space; EIO and others. A host that
   closed our descriptor or gave its number to another file is noticed, and the file reopened. */
sonde_status sonde__journal_write(sonde__journal *journal, const struct iovec *pieces, int count,
                                  size_t length);

/* Seals a frame, compressed where the journal does that, and writes it. At most two pieces; header
   and pieces are changed. */
sonde_status sonde__journal_frame(sonde__journal *journal, sonde__frame_header *header,
                                  struct iovec *body, int count);

/* Goes on in a new, empty part, the next number that is free. On failure nothing has changed. */
sonde_status sonde__journal_next_part(sonde__journal *journal);

/* fdatasync. After a failure the file's state is unknown and nothing of it is trusted: the journal
   goes on in a new part (NAME.p2.sonde), and EIO tells the caller to write again. */
sonde_status sonde__journal_sync(sonde__journal *journal);

void sonde__journal_close(sonde__journal *journal);

#endif
