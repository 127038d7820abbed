/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of records: header, the strings it uses, records. It decodes without any other frame.
   docs/journal-format.md specifies it. */
#ifndef SONDE_RECORD_FRAME_H
#define SONDE_RECORD_FRAME_H

#include "base/buf.h"
#include "base/ticks.h"
#include "record/frame_seal.h"
#include "record/segment.h"
#include "sonde/attr.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Keys of the system group in RUN_BEGIN and RUN_END. Numbers are format. */
enum {
    SONDE__RUN_SESSION_NAME = 32,
    SONDE__RUN_WORKFLOW_NAME = 33,
    SONDE__RUN_SUBTYPE = 34,
    SONDE__RUN_PARENT_WORKFLOW = 35,
    SONDE__RUN_CAMPAIGN = 36,
    SONDE__RUN_USER = 37,
    SONDE__RUN_HOST = 38,
    SONDE__RUN_BOOT_ID = 39, /* BYTES, 16 */
    SONDE__RUN_PID = 40,
    SONDE__RUN_OPENER = 41,
    SONDE__RUN_TRACE = 42, /* BYTES, 16: high half, low half */
    SONDE__RUN_PARENT_SPAN = 43,
    SONDE__RUN_STARTED = 44, /* UINT: wall nanoseconds */
    SONDE__RUN_VERSION = 45,
    SONDE__RUN_SEGMENT = 46,
    SONDE__RUN_ENDED = 47, /* UINT: wall nanoseconds */
    SONDE__RUN_STATUS = 48,
    SONDE__RUN_ERROR = 49,
    SONDE__RUN_STATE = 50,          /* UINT: sonde_run_state */
    SONDE__RUN_SIGNAL_LOST = 51,    /* UINT: records a signal handler could not place */
    SONDE__RUN_ATTRS_LEFT_OUT = 52, /* UINT: attributes of the workflow that had no room */
};

/* Builds one frame after another. */
typedef struct sonde__frame_writer {
    sonde__buf strings;
    uint8_t *records; /* SONDE__FRAME_RECORDS_BYTES and room for the largest record */
    size_t records_len;
    uint32_t string_count;
    uint32_t stamp;
    struct {
        uint32_t stamp;
        uint32_t local;
    } * local; /* by name id */
    uint64_t prev_number;
    uint64_t prev_end;
    sonde__frame_header header;
} sonde__frame_writer;

sonde_status sonde__frame_writer_init(sonde__frame_writer *writer);
void sonde__frame_writer_free(sonde__frame_writer *writer);

/* Starts a frame of the given lane; first_seq is the number of its first record. */
void sonde__frame_begin(sonde__frame_writer *writer, uint64_t session, uint64_t run, uint16_t lane,
                        uint64_t first_seq, int64_t wall_offset_ns);

static inline bool sonde__frame_full(const sonde__frame_writer *writer)
{
    return writer->records_len >= SONDE__FRAME_RECORDS_BYTES;
}

/* Where the names of records are found: a segment, or a copy of one. */
typedef struct sonde__names_view {
    const uint8_t *area; /* offsets, then texts */
    uint32_t max;
    uint32_t bytes;
    uint32_t count;
} sonde__names_view;

/* The text of a name; NULL when id is not one or the area is damaged. */
const char *sonde__names_view_get(const sonde__names_view *names, uint32_t id, size_t *len);

/* Adds one record of a ring (its attributes behind it, attr_bytes of them). False: its bytes are
   not valid; nothing was added then. */
bool sonde__frame_add(sonde__frame_writer *writer, const sonde__names_view *names,
                      const sonde__rate *rate, const sonde__ring_record *record,
                      const uint8_t *attrs);

/* Adds a LOSS record. */
void sonde__frame_add_loss(sonde__frame_writer *writer, uint64_t count, uint64_t reasons);

/* RUN_BEGIN, RUN_END: begin, then attributes, then end. */
void sonde__frame_run_begin(sonde__frame_writer *writer, sonde__kind kind);
void sonde__frame_run_text(sonde__frame_writer *writer, unsigned key, const char *text);
void sonde__frame_run_bytes(sonde__frame_writer *writer, unsigned key, const void *data,
                            size_t len);
void sonde__frame_run_uint(sonde__frame_writer *writer, unsigned key, uint64_t value);
/* The workflow's attributes, as long as the frame is not longer than bytes_max; those that do not
   fit are counted in it. */
void sonde__frame_run_attrs(sonde__frame_writer *writer, const sonde_attr *attrs, size_t count,
                            size_t bytes_max);
void sonde__frame_run_end(sonde__frame_writer *writer);

/* Completes the header but for length and checksum; the body is the strings and the records, valid
   until the next begin. False: memory ran out. */
bool sonde__frame_finish(sonde__frame_writer *writer, struct iovec body[2]);

#endif
