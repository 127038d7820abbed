/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics frames hold the series that changed; the last ones before a moment are the values at it.
   They are few beside records, and are looked for when somebody asks. */
#include "record/reader_metrics.h"

#include "record/metric_fill.h"
#include "record/metric_frame.h"
#include "record/reader_impl.h"

#include <stdlib.h>
#include <string.h>

/* The series seen so far, by identity; a later value replaces an earlier one. */
typedef struct latest {
    sonde_metric_set *one; /* a copy of one series, to keep its memory */
    struct latest *next;
} latest;

enum {
    BUCKETS = 1024,
    SAME_TIME_NS = 1000000, /* values of one interval may take several frames */
};

typedef struct search {
    const sonde_reader *reader;
    uint64_t run;
    uint64_t until;
    uint64_t newest;
    latest *bucket[BUCKETS];
    latest **order;
    size_t count, cap;
    bool failed;
    sonde_metric_set *set; /* filled for visit */
    sonde__metrics_visit *visit;
    void *user;
} search;

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ 0xff) * 0x100000001b3u;
}

static uint64_t hash_metric(const sonde_metric *metric)
{
    uint64_t hash = hash_text(0xcbf29ce484222325u, metric->name);
    for (size_t i = 0; i < metric->label_count; i++)
        hash = hash_text(hash_text(hash, metric->labels[i].key), metric->labels[i].value);
    return hash;
}

static bool same(const sonde_metric *a, const sonde_metric *b)
{
    bool equal = a->kind == b->kind && a->overflow == b->overflow &&
                 a->label_count == b->label_count && strcmp(a->name, b->name) == 0;
    for (size_t i = 0; equal && i < a->label_count; i++)
        equal = strcmp(a->labels[i].key, b->labels[i].key) == 0 &&
                strcmp(a->labels[i].value, b->labels[i].value) == 0;
    return equal;
}

static latest *find(search *in, const sonde_metric *metric)
{
    latest **at = &in->bucket[hash_metric(metric) % BUCKETS];
    for (; *at; at = &(*at)->next)
        if (same(sonde_metric_set_at((*at)->one, 0), metric))
            return *at;
    latest *made = calloc(1, sizeof *made);
    void *order = in->order;
    if (made && (made->one = sonde_metric_set_create()) &&
        sonde__grow(&order, &in->cap, in->count, sizeof(void *))) {
        in->order = order;
        in->order[in->count++] = made;
        *at = made;
        return made;
    }
    if (made)
        sonde_metric_set_destroy(made->one);
    free(made);
    return NULL;
}

static void see_metric(void *user, uint64_t wall_ns, const sonde_metric *metric)
{
    search *in = user;
    latest *entry = in->failed ? NULL : find(in, metric);
    if (!entry) {
        in->failed = true;
        return;
    }
    sonde__metric_set_begin(entry->one);
    sonde__metric_set_put(entry->one, metric);
    in->failed = sonde__metric_set_end(entry->one) != SONDE_OK;
    in->newest = wall_ns > in->newest ? wall_ns : in->newest;
}

static void fill_set(search *in)
{
    sonde__metric_set_begin(in->set);
    for (size_t i = 0; i < in->count && !in->failed; i++)
        in->failed = !sonde__metric_set_put(in->set, sonde_metric_set_at(in->order[i]->one, 0));
    if (sonde__metric_set_end(in->set) != SONDE_OK)
        in->failed = true;
}

static void see_frame(void *user, const sonde__frame_header *header, const uint8_t *frame,
                      uint64_t offset)
{
    (void)offset;
    search *in = user;
    uint64_t wall_ns = header->min_mono_ns + (uint64_t)header->wall_offset_ns;
    if (header->type != SONDE__FRAME_METRICS || header->run != in->run ||
        header->session != in->reader->session || (in->until && wall_ns > in->until))
        return;
    if (in->visit && in->newest && wall_ns > in->newest + SAME_TIME_NS) {
        fill_set(in);
        in->visit(in->user, in->newest, in->set);
    }
    sonde__metric_frame_read(frame, see_metric, in); /* a damaged one is passed over */
}

static void free_search(search *in)
{
    for (size_t i = 0; i < in->count; i++) {
        sonde_metric_set_destroy(in->order[i]->one);
        free(in->order[i]);
    }
    free(in->order);
    free(in);
}

static sonde_status look_for(search *in, sonde_reader *reader)
{
    sonde_status status = SONDE_OK;
    for (size_t i = 0; status == SONDE_OK && i < reader->source_count; i++) {
        if (!sonde__source_keep_open(reader->sources[i]))
            continue;
        sonde__journal_scan scan = reader->sources[i]->scan;
        scan.next = scan.valid = scan.frames = 0;
        status = sonde__frame_scan(&scan, see_frame, in);
    }
    fill_set(in);
    return in->failed ? SONDE_ENOMEM : status;
}

sonde_status sonde_reader_metrics(sonde_reader *reader, uint64_t run, uint64_t wall_ns,
                                  sonde_metric_set *set, uint64_t *at)
{
    search *in = calloc(1, sizeof *in);
    if (!in)
        return SONDE_ENOMEM;
    in->reader = reader;
    in->run = run;
    in->until = wall_ns;
    in->set = set;
    sonde_status status = look_for(in, reader);
    if (at)
        *at = in->newest;
    free_search(in);
    return status;
}

sonde_status sonde__reader_metrics_each(sonde_reader *reader, uint64_t run, sonde_metric_set *set,
                                        sonde__metrics_visit *visit, void *user)
{
    search *in = calloc(1, sizeof *in);
    if (!in)
        return SONDE_ENOMEM;
    in->reader = reader;
    in->run = run;
    in->set = set;
    in->visit = visit;
    in->user = user;
    sonde_status status = look_for(in, reader);
    if (status == SONDE_OK && in->newest)
        visit(user, in->newest, set);
    free_search(in);
    return status;
}
