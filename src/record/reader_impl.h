/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a reader: sources (files, and segments turned into frames in memory), an index of
   their frames by run and lane, and the builder of records. */
#ifndef SONDE_RECORD_READER_IMPL_H
#define SONDE_RECORD_READER_IMPL_H

#include "base/buf.h"
#include "record/decode.h"
#include "record/frame_scan.h"
#include "record/readings.h"
#include "sonde/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where frames come from. */
typedef struct sonde__source {
    char *path; /* NULL: memory */
    dev_t dev;  /* of the descriptor: a host may close it and reuse its number */
    ino_t ino;
    sonde__journal_scan scan;
    sonde__buf memory;
} sonde__source;

typedef struct sonde__frame_ref {
    uint64_t offset;
    uint64_t first_seq;
    uint64_t key; /* control frames: wall time to show them at */
    uint32_t count;
    uint32_t length;
    uint32_t source;
} sonde__frame_ref;

typedef struct sonde__run_info {
    sonde_run run;
    bool begun; /* its RUN_BEGIN was seen */
    bool ended;
    uint64_t signal_lost;
    char **texts; /* all copies, to be freed */
    size_t text_count;
    sonde_attr *attrs;
    size_t attr_cap;
} sonde__run_info;

/* The frames of one lane of one run, or its control frames. */
typedef struct sonde__stream {
    sonde__run_info *run;
    uint16_t lane;
    bool control;
    bool in_order;
    sonde__frame_ref *frames;
    size_t count;
    size_t cap;
    size_t next;       /* frame to load */
    uint64_t expected; /* number of the next record */
    uint64_t dropped;  /* numbers below this were removed with parts of the journal */
    uint64_t gap;      /* of those, how many are to be told now */
    sonde__decoder decoder;
    uint8_t *bytes; /* the loaded frame */
    size_t bytes_cap;
    sonde__entry entry; /* the next record, when loaded */
    bool loaded;
    uint64_t key; /* its time */
} sonde__stream;

/* Attributes that came before their task ended, copied. */
typedef struct sonde__held {
    struct sonde__held *next;
    uint64_t id;
    size_t count;
    sonde__decoded_attr *attrs;
    char *text;
} sonde__held;

enum { SONDE__HELD_BUCKETS = 1024 };

/* Collects what a record has; arrays are reused from record to record. */
typedef struct sonde__builder {
    sonde_attr *attrs;
    size_t attr_count, attr_cap;
    sonde_attr *tags;
    size_t tag_count, tag_cap;
    sonde_event *events;
    size_t event_count, event_cap;
    sonde_context *links;
    size_t link_count, link_cap;
    sonde__held *held[SONDE__HELD_BUCKETS];
    size_t held_count;
    sonde__held *used; /* belong to the record that was given out */
    sonde__readings readings;
} sonde__builder;

/* Ids of tasks that some frame lists as open; ended when a record of their end was seen. */
typedef struct sonde__open_ids {
    struct {
        uint64_t id;
        bool ended;
    } * ids;
    size_t count;
    size_t cap;
    bool sorted;
} sonde__open_ids;

struct sonde_reader {
    char *path;
    char *stem; /* path without .sonde */
    uint64_t session;
    bool session_known;
    sonde_reader_options options;
    sonde__source **sources;
    size_t source_count, source_cap;
    sonde__run_info **runs;
    size_t run_count, run_cap;
    sonde__stream **streams;
    size_t stream_count, stream_cap;
    size_t heap_count; /* the first streams are a heap by key */
    sonde__open_ids open_ids;
    sonde__builder builder;
    sonde__stream revisited; /* a place to decode a frame that was passed */
    sonde_reader_stats stats;
    bool failed_memory;
};

/* Adds a source and indexes its frames; of several sessions only the reader's count. */
sonde_status sonde__reader_add_file(sonde_reader *reader, const char *path);
sonde_status sonde__reader_add_memory(sonde_reader *reader, sonde__buf *memory);
bool sonde__reader_has_file(const sonde_reader *reader, const char *path);

/* Opens the file anew where the descriptor was lost. False: it is not there any more. */
bool sonde__source_keep_open(sonde__source *source);

/* Looks for frames that were appended. True: there were some. */
bool sonde__reader_rescan(sonde_reader *reader);

/* Loads the next record of a stream. False: it has no more. */
bool sonde__stream_advance(sonde_reader *reader, sonde__stream *stream);

/* Record seq of a lane once more, wherever it stands: entry and decoder of the result are good
   until the next call. NULL: it is not there. */
const sonde__stream *sonde__reader_revisit(sonde_reader *reader, uint64_t run, uint16_t lane,
                                           uint64_t seq);

void sonde__reader_free_index(sonde_reader *reader);

/* Takes the attributes of RUN_BEGIN and RUN_END. */
void sonde__run_info_read(sonde__run_info *info, const sonde__decoder *decoder,
                          const sonde__entry *entry);
/* Takes the description of the machine: the body of its frame. */
void sonde__run_info_machine(sonde__run_info *info, const char *text, size_t len);
void sonde__run_info_free(sonde__run_info *info);

/* Makes a record of an entry. False: it was kept for later (attributes of an open task). */
bool sonde__builder_make(sonde_reader *reader, const sonde__stream *stream, sonde_record *out);

/* Attributes that belong to no record that is still to come. False: there are none. */
bool sonde__builder_leftover(sonde_reader *reader, sonde_record *out);
void sonde__builder_free(sonde__builder *builder);

/* The span id an entry is about. */
uint64_t sonde__entry_id(const sonde__decoder *decoder, const sonde__entry *entry);

void sonde__open_ids_add(sonde__open_ids *open, uint64_t id);
void sonde__open_ids_end(sonde__open_ids *open, uint64_t id);
bool sonde__open_ids_ended(sonde__open_ids *open, uint64_t id);

/* Makes room for one more element; false: no memory. */
bool sonde__grow(void **array, size_t *cap, size_t count, size_t size);

#endif
