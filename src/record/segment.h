/* SPDX-License-Identifier: Apache-2.0 */
/* The shared segment: one per process, /dev/shm/sonde.UID.RUN, read by others with pread. Every
   byte is specified in docs/journal-format.md; a change of these structs is a new layout number. */
#ifndef SONDE_RECORD_SEGMENT_H
#define SONDE_RECORD_SEGMENT_H

#include "record/limits.h"
#include "sonde/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SONDE__SEGMENT_MAGIC "SONDESEG"
enum { SONDE__SEGMENT_LAYOUT = 1 };

/* One open task. state is number << 2 | phase; the owner writes the rest before it stores OPEN. */
enum {
    SONDE__SLOT_FREE = 0,
    SONDE__SLOT_OPEN = 1,
    SONDE__SLOT_ENDING = 2, /* somebody is writing its record */
    SONDE__SLOT_ENDED = 3,  /* ended by another thread; the owner may reuse it */
};

typedef struct sonde__slot {
    _Atomic uint64_t state;
    uint64_t start;        /* ticks */
    uint64_t parent;       /* number in this lane or a span id, see flags */
    _Atomic uint64_t meta; /* name, flags (PARENT_* and ON_STACK), status, slot below: see below */
    _Atomic uint32_t attr_bytes;
    uint32_t reserved;
    uint64_t id; /* span id, when it does not follow from lane and number; else 0 */
    uint64_t reserved2[2];
    uint8_t attrs[SONDE__SLOT_ATTR_BYTES];
} sonde__slot;
_Static_assert(sizeof(sonde__slot) == SONDE__SLOT_BYTES, "segment format");

enum { SONDE__NO_SLOT = 0xffff };

/* meta: bits 0-31 name id, 32-39 flags, 40-47 the status an open task is shown with, 48-63 the slot
   under it on the stack (SONDE__NO_SLOT at the bottom). One word, so that a begin stores it once.
 */
static inline uint64_t sonde__slot_meta(uint32_t name, unsigned flags, unsigned status,
                                        uint16_t below)
{
    return name | (uint64_t)flags << 32 | (uint64_t)status << 40 | (uint64_t)below << 48;
}

static inline uint32_t sonde__meta_name(uint64_t meta)
{
    return (uint32_t)meta;
}

static inline unsigned sonde__meta_flags(uint64_t meta)
{
    return meta >> 32 & 0xff;
}

static inline unsigned sonde__meta_status(uint64_t meta)
{
    return meta >> 40 & 0xff;
}

static inline uint16_t sonde__meta_below(uint64_t meta)
{
    return (uint16_t)(meta >> 48);
}

/* Records in a ring: multiples of 8 bytes, never across the ring's end (PAD fills it). */
typedef enum sonde__kind {
    SONDE__KIND_PAD = 0,
    SONDE__KIND_TASK = 1,   /* an ended task */
    SONDE__KIND_SUBMIT = 2, /* queued work; start is the moment of submission */
    SONDE__KIND_ATTRS = 3,  /* attributes of an open task that did not fit, or from elsewhere */
    SONDE__KIND_LOSS = 4,   /* number records from seq on were lost */
    SONDE__KIND_OPEN = 5,   /* journal only, and those below: records without a number */
    SONDE__KIND_RUN_BEGIN = 6,
    SONDE__KIND_RUN_END = 7,
    SONDE__KIND_TELEMETRY = 8, /* ring and journal: a reading, referred to by lane and number */
} sonde__kind;

/* flags of records and slots: status in bits 0-2 */
enum {
    SONDE__STATUS_MASK = 7,
    SONDE__PARENT_NONE = 0 << 3, /* the process's own parent, if it has one */
    SONDE__PARENT_LANE = 1 << 3, /* parent is a task number of this lane */
    SONDE__PARENT_SPAN = 2 << 3, /* parent is a span id */
    SONDE__PARENT_ROOT = 3 << 3, /* no parent, not even the process's */
    SONDE__PARENT_MASK = 3 << 3,
    SONDE__GIVEN_TIMES = 1 << 5, /* start and end are wall nanoseconds, not ticks */
    SONDE__ON_STACK = 1 << 6,    /* slots only */
    SONDE__TARGET_SPAN = 1 << 6, /* ATTRS only: number is 0, parent is the task's span id */
};

typedef struct sonde__ring_record {
    uint32_t seq;   /* low half of the record's number in its lane */
    uint16_t words; /* size in 8 bytes, attributes included */
    uint8_t kind;
    uint8_t flags;
    uint64_t start;
    uint64_t end;
    uint32_t name;
    uint32_t attr_bytes;
    uint64_t number; /* of the task; LOSS: how many were lost */
    uint64_t parent; /* LOSS: reasons */
} sonde__ring_record;
_Static_assert(sizeof(sonde__ring_record) == 48, "segment format");

/* An attribute: this, then len bytes, padded to 8. */
typedef struct sonde__ring_attr {
    uint32_t key;  /* name id; for SONDE__GROUP_SYSTEM one of SONDE__SYS_* */
    uint8_t type;  /* sonde_attr_type, | SONDE__TYPE_CUT: the first 8 bytes are the full length */
    uint8_t group; /* sonde_group or SONDE__GROUP_SYSTEM */
    uint16_t len;
} sonde__ring_attr;
_Static_assert(sizeof(sonde__ring_attr) == 8, "segment format");

enum { SONDE__GROUP_SYSTEM = 3, SONDE__TYPE_CUT = 0x80, SONDE__TYPE_MASK = 0x7f };

/* Keys of the system group. Numbers are format; readers skip those they do not know. */
typedef enum sonde__sys {
    SONDE__SYS_ERROR = 1,
    SONDE__SYS_SUBTYPE = 2,
    SONDE__SYS_TAG = 3,
    SONDE__SYS_DEVICE = 4,
    SONDE__SYS_WORKER = 5,
    SONDE__SYS_GROUP = 6,
    SONDE__SYS_LAYER = 7,
    SONDE__SYS_ID = 8,        /* UINT: span id, when it does not follow from lane and number */
    SONDE__SYS_SUBMITTED = 9, /* TICKS: when it was submitted */
    SONDE__SYS_EVENT = 10,    /* EVENT */
    SONDE__SYS_LINK = 11,     /* BYTES: trace and span, 24 bytes */
    SONDE__SYS_TRACE = 12,    /* BYTES: another trace than the workflow's, 16 bytes */
    SONDE__SYS_TELEMETRY_START = 13, /* UINT: lane << 48 | seq of a telemetry record */
    SONDE__SYS_TELEMETRY_END = 14,
    SONDE__SYS_TELEMETRY = 15,        /* BYTES: the reading of a telemetry record */
    SONDE__SYS_USAGE = 16,            /* BYTES: sonde__usage, between start and end */
    SONDE__SYS_POINT = 17,            /* BYTES: sonde__point at the start */
    SONDE__SYS_TELEMETRY_INSIDE = 18, /* UINT: as 13; a reading on request */
} sonde__sys;

/* Types of system values beyond sonde_attr_type. */
enum {
    SONDE__TYPE_TICKS = 8, /* 8 bytes: ticks in the ring, monotonic nanoseconds in the journal */
    SONDE__TYPE_EVENT = 9, /* ticks, name id (4), 4 of padding, JSON text */
};

typedef struct sonde__lane_header {
    /* written by the lane's thread */
    _Alignas(64) _Atomic uint64_t head; /* bytes ever put into the ring */
    _Atomic uint64_t loss_first;        /* lost and not yet told by a LOSS record */
    _Atomic uint64_t loss_count;
    _Atomic uint32_t loss_reasons;
    _Atomic uint32_t thread; /* kernel id of the thread that has the lane, 0: none */
    _Atomic uint64_t stale;
    _Atomic uint64_t cut;
    /* written by the drain */
    _Alignas(64) _Atomic uint64_t tail; /* bytes ever taken out */
    _Atomic uint64_t tail_seq;          /* number of the next record to take out */
    _Atomic uint64_t drop_first;        /* taken out and not written: the journal's limit */
    _Atomic uint64_t drop_end;          /* the number behind the last such; 0: none */
    /* constant */
    _Alignas(64) uint64_t slots_offset; /* all offsets from the segment's start */
    uint64_t ring_offset;
    uint64_t ring_bytes;
    uint64_t cells_offset; /* metric cells; 0: none */
    uint64_t cells_bytes;
    uint32_t slot_count;
    uint32_t ready; /* 1 when the fields above are written */
    _Alignas(64) uint64_t reserved[8];
} sonde__lane_header;
_Static_assert(sizeof(sonde__lane_header) == SONDE__LANE_HEADER_BYTES, "segment format");

typedef struct sonde__segment_header {
    uint8_t magic[8];
    uint32_t layout;
    uint32_t header_bytes;
    uint64_t size;
    uint64_t run;
    uint64_t session;
    uint64_t trace_hi;
    uint64_t trace_lo;
    uint64_t parent; /* span the process was started under */
    uint32_t pid;
    uint32_t uid;
    uint8_t boot_id[16];
    uint32_t tsc;           /* 1: ticks are the TSC's, 0: nanoseconds */
    _Atomic uint32_t ready; /* 1 when the header is complete */
    uint64_t first_ticks;
    uint64_t first_mono_ns;
    _Atomic int64_t wall_offset_ns;
    uint64_t names_offset; /* uint32_t[names_max] offsets into the texts, then the texts */
    uint32_t names_max;
    uint32_t names_bytes;
    _Atomic uint32_t names_count;
    uint32_t lanes_max;
    uint64_t lanes_offset;
    uint64_t lane_stride;
    _Atomic uint32_t lanes_used;
    uint32_t start_frame_bytes;
    _Atomic uint64_t journal_end; /* bytes of the journal that the tails account for */
    uint64_t cells_offset;        /* metric families; 0: none */
    uint64_t cells_bytes;
    _Atomic uint64_t signal_lost;
    _Atomic uint32_t journal_part;    /* 0 or 1: journal_path itself, n: its .pn part */
    _Atomic uint32_t journal_stopped; /* 1: the journal's byte limit was reached */
    char journal_path[SONDE__JOURNAL_PATH_MAX];
    uint8_t start_frame[SONDE__START_FRAME_MAX];
} sonde__segment_header;
_Static_assert(sizeof(sonde__segment_header) <= SONDE__SEGMENT_HEADER_BYTES, "segment format");

/* This process's own segment, mapped. */
typedef struct sonde__segment {
    uint8_t *base;
    uint64_t size;
    bool shared;                        /* a file in /dev/shm; else private memory */
    sonde_status reason;                /* why it is private */
    char path[SONDE__SHM_DIR_MAX + 40]; /* "" when private */
} sonde__segment;

static inline sonde__segment_header *sonde__segment_header_of(const sonde__segment *segment)
{
    return (sonde__segment_header *)(void *)segment->base;
}

/* A name as it lies in the texts: this, then len bytes. */
typedef struct sonde__segment_name {
    uint16_t len;
    char text[];
} sonde__segment_name;

/* Makes the segment of run for uid: at most bytes_max, at most half of what is free. Falls back to
   private memory (shared false: at once, EOFF), and says why in reason; fails with ENOMEM only. The
   header's areas, run, pid, uid and boot id are filled in; ready is 0. */
sonde_status sonde__segment_create(sonde__segment *segment, uint64_t run, uint64_t bytes_max,
                                   bool shared);

/* Backs lane index with memory and fills its header. False when there is no room (any more). */
bool sonde__segment_add_lane(sonde__segment *segment, uint32_t index);

static inline sonde__lane_header *sonde__segment_lane(const sonde__segment *segment, uint32_t index)
{
    const sonde__segment_header *header = sonde__segment_header_of(segment);
    return (sonde__lane_header *)(void *)(segment->base + header->lanes_offset +
                                          (uint64_t)index * header->lane_stride);
}

/* Removes the file, if there is one; the mapping stays. */
void sonde__segment_unlink(sonde__segment *segment);
void sonde__segment_unmap(sonde__segment *segment);

/* /dev/shm, or $SONDE_SHM_DIR (tests). */
const char *sonde__segment_dir(void);

/* Reads the boot id; all zero where there is none. */
void sonde__boot_id(uint8_t out[16]);

/* A file beyond RLIMIT_FSIZE would bring SIGXFSZ upon the host: to be asked before one is made. */
bool sonde__file_size_allowed(uint64_t size);

#endif
