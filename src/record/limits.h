/* SPDX-License-Identifier: Apache-2.0 */
/* Every limit of the recorder, with its cost in bytes. Those marked (format) are part of the
   segment's or the journal's layout. */
#ifndef SONDE_RECORD_LIMITS_H
#define SONDE_RECORD_LIMITS_H

enum {
    /* segment */
    SONDE__SEGMENT_HEADER_BYTES = 8192,   /* (format) */
    SONDE__SEGMENT_BYTES_MAX = 32 << 20,  /* default of sonde_options.segment_bytes_max */
    SONDE__SEGMENT_BYTES_LIMIT = 1 << 30, /* a reader believes no larger one */
    SONDE__JOURNAL_PATH_MAX = 1024,       /* (format) with its NUL */
    SONDE__SHM_DIR_MAX = 80,              /* of $SONDE_SHM_DIR, with its NUL */
    SONDE__START_FRAME_MAX = 6144,        /* (format) the first frame, kept in the header */
    SONDE__NAMES_MAX = 8192,              /* (format) 32 KiB of offsets */
    SONDE__NAMES_BYTES = 256 << 10,       /* (format) texts of all names */
    SONDE__NAME_LEN_MAX = 255,            /* bytes; longer names are cut */
    SONDE__LANES_LIMIT = 1023,            /* lanes fit into 10 bits of a handle */
    /* lane: 64 KiB of slots and 256 KiB of ring */
    SONDE__LANE_HEADER_BYTES = 256,     /* (format) */
    SONDE__RING_BYTES = 256 << 10,      /* a power of two */
    SONDE__SLOTS = 128,                 /* open tasks of one thread; 7 bits of a handle */
    SONDE__SLOT_BYTES = 512,            /* (format) */
    SONDE__SLOT_ATTR_BYTES = 448,       /* (format) */
    SONDE__RECORD_BYTES_MAX = 32 << 10, /* (format) largest record in a ring */
    SONDE__SHARED_TRIES = 1000,         /* looks of a signal handler at the shared lane */
    SONDE__FULL_SPINS = 100,            /* looks at a full ring before going to sleep */
    SONDE__EMPTY_SPINS = 1000,          /* looks at empty rings after a pass that moved something */
    /* journal */
    SONDE__FRAME_RECORDS_BYTES = 64 << 10, /* a frame is closed when its records pass this */
    SONDE__FRAME_RING_BYTES = 32 << 10,    /* or this much of a ring, which is free afterwards */
    SONDE__FRAME_BYTES_MAX = 1 << 20,      /* (format) a reader believes no longer one */
    SONDE__PART_BYTES_MIN = 64 << 10,      /* least sonde_options.part_bytes */
    SONDE__BYTES_MAX_MIN = 1 << 20,        /* least sonde_options.bytes_max */
    SONDE__PARTS_KEPT = 8,                 /* parts in bytes_max, when part_bytes does not say */
    SONDE__ATTRS_MAX = 4096,               /* attributes of one record that a reader keeps */
    SONDE__PENDING_TASKS_MAX = 65536,      /* tasks with early attributes a reader holds */
};

/* nanoseconds */
#define SONDE__CLAIM_WAIT_NS  50000000u   /* a thread's first record, for who claims or opens */
#define SONDE__CLOSE_WAIT_NS  50000000u   /* threads inside a call at close */
#define SONDE__RETRY_NS       100000000u  /* after a failed write of the journal */
#define SONDE__EXIT_WAIT_NS   100000000u  /* for the last pass at exit of the process */
#define SONDE__CLOSE_DRAIN_NS 2000000000u /* for the last pass at close, when writing fails */

#endif
