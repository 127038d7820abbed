/* SPDX-License-Identifier: Apache-2.0 */
/* Series are known again by their texts, compared as one piece of memory: when a process is read
   again and has no new series, the order of families and everything made of labels stays. */
#include "view/view_model.h"

#include "base/clock.h"
#include "record/metric_fill.h"

#include <stdlib.h>
#include <string.h>

enum { IDENTITY_MAX = 64 << 20 };

sonde_view *sonde_view_create(void)
{
    sonde_view *view = calloc(1, sizeof *view);
    if (!view)
        return NULL;
    sonde__buf_init(&view->out, SONDE__ENCODED_MAX);
    for (int i = 0; i < SONDE__RENDERINGS; i++)
        sonde__buf_init(&view->rendered[i].bytes, SONDE__ENCODED_MAX);
    return view;
}

void sonde_view_destroy(sonde_view *view)
{
    if (!view)
        return;
    for (size_t i = 0; i < view->source_cap; i++) {
        sonde__buf_free(&view->sources[i].identity);
        sonde__buf_free(&view->sources[i].labels);
    }
    for (int i = 0; i < SONDE__RENDERINGS; i++) {
        sonde__buf_free(&view->rendered[i].bytes);
        free(view->rendered[i].end);
    }
    free(view->sources);
    free(view->families);
    free(view->series);
    free(view->exemplars);
    sonde__buf_free(&view->out);
    free(view);
}

void sonde_view_begin(sonde_view *view, uint64_t wall_ns)
{
    view->source_count = 0;
    view->has_snapshot = false;
    view->wall_ns = wall_ns ? wall_ns : sonde__clock_wall_ns();
}

void sonde_view_snapshot(sonde_view *view, const sonde_snapshot *snapshot)
{
    view->snapshot = *snapshot;
    view->has_snapshot = true;
}

size_t sonde_view_skipped(const sonde_view *view)
{
    return view->skipped;
}

const char *sonde__metric_label(const sonde_metric *metric, const char *key)
{
    for (size_t i = 0; i < metric->label_count; i++)
        if (strcmp(metric->labels[i].key, key) == 0)
            return metric->labels[i].value;
    return NULL;
}

/* Room for one more source. */
static sonde__view_known *next_source(sonde_view *view)
{
    if (view->source_count == view->source_cap) {
        size_t cap = view->source_cap ? view->source_cap * 2 : 4;
        sonde__view_known *larger = realloc(view->sources, cap * sizeof *larger);
        if (!larger)
            return NULL;
        memset(larger + view->source_cap, 0, (cap - view->source_cap) * sizeof *larger);
        for (size_t i = view->source_cap; i < cap; i++) {
            sonde__buf_init(&larger[i].identity, IDENTITY_MAX);
            sonde__buf_init(&larger[i].labels, IDENTITY_MAX);
        }
        view->sources = larger;
        view->source_cap = cap;
    }
    return &view->sources[view->source_count];
}

static bool same_labels(const sonde__view_known *known, const sonde_view_source *source)
{
    const char *at = known->labels.data;
    size_t left = known->labels.len;
    for (size_t i = 0; i < source->label_count; i++) {
        const char *texts[2] = {source->labels[i].key, source->labels[i].value};
        for (int k = 0; k < 2; k++) {
            size_t len = strlen(texts[k]) + 1;
            if (len > left || memcmp(at, texts[k], len) != 0)
                return false;
            at += len;
            left -= len;
        }
    }
    return left == 0;
}

static bool same_series(const sonde__view_known *known, const sonde_metric_set *set)
{
    size_t count = sonde_metric_set_count(set);
    const char *at = known->identity.data;
    size_t left = known->identity.len;
    if (known->series != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const sonde_metric *metric = sonde_metric_set_at(set, i);
        size_t len = sonde__metric_identity(metric);
        if (left <= len || at[0] != (char)metric->kind || memcmp(at + 1, metric->name, len) != 0)
            return false;
        at += len + 1;
        left -= len + 1;
    }
    return left == 0;
}

static void remember(sonde__view_known *known, const sonde_view_source *source)
{
    sonde__buf_clear(&known->labels);
    for (size_t i = 0; i < source->label_count; i++) {
        sonde__buf_append(&known->labels, source->labels[i].key, strlen(source->labels[i].key) + 1);
        sonde__buf_append(&known->labels, source->labels[i].value,
                          strlen(source->labels[i].value) + 1);
    }
    sonde__buf_clear(&known->identity);
    known->series = sonde_metric_set_count(source->metrics);
    for (size_t i = 0; i < known->series; i++) {
        const sonde_metric *metric = sonde_metric_set_at(source->metrics, i);
        sonde__buf_char(&known->identity, (char)metric->kind);
        sonde__buf_append(&known->identity, metric->name, sonde__metric_identity(metric));
    }
}

sonde_status sonde_view_add(sonde_view *view, const sonde_view_source *source)
{
    if (source->size != sizeof *source || !source->metrics)
        return SONDE_EINVAL;
    sonde__view_known *known = next_source(view);
    if (!known)
        return SONDE_ENOMEM;
    if (view->source_count >= view->planned_sources || !same_labels(known, source) ||
        !same_series(known, source->metrics)) {
        remember(known, source);
        view->changed = true;
    }
    if (known->identity.status != SONDE_OK || known->labels.status != SONDE_OK) {
        known->series = 0;
        return SONDE_ENOMEM;
    }
    known->source = *source;
    view->source_count++;
    return SONDE_OK;
}

/* --- families --- */

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

/* Families by name while they are being found. */
typedef struct index_table {
    uint32_t *slot; /* family + 1 */
    size_t mask;
} index_table;

static bool room(void **array, size_t *cap, size_t count, size_t size)
{
    if (count < *cap)
        return true;
    size_t larger = *cap ? *cap * 2 : 64;
    while (larger <= count)
        larger *= 2;
    void *grown = realloc(*array, larger * size);
    if (!grown)
        return false;
    *array = grown;
    *cap = larger;
    return true;
}

/* The family's number, made when it is new; -1: no memory. */
static long family_of(sonde_view *view, index_table *table, const sonde_metric *metric)
{
    size_t at = hash_text(metric->name) & table->mask;
    for (; table->slot[at]; at = (at + 1) & table->mask)
        if (strcmp(view->families[table->slot[at] - 1].name, metric->name) == 0)
            return (long)table->slot[at] - 1;
    void *families = view->families;
    if (!room(&families, &view->family_cap, view->family_count, sizeof *view->families))
        return -1;
    view->families = families;
    view->families[view->family_count] =
        (sonde__view_family){metric->name, metric->help, metric->kind, 0, 0, 0};
    table->slot[at] = (uint32_t)++view->family_count;
    return (long)view->family_count - 1;
}

static bool is_name(const char *text, bool colon)
{
    for (const char *at = text; *at; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' ||
                      (colon && *at == ':');
        if (!letter && (at == text || *at < '0' || *at > '9'))
            return false;
    }
    return *text != '\0';
}

/* What another process's memory or a file says may be anything: a name with a line feed in it would
   write lines of its own. */
static bool is_sound(const sonde_metric *metric)
{
    bool sound = is_name(metric->name, true);
    for (size_t i = 0; sound && i < metric->label_count; i++) {
        sound = is_name(metric->labels[i].key, false);
        for (size_t k = 0; sound && k < i; k++)
            sound = strcmp(metric->labels[i].key, metric->labels[k].key) != 0;
    }
    return sound;
}

/* Calls visit for each series that belongs to a family of its kind. False: no memory. */
static bool each_series(sonde_view *view, index_table *table,
                        void (*visit)(sonde_view *view, sonde__view_family *family, uint32_t source,
                                      uint32_t index))
{
    view->skipped = 0;
    for (size_t s = 0; s < view->source_count; s++) {
        const sonde_metric_set *set = view->sources[s].source.metrics;
        for (size_t i = 0; i < view->sources[s].series; i++) {
            const sonde_metric *metric = sonde_metric_set_at(set, i);
            if (!is_sound(metric)) {
                view->skipped++;
                continue;
            }
            long found = family_of(view, table, metric);
            if (found < 0)
                return false;
            sonde__view_family *family = &view->families[found];
            if (family->kind == metric->kind)
                visit(view, family, (uint32_t)s, (uint32_t)i);
            else
                view->skipped++;
        }
    }
    return true;
}

static void count_it(sonde_view *view, sonde__view_family *family, uint32_t source, uint32_t index)
{
    (void)source;
    (void)index;
    family->count++;
    view->series_count++;
}

static void place_it(sonde_view *view, sonde__view_family *family, uint32_t source, uint32_t index)
{
    view->series[family->first + family->count++] = (sonde__view_series){NULL, source, index};
}

static bool work_out(sonde_view *view)
{
    size_t total = 0;
    for (size_t s = 0; s < view->source_count; s++)
        total += view->sources[s].series;
    index_table table = {NULL, 64};
    while (table.mask < 2 * total)
        table.mask *= 2;
    table.slot = calloc(table.mask--, sizeof *table.slot);
    view->family_count = view->series_count = 0;
    void *series = view->series;
    bool good = table.slot && each_series(view, &table, count_it) &&
                room(&series, &view->series_cap, view->series_count, sizeof *view->series);
    if (good) {
        view->series = series;
        uint32_t first = 0;
        for (size_t f = 0; f < view->family_count; f++) {
            view->families[f].first = first;
            first += view->families[f].count;
            view->families[f].count = 0;
        }
        good = each_series(view, &table, place_it);
    }
    free(table.slot);
    return good;
}

bool sonde__view_plan(sonde_view *view)
{
    if (view->changed || view->source_count != view->planned_sources) {
        view->planned_sources = 0;
        view->changed = true;
        if (!work_out(view))
            return false;
        view->planned_sources = view->source_count;
        view->changed = false;
        view->generation++;
    }
    for (size_t i = 0; i < view->series_count; i++) {
        sonde__view_series *series = &view->series[i];
        const sonde_metric_set *set = view->sources[series->source].source.metrics;
        series->metric = sonde_metric_set_at(set, series->index);
    }
    for (size_t f = 0; f < view->family_count; f++) {
        view->families[f].name = view->series[view->families[f].first].metric->name;
        view->families[f].help = view->series[view->families[f].first].metric->help;
    }
    return true;
}

void sonde__view_rewind(sonde_view *view)
{
    for (size_t f = 0; f < view->family_count; f++)
        view->families[f].cursor = view->families[f].first;
}

const sonde__rendered *sonde__view_render(sonde_view *view, sonde__rendering which,
                                          void (*render)(const sonde_view *view,
                                                         const sonde__view_family *family,
                                                         const sonde__view_series *series,
                                                         sonde__buf *out))
{
    sonde__rendered *to = &view->rendered[which];
    if (to->generation == view->generation)
        return to;
    void *end = to->end;
    sonde__buf_clear(&to->bytes);
    if (!room(&end, &to->cap, view->series_count, sizeof *to->end))
        return NULL;
    to->end = end;
    for (size_t f = 0; f < view->family_count; f++) {
        const sonde__view_family *family = &view->families[f];
        for (size_t i = family->first; i < (size_t)family->first + family->count; i++) {
            render(view, family, &view->series[i], &to->bytes);
            to->end[i] = to->bytes.len;
        }
    }
    if (to->bytes.status != SONDE_OK)
        return NULL;
    to->generation = view->generation;
    return to;
}

static bool source_has_key(const sonde_view_source *source, const char *key)
{
    for (size_t i = 0; i < source->label_count; i++)
        if (strcmp(source->labels[i].key, key) == 0)
            return true;
    return false;
}

void sonde__view_labels(const sonde_view *view, const sonde__view_series *series,
                        void (*each)(void *user, const sonde__view_label *label), void *user)
{
    const sonde_view_source *source = &view->sources[series->source].source;
    for (size_t i = 0; i < source->label_count; i++) {
        sonde__view_label label = {"", source->labels[i].key, source->labels[i].value};
        each(user, &label);
    }
    for (size_t i = 0; i < series->metric->label_count; i++) {
        const sonde_label *own = &series->metric->labels[i];
        bool taken = source_has_key(source, own->key);
        sonde__view_label label = {taken ? "exported_" : "", own->key, own->value};
        each(user, &label);
    }
}

/* --- exemplars --- */

static size_t exemplar_slot(const sonde_view *view, uint64_t run, uint64_t activity, int octave)
{
    uint64_t hash = (run ^ activity * 0x9e3779b97f4a7c15u) + (uint64_t)(octave + 64) * 0x51ed27;
    size_t at = (hash ^ hash >> 31) % (2 * (size_t)SONDE__EXEMPLARS_MAX);
    for (;; at = (at + 1) % (2 * (size_t)SONDE__EXEMPLARS_MAX)) {
        const sonde__exemplar *here = &view->exemplars[at];
        if (here->wall_ns == 0 ||
            (here->run == run && here->activity == activity && here->octave == octave))
            return at;
    }
}

static int octave_of(double value)
{
    int octave = SONDE_OCTAVE_FIRST;
    while (octave < SONDE_OCTAVE_FIRST + SONDE_OCTAVES - 1 &&
           value > sonde_bucket_bound(octave, SONDE_OCTAVE_BUCKETS - 1))
        octave++;
    return octave;
}

void sonde_view_exemplar(sonde_view *view, const sonde_record *record)
{
    if (record->kind != SONDE_RECORD_TASK || record->end_wall_ns == 0)
        return;
    if (!view->exemplars)
        view->exemplars = calloc(2 * (size_t)SONDE__EXEMPLARS_MAX, sizeof *view->exemplars);
    if (!view->exemplars)
        return;
    uint64_t from = record->submitted_wall_ns ? record->submitted_wall_ns : record->start_wall_ns;
    double seconds = record->submitted_wall_ns ? (double)(record->end_wall_ns - from) / 1e9
                                               : (double)record->duration_ns / 1e9;
    char name[256];
    size_t len = record->name_len < sizeof name ? record->name_len : sizeof name - 1;
    memcpy(name, record->name, len);
    name[len] = '\0';
    uint64_t activity = hash_text(name);
    int octave = octave_of(seconds);
    sonde__exemplar *to = &view->exemplars[exemplar_slot(view, record->run, activity, octave)];
    if (to->wall_ns == 0 && view->exemplar_count == SONDE__EXEMPLARS_MAX)
        return;
    view->exemplar_count += to->wall_ns == 0;
    *to = (sonde__exemplar){record->run,      activity,   record->trace_hi,
                            record->trace_lo, record->id, record->end_wall_ns,
                            seconds,          octave};
}

const sonde__exemplar *sonde__view_exemplar_of(const sonde_view *view,
                                               const sonde__view_series *series, int octave)
{
    uint64_t run = view->sources[series->source].source.run;
    const char *activity = sonde__metric_label(series->metric, "activity");
    if (!view->exemplars || !run || !activity ||
        strcmp(series->metric->name, "sonde_task_latency_seconds") != 0)
        return NULL;
    const sonde__exemplar *at =
        &view->exemplars[exemplar_slot(view, run, hash_text(activity), octave)];
    return at->wall_ns ? at : NULL;
}
