/* SPDX-License-Identifier: Apache-2.0 */
/* The index: which frames there are of which run and lane. Duplicates (an interrupted recovery, a
   live segment beside its journal) and gaps are found by the numbers when frames are loaded. */
#include "base/errno_status.h"
#include "base/varint.h"
#include "record/reader_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sonde__grow(void **array, size_t *cap, size_t count, size_t size)
{
    if (count < *cap)
        return true;
    size_t wanted = *cap ? *cap * 2 : 16;
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *cap = wanted;
    return true;
}

static sonde__run_info *find_run(sonde_reader *reader, const sonde__frame_header *header)
{
    for (size_t i = 0; i < reader->run_count; i++)
        if (reader->runs[i]->run.run == header->run)
            return reader->runs[i];
    void *runs = reader->runs;
    if (!sonde__grow(&runs, &reader->run_cap, reader->run_count, sizeof(void *)))
        return NULL;
    reader->runs = runs;
    sonde__run_info *info = calloc(1, sizeof *info);
    if (!info)
        return NULL;
    info->run.run = header->run;
    info->run.session = header->session;
    info->run.state = SONDE_RUN_LOST;
    info->run.status = SONDE_RUNNING;
    reader->runs[reader->run_count++] = info;
    return info;
}

static sonde__stream *find_stream(sonde_reader *reader, sonde__run_info *run, uint16_t lane)
{
    for (size_t i = 0; i < reader->stream_count; i++)
        if (reader->streams[i]->run == run && reader->streams[i]->lane == lane)
            return reader->streams[i];
    void *streams = reader->streams;
    if (!sonde__grow(&streams, &reader->stream_cap, reader->stream_count, sizeof(void *)))
        return NULL;
    reader->streams = streams;
    sonde__stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->run = run;
    stream->lane = lane;
    stream->control = lane == SONDE__FRAME_NO_LANE;
    stream->in_order = true;
    reader->streams[reader->stream_count++] = stream;
    return stream;
}

static void add_ref(sonde_reader *reader, sonde__stream *stream, sonde__frame_ref ref)
{
    void *frames = stream->frames;
    if (!sonde__grow(&frames, &stream->cap, stream->count, sizeof ref)) {
        reader->failed_memory = true;
        return;
    }
    stream->frames = frames;
    if (stream->count > 0 && stream->frames[stream->count - 1].first_seq > ref.first_seq)
        stream->in_order = false;
    stream->frames[stream->count++] = ref;
}

typedef struct visit {
    sonde_reader *reader;
    uint32_t source;
} visit;

/* Control frames are few: they are decoded at once, for what they tell about the run. */
static void read_control(sonde_reader *reader, sonde__run_info *run, const uint8_t *frame,
                         bool *keep)
{
    sonde__decoder decoder = {0};
    sonde__entry entry;
    *keep = true;
    if (sonde__decoder_start(&decoder, frame) == SONDE_OK) {
        while (sonde__decoder_next(&decoder, &entry)) {
            if (entry.kind == SONDE__KIND_OPEN) {
                sonde__open_ids_add(&reader->open_ids, sonde__entry_id(&decoder, &entry));
                continue;
            }
            bool begin = entry.kind == SONDE__KIND_RUN_BEGIN;
            bool *seen = begin ? &run->begun : &run->ended;
            *keep = !*seen; /* every part of a journal begins with the same RUN_BEGIN */
            if (*keep)
                sonde__run_info_read(run, &decoder, &entry);
            *seen = true;
        }
    }
    sonde__decoder_free(&decoder);
}

/* Lanes, and which of their numbers went with parts that are not there any more. */
static void read_dropped(sonde_reader *reader, const sonde__frame_header *header,
                         const uint8_t *frame)
{
    const uint8_t *at = frame + sizeof *header;
    const uint8_t *end = frame + header->length;
    sonde__run_info *run = find_run(reader, header);
    uint64_t lane;
    uint64_t first;
    for (uint32_t i = 0; run && i < header->records; i++) {
        if (!sonde__varint_get(&at, end, &lane) || !sonde__varint_get(&at, end, &first) ||
            lane > SONDE__LANES_LIMIT)
            return;
        sonde__stream *stream = find_stream(reader, run, (uint16_t)lane);
        if (stream && first > stream->dropped)
            stream->dropped = first;
        reader->failed_memory |= !stream;
    }
}

static void index_frame(void *user, const sonde__frame_header *header, const uint8_t *frame,
                        uint64_t offset)
{
    visit *v = user;
    sonde_reader *reader = v->reader;
    if (!reader->session_known) {
        reader->session = header->session;
        reader->session_known = true;
    }
    if (header->session != reader->session)
        return;
    if (header->type == SONDE__FRAME_METRICS)
        return; /* not records */
    if (header->version == SONDE__FRAME_VERSION && header->type == SONDE__FRAME_DROPPED) {
        read_dropped(reader, header, frame);
        return;
    }
    bool machine = header->type == SONDE__FRAME_MACHINE;
    if (header->version != SONDE__FRAME_VERSION ||
        (header->type != SONDE__FRAME_RECORDS && !machine)) {
        reader->stats.refused++;
        return;
    }
    if (header->plain_bytes > 0 && !sonde__zstd_here())
        reader->stats.compressed++;
    bool control = header->count == 0;
    sonde__run_info *run = find_run(reader, header);
    if (run && machine) {
        sonde__run_info_machine(run, (const char *)frame + sizeof *header,
                                header->length - sizeof *header);
        return;
    }
    sonde__stream *stream =
        run ? find_stream(reader, run, control ? SONDE__FRAME_NO_LANE : header->lane) : NULL;
    if (!stream) {
        reader->failed_memory = true;
        return;
    }
    sonde__frame_ref ref = {
        .offset = offset,
        .first_seq = control ? 0 : header->first_seq,
        .count = header->count,
        .length = header->length,
        .source = v->source,
    };
    bool keep = true;
    if (control) {
        read_control(reader, run, frame, &keep);
        bool open_tasks = header->lane != SONDE__FRAME_NO_LANE;
        ref.key = open_tasks ? UINT64_MAX : header->min_mono_ns + (uint64_t)header->wall_offset_ns;
        if (!open_tasks && run->ended) /* RUN_END: open tasks are shown right before it */
            for (size_t i = 0; i < stream->count; i++)
                if (stream->frames[i].key == UINT64_MAX)
                    stream->frames[i].key = ref.key;
    }
    if (keep)
        add_ref(reader, stream, ref);
    reader->stats.frames++;
}

/* A reader also works inside the host, for the files of its session: a descriptor that the host has
   closed, and whose number it may use again, is neither read nor closed. */
static bool is_ours(const sonde__source *source)
{
    struct stat st;
    return fstat(source->scan.fd, &st) == 0 && st.st_dev == source->dev && st.st_ino == source->ino;
}

bool sonde__source_keep_open(sonde__source *source)
{
    if (source->scan.fd < 0 || is_ours(source))
        return true;
    int lost = source->scan.fd;
    source->scan.fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (source->scan.fd >= 0 && is_ours(source))
        return true;
    if (source->scan.fd >= 0)
        close(source->scan.fd);
    source->scan.fd = lost;
    return false;
}

static void free_source(sonde__source *source)
{
    if (source->scan.fd >= 0 && is_ours(source))
        close(source->scan.fd);
    sonde__buf_free(&source->memory);
    free(source->path);
    free(source);
}

/* The source is the reader's from here on, also when this fails. */
static sonde_status add_source(sonde_reader *reader, sonde__source *source)
{
    void *sources = reader->sources;
    if (!sonde__grow(&sources, &reader->source_cap, reader->source_count, sizeof(void *))) {
        free_source(source);
        return SONDE_ENOMEM;
    }
    reader->sources = sources;
    reader->sources[reader->source_count++] = source;
    visit v = {reader, (uint32_t)(reader->source_count - 1)};
    sonde_status status = sonde__frame_scan(&source->scan, index_frame, &v);
    return reader->failed_memory ? SONDE_ENOMEM : status;
}

bool sonde__reader_has_file(const sonde_reader *reader, const char *path)
{
    for (size_t i = 0; i < reader->source_count; i++)
        if (reader->sources[i]->path && strcmp(reader->sources[i]->path, path) == 0)
            return true;
    return false;
}

sonde_status sonde__reader_add_file(sonde_reader *reader, const char *path)
{
    sonde__source *source = calloc(1, sizeof *source);
    if (!source)
        return SONDE_ENOMEM;
    struct stat st;
    source->scan.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (source->scan.fd < 0) {
        sonde_status status = sonde__status_of_errno(errno);
        free(source);
        return status;
    }
    source->path = strdup(path);
    bool known = fstat(source->scan.fd, &st) == 0;
    source->dev = known ? st.st_dev : 0;
    source->ino = known ? st.st_ino : 0;
    if (!source->path || !known || !S_ISREG(st.st_mode)) {
        sonde_status status = source->path ? SONDE_EBADDATA : SONDE_ENOMEM;
        free_source(source);
        return status;
    }
    sonde_status status = add_source(reader, source);
    if (status == SONDE_OK)
        reader->stats.files++;
    return status;
}

sonde_status sonde__reader_add_memory(sonde_reader *reader, sonde__buf *memory)
{
    sonde__source *source = calloc(1, sizeof *source);
    if (!source)
        return SONDE_ENOMEM;
    source->memory = *memory;
    source->scan =
        (sonde__journal_scan){.fd = -1, .data = (const uint8_t *)memory->data, .size = memory->len};
    sonde__buf_init(memory, 0);
    return add_source(reader, source);
}

/* A part that was removed while it was read, and of which nothing is left to show, is closed: who
   follows a session for long must not collect them. */
static void close_removed(const sonde_reader *reader, uint32_t index)
{
    sonde__source *source = reader->sources[index];
    struct stat st;
    if (fstat(source->scan.fd, &st) != 0 || st.st_nlink > 0)
        return;
    for (size_t i = 0; i < reader->stream_count; i++) {
        const sonde__stream *stream = reader->streams[i];
        for (size_t n = stream->next; n < stream->count; n++)
            if (stream->frames[n].source == index)
                return;
    }
    close(source->scan.fd);
    source->scan.fd = -1;
    source->scan.size = 0; /* without a file it is scanned as memory, of which there is none */
}

bool sonde__reader_rescan(sonde_reader *reader)
{
    uint64_t before = reader->stats.frames;
    for (uint32_t i = 0; i < reader->source_count; i++) {
        visit v = {reader, i};
        if (reader->sources[i]->scan.fd < 0 || !sonde__source_keep_open(reader->sources[i]))
            continue;
        sonde__frame_scan(&reader->sources[i]->scan, index_frame, &v);
        close_removed(reader, i);
    }
    return reader->stats.frames != before;
}

static int by_seq(const void *a, const void *b)
{
    const sonde__frame_ref *x = a;
    const sonde__frame_ref *y = b;
    if (x->first_seq != y->first_seq)
        return x->first_seq < y->first_seq ? -1 : 1;
    return x->count > y->count ? -1 : x->count < y->count; /* the longest first: fewest pieces */
}

/* Reads a frame's bytes and checks them again: the file may have changed. */
static bool load_bytes(sonde_reader *reader, sonde__stream *stream, const sonde__frame_ref *ref)
{
    if (ref->length > stream->bytes_cap) {
        uint8_t *grown = realloc(stream->bytes, ref->length);
        if (!grown)
            return false;
        stream->bytes = grown;
        stream->bytes_cap = ref->length;
    }
    const sonde__journal_scan *scan = &reader->sources[ref->source]->scan;
    if (!sonde__source_keep_open(reader->sources[ref->source]))
        return false;
    if (scan->fd < 0)
        memcpy(stream->bytes, scan->data + ref->offset, ref->length);
    else if (pread(scan->fd, stream->bytes, ref->length, (off_t)ref->offset) !=
             (ssize_t)ref->length)
        return false;
    size_t length;
    return sonde__frame_check(stream->bytes, ref->length, &length) == SONDE_OK &&
           sonde__decoder_start(&stream->decoder, stream->bytes) == SONDE_OK;
}

/* Numbers from the expected one up to first are not there: removed, and told as such, or missing.
 */
static void note_gap(sonde_reader *reader, sonde__stream *stream, uint64_t first)
{
    uint64_t removed = stream->dropped < first ? stream->dropped : first;
    stream->gap = removed > stream->expected ? removed - stream->expected : 0;
    reader->stats.missing += first - stream->expected - stream->gap;
}

/* Loads the next frame that holds anything new; counts what is missing or there twice. */
static bool load_frame(sonde_reader *reader, sonde__stream *stream)
{
    if (!stream->in_order && !stream->control) {
        qsort(stream->frames + stream->next, stream->count - stream->next, sizeof *stream->frames,
              by_seq);
        stream->in_order = true;
    }
    while (stream->next < stream->count) {
        const sonde__frame_ref *ref = &stream->frames[stream->next++];
        uint64_t end = ref->first_seq + ref->count;
        if (!stream->control && end <= stream->expected) {
            reader->stats.duplicates += ref->count;
            continue;
        }
        if (!load_bytes(reader, stream, ref)) {
            if (!stream->control) { /* the file has changed, or there is no memory for it */
                reader->stats.missing += end - stream->expected;
                stream->expected = end;
            }
            continue;
        }
        if (!stream->control && ref->first_seq > stream->expected)
            note_gap(reader, stream, ref->first_seq);
        if (!stream->control && ref->first_seq < stream->expected)
            reader->stats.duplicates += stream->expected - ref->first_seq;
        stream->key = stream->control ? ref->key : stream->key;
        return true;
    }
    return false;
}

/* What was removed with parts of the journal, as the LOSS record that stands for it. */
static void load_gap(sonde__stream *stream)
{
    stream->entry = (sonde__entry){
        .kind = SONDE__KIND_LOSS,
        .seq = stream->expected,
        .count = stream->gap,
        .parent = SONDE_LOSS_LIMIT,
    };
    stream->expected += stream->gap;
    stream->gap = 0;
    if (stream->key < stream->run->run.started_wall_ns)
        stream->key = stream->run->run.started_wall_ns;
    stream->loaded = true;
}

bool sonde__stream_advance(sonde_reader *reader, sonde__stream *stream)
{
    stream->loaded = false;
    for (;;) {
        sonde__entry *entry = &stream->entry;
        if (stream->gap > 0) {
            load_gap(stream);
            return true;
        }
        if (!sonde__decoder_next(&stream->decoder, entry)) {
            if (load_frame(reader, stream))
                continue;
            if (stream->control || stream->dropped <= stream->expected)
                return false;
            note_gap(reader, stream, stream->dropped); /* nothing came after what was removed */
            continue;
        }
        if (!stream->control) {
            if (entry->seq + entry->count <= stream->expected)
                continue;
            stream->expected = entry->seq + entry->count;
            if (entry->kind != SONDE__KIND_LOSS)
                stream->key = entry->end + (uint64_t)stream->decoder.header.wall_offset_ns;
        }
        stream->loaded = true;
        return true;
    }
}

static bool find_entry(sonde_reader *reader, const sonde__frame_ref *ref, uint64_t seq)
{
    sonde__stream *place = &reader->revisited;
    if (seq < ref->first_seq || seq - ref->first_seq >= ref->count ||
        !load_bytes(reader, place, ref))
        return false;
    while (sonde__decoder_next(&place->decoder, &place->entry))
        if (place->entry.seq == seq)
            return true;
    return false;
}

const sonde__stream *sonde__reader_revisit(sonde_reader *reader, uint64_t run, uint16_t lane,
                                           uint64_t seq)
{
    for (size_t i = 0; i < reader->stream_count; i++) {
        const sonde__stream *stream = reader->streams[i];
        if (stream->control || stream->lane != lane || stream->run->run.run != run)
            continue;
        for (size_t frame = stream->next; frame > 0; frame--)
            if (find_entry(reader, &stream->frames[frame - 1], seq))
                return &reader->revisited;
    }
    return NULL;
}

void sonde__reader_free_index(sonde_reader *reader)
{
    sonde__decoder_free(&reader->revisited.decoder);
    free(reader->revisited.bytes);
    for (size_t i = 0; i < reader->stream_count; i++) {
        sonde__decoder_free(&reader->streams[i]->decoder);
        free(reader->streams[i]->frames);
        free(reader->streams[i]->bytes);
        free(reader->streams[i]);
    }
    for (size_t i = 0; i < reader->run_count; i++) {
        sonde__run_info_free(reader->runs[i]);
        free(reader->runs[i]);
    }
    for (size_t i = 0; i < reader->source_count; i++)
        free_source(reader->sources[i]);
    free(reader->streams);
    free(reader->runs);
    free(reader->sources);
    free(reader->open_ids.ids);
}
