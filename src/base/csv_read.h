/* SPDX-License-Identifier: Apache-2.0 */
/* CSV as RFC 4180 has it, and as others write it: LF, CRLF or both, quoted fields with
   doubled quotes and line ends inside. Damage stays local: a quote that is never closed spoils its
   own line, not the rest of the file. */
#ifndef SONDE_BASE_CSV_READ_H
#define SONDE_BASE_CSV_READ_H

#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SONDE__CSV_FIELDS_MAX = 64,       /* further fields of a record are counted, not kept */
    SONDE__CSV_RECORD_MAX = 1 << 20,  /* bytes; a longer record is skipped and counted */
    SONDE__CSV_WINDOW_MIN = 128 << 10 /* bytes held of a file; grows for a longer record */
};

typedef struct sonde__csv_field {
    const char *text; /* not NUL-terminated; may hold any byte */
    size_t len;
} sonde__csv_field;

typedef struct sonde__csv_row {
    sonde__csv_field field[SONDE__CSV_FIELDS_MAX];
    unsigned count; /* fields of the record, also those beyond the limit */
    bool damaged;   /* a quote was left open, or text follows a closing one */
} sonde__csv_row;

/* Cuts the first record off text. Quoted fields are decoded in place, so text is changed. final:
   nothing follows text. Returns the bytes of the record with its line end; 0 when it is not
   complete yet (never when final, unless len is 0). */
size_t sonde__csv_parse(char *text, size_t len, bool final, sonde__csv_row *row);

/* A file read record by record, in memory that does not depend on its size. */
typedef struct sonde__csv_file {
    int fd;
    char *window;
    size_t cap;
    size_t start; /* of what is not handed out yet */
    size_t end;
    bool eof;
    bool skipping;     /* within a record that is too long */
    uint64_t bytes;    /* read so far */
    uint64_t too_long; /* records skipped */
} sonde__csv_file;

/* EABSENT, EDENIED, ENOMEM, EIO; EBADDATA when path is a directory. */
sonde_status sonde__csv_open(sonde__csv_file *file, const char *path);

/* The next record; its fields are borrowed until the next call. Empty lines are passed over.
   EEND at the end (of a file that grows: for now). EIO. */
sonde_status sonde__csv_next(sonde__csv_file *file, sonde__csv_row *row);

void sonde__csv_close(sonde__csv_file *file);

#endif
