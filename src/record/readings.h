/* SPDX-License-Identifier: Apache-2.0 */
/* Telemetry records that a reader has passed, for the tasks that refer to them. The last ones are
   kept; a task that began before them has its reading fetched from the file once more. */
#ifndef SONDE_RECORD_READINGS_H
#define SONDE_RECORD_READINGS_H

#include "record/decode.h"
#include "sonde/reader.h"

enum {
    SONDE__READINGS_MAX = 16384,          /* readings a reader keeps: 24 bytes and themselves */
    SONDE__READINGS_BYTES_MAX = 64 << 20, /* of all of them; the oldest go first */
};

typedef struct sonde__kept_reading {
    uint64_t run;
    uint64_t id;
    uint8_t *bytes; /* NULL: free */
    size_t len;
} sonde__kept_reading;

typedef struct sonde__readings {
    sonde__kept_reading *ring; /* SONDE__READINGS_MAX, by arrival */
    uint32_t *buckets;         /* twice as many: position in ring + 1 */
    uint64_t put;              /* ever */
    uint64_t first;            /* oldest that is kept */
    size_t bytes;
    /* of the record given out: */
    sonde_task_usage usage;
    sonde_reading *inside;
    size_t inside_cap;
    void **again; /* copies of readings that were fetched */
    size_t again_count, again_cap;
} sonde__readings;

/* Keeps the reading of a telemetry record. */
void sonde__readings_keep(sonde__readings *readings, const sonde__decoder *decoder,
                          const sonde__entry *entry);

/* Takes an attribute that is about telemetry; false: it is not. */
bool sonde__readings_place(sonde_reader *reader, sonde_record *out,
                           const sonde__decoded_attr *attr);

/* The record given out is not used any more. */
void sonde__readings_next(sonde__readings *readings);

void sonde__readings_free(sonde__readings *readings);

#endif
