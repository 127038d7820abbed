/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of the journal: header, the strings it uses, records. It decodes without any other frame.
   docs/journal-format.md specifies it; all integers are little-endian. */
#ifndef SONDE_RECORD_FRAME_H
#define SONDE_RECORD_FRAME_H

#include "base/buf.h"
#include "base/ticks.h"
#include "record/segment.h"
#include "sonde/attr.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define SONDE__FRAME_MAGIC 0x46444e53u /* "SNDF" */
enum {
    SONDE__FRAME_VERSION = 1,
    SONDE__FRAME_RECORDS = 1,
    SONDE__FRAME_METRICS = 2,
    SONDE__FRAME_MACHINE = 4, /* behind the header: one JSON object */
    SONDE__FRAME_NO_LANE = 0xffff
};

typedef struct sonde__frame_header {
    uint32_t magic;
    uint32_t length; /* of the whole frame */
    uint32_t crc;    /* CRC-32C of everything behind this field */
    uint8_t version;
    uint8_t type;
    uint16_t lane;
    uint64_t session;
    uint64_t run;
    uint64_t first_seq;
    uint32_t count;   /* numbers covered: first_seq ... first_seq + count - 1 */
    uint32_t records; /* entries behind the strings */
    uint64_t min_mono_ns;
    uint64_t max_mono_ns;
    int64_t wall_offset_ns; /* wall time = monotonic time + this */
    uint32_t string_bytes;
    uint32_t reserved;
} sonde__frame_header;
_Static_assert(sizeof(sonde__frame_header) == 80, "journal format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "journal format");

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
    SONDE__RUN_STATE = 50,       /* UINT: sonde_run_state */
    SONDE__RUN_SIGNAL_LOST = 51, /* UINT: records a signal handler could not place */
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
void sonde__frame_run_attr(sonde__frame_writer *writer, const sonde_attr *attr);
void sonde__frame_run_end(sonde__frame_writer *writer);

/* Completes the frame: header, strings, records as three pieces, valid until the next begin.
   Returns its length; 0 when memory ran out. */
size_t sonde__frame_finish(sonde__frame_writer *writer, struct iovec pieces[3]);

/* Checks the header and the CRC of a frame at data (avail bytes). OK; EEND: more bytes are needed
   (*length holds how many, when the header says so); EBADDATA: not a frame. */
sonde_status sonde__frame_check(const uint8_t *data, size_t avail, size_t *length);

#endif
