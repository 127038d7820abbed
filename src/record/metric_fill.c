/* SPDX-License-Identifier: Apache-2.0 */
/* A set keeps its memory from one filling to the next, so that reading again allocates nothing.
   Texts and octaves lie in two arenas that may move while they grow: offsets first, pointers last.
 */
#include "record/metric_fill.h"

#include "record/metric_registry.h"

#include <stdlib.h>
#include <string.h>

typedef struct arena {
    char *data;
    size_t len;
    size_t cap;
} arena;

struct sonde_metric_set {
    sonde_metric *metrics;
    size_t count;
    size_t cap;
    arena texts; /* descriptions, as they are in the store */
    arena labels;
    arena distributions;
    arena octaves;
    sonde__merged merged;
    sonde_status status;
    bool building; /* between begin and end: nothing to be seen yet */
};

sonde_metric_set *sonde_metric_set_create(void)
{
    return calloc(1, sizeof(sonde_metric_set));
}

void sonde_metric_set_destroy(sonde_metric_set *set)
{
    if (!set)
        return;
    free(set->metrics);
    free(set->texts.data);
    free(set->labels.data);
    free(set->distributions.data);
    free(set->octaves.data);
    free(set);
}

size_t sonde_metric_set_count(const sonde_metric_set *set)
{
    return set->building ? 0 : set->count;
}

const sonde_metric *sonde_metric_set_at(const sonde_metric_set *set, size_t index)
{
    return index < sonde_metric_set_count(set) ? &set->metrics[index] : NULL;
}

static bool has_label(const sonde_metric *metric, const char *key, const char *value)
{
    for (size_t i = 0; i < metric->label_count; i++)
        if (strcmp(metric->labels[i].key, key) == 0)
            return strcmp(metric->labels[i].value, value) == 0;
    return false;
}

const sonde_metric *sonde_metric_set_find(const sonde_metric_set *set, const char *name,
                                          const char *const *labels)
{
    for (size_t i = 0; i < sonde_metric_set_count(set); i++) {
        const sonde_metric *metric = &set->metrics[i];
        bool match = strcmp(metric->name, name) == 0;
        for (const char *const *at = labels; match && at && at[0] && at[1]; at += 2)
            match = has_label(metric, at[0], at[1]);
        if (match)
            return metric;
    }
    return NULL;
}

/* Room for bytes more; NULL, with the set's status, without memory. */
static void *arena_add(sonde_metric_set *set, arena *where, size_t bytes)
{
    if (where->cap - where->len < bytes) {
        size_t cap = where->cap ? where->cap * 2 : 4096;
        while (cap - where->len < bytes)
            cap *= 2;
        char *larger = realloc(where->data, cap);
        if (!larger) {
            set->status = SONDE_ENOMEM;
            return NULL;
        }
        where->data = larger;
        where->cap = cap;
    }
    void *at = where->data + where->len;
    where->len += bytes;
    return at;
}

static sonde_metric *add_metric(sonde_metric_set *set)
{
    if (set->count == set->cap) {
        size_t cap = set->cap ? set->cap * 2 : 32;
        sonde_metric *larger = realloc(set->metrics, cap * sizeof *larger);
        if (!larger) {
            set->status = SONDE_ENOMEM;
            return NULL;
        }
        set->metrics = larger;
        set->cap = cap;
    }
    set->metrics[set->count] = (sonde_metric){0};
    return &set->metrics[set->count++];
}

/* The next of the texts of a description; NULL when it does not end within it. */
static const char *text_in(const char **at, const char *end)
{
    const char *text = *at;
    const char *nul = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;
    *at = nul ? nul + 1 : end;
    return nul ? text : NULL;
}

/* Labels go to their arena by offset; link() makes pointers of them. */
static bool take_texts(sonde_metric_set *set, sonde_metric *metric, const char *at, const char *end,
                       unsigned labels)
{
    metric->name = text_in(&at, end);
    metric->help = text_in(&at, end);
    if (!metric->name || !metric->help || labels > SONDE__LABELS_MAX)
        return false;
    metric->label_count = labels;
    for (unsigned i = 0; i < labels; i++) {
        sonde_label label = {text_in(&at, end), text_in(&at, end)};
        if (!label.key || !label.value)
            return false;
        sonde_label *to = arena_add(set, &set->labels, sizeof label);
        if (!to)
            return false;
        *to = label;
    }
    return true;
}

static void take_histogram(sonde_metric_set *set, const sonde__metric_view *view, uint32_t index)
{
    sonde__merged_begin(&set->merged);
    sonde__metric_add_histogram(view, index, &set->merged);
    sonde__merged_end(&set->merged);
    size_t octaves = set->merged.touched;
    sonde_octave *to = arena_add(set, &set->octaves, octaves * sizeof *to);
    if (octaves > 0 && to)
        sonde__merged_octaves(&set->merged, to);
    sonde_distribution *all = arena_add(set, &set->distributions, sizeof *all);
    if (!all)
        return;
    *all = set->merged.all;
    all->octave_count = to ? octaves : 0;
}

/* One description at text; false when it is damaged. */
static bool take_series(sonde_metric_set *set, const sonde__metric_view *view,
                        const sonde__metric_series *series)
{
    sonde_metric *metric = add_metric(set);
    if (!metric)
        return false;
    const char *texts = (const char *)(series + 1);
    if (!take_texts(set, metric, texts, (const char *)series + series->bytes, series->labels))
        return false;
    metric->kind = (sonde_metric_kind)series->kind;
    metric->overflow = series->overflow;
    uint64_t base = atomic_load_explicit(&series->base, memory_order_relaxed);
    if (metric->kind == SONDE_METRIC_COUNTER && series->index < SONDE__COUNTERS_MAX) {
        uint64_t sum = sonde__metric_read_counter(view, series->index);
        metric->counter = sum > base ? sum - base : 0;
    } else if (metric->kind == SONDE_METRIC_GAUGE && series->index < SONDE__GAUGES_MAX) {
        metric->gauge = sonde__metric_read_gauge(view, series->index);
    } else if (metric->kind == SONDE_METRIC_HISTOGRAM && series->index < SONDE__HISTOGRAMS_MAX) {
        take_histogram(set, view, series->index);
    } else {
        return false;
    }
    return set->status == SONDE_OK;
}

static void link_pointers(sonde_metric_set *set)
{
    const sonde_label *label = (const sonde_label *)(const void *)set->labels.data;
    sonde_distribution *all = (sonde_distribution *)(void *)set->distributions.data;
    const sonde_octave *octave = (const sonde_octave *)(const void *)set->octaves.data;
    for (size_t i = 0; i < set->count; i++) {
        sonde_metric *metric = &set->metrics[i];
        metric->labels = label;
        label += metric->label_count;
        if (metric->kind != SONDE_METRIC_HISTOGRAM)
            continue;
        metric->histogram = all;
        all->octaves = octave;
        octave += all->octave_count;
        all++;
    }
}

void sonde__metric_set_begin(sonde_metric_set *set)
{
    set->count = 0;
    set->texts.len = set->labels.len = set->distributions.len = set->octaves.len = 0;
    set->status = SONDE_OK;
    set->building = true;
}

sonde_status sonde__metric_fill(sonde_metric_set *set, const sonde__metric_view *view)
{
    sonde__metric_set_begin(set);
    set->building = false;
    sonde__metric_header *header = sonde__metric_header_of(view);
    uint64_t end = atomic_load_explicit(&header->series_end, memory_order_acquire);
    if (end > SONDE__METRIC_SERIES_BYTES)
        return SONDE_EBADDATA;
    char *texts = arena_add(set, &set->texts, end);
    if (end > 0 && !texts)
        return SONDE_ENOMEM;
    if (end > 0)
        memcpy(texts, view->base + view->at.series, end);
    bool good = true;
    for (uint64_t at = 0; good && at < end;) {
        const sonde__metric_series *series =
            (const sonde__metric_series *)(const void *)(texts + at);
        good = end - at >= sizeof *series && series->bytes >= sizeof *series &&
               series->bytes <= end - at && series->bytes % 8 == 0 &&
               take_series(set, view, series);
        if (good)
            at += series->bytes;
    }
    if (!good) {
        sonde_status status = set->status == SONDE_OK ? SONDE_EBADDATA : set->status;
        set->count = 0;
        return status;
    }
    link_pointers(set);
    return SONDE_OK;
}

static void put_text(sonde_metric_set *set, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *to = arena_add(set, &set->texts, bytes);
    if (to)
        memcpy(to, text, bytes);
}

static void put_distribution(sonde_metric_set *set, const sonde_distribution *from)
{
    size_t bytes = from->octave_count * sizeof(sonde_octave);
    void *octaves = arena_add(set, &set->octaves, bytes);
    if (bytes > 0 && octaves)
        memcpy(octaves, from->octaves, bytes);
    sonde_distribution *to = arena_add(set, &set->distributions, sizeof *to);
    if (to) {
        *to = *from;
        to->window_count = 0;
        to->window = NULL;
    }
}

bool sonde__metric_set_put(sonde_metric_set *set, const sonde_metric *metric)
{
    sonde_metric *to = set->status == SONDE_OK ? add_metric(set) : NULL;
    if (!to)
        return false;
    *to = *metric;
    put_text(set, metric->name);
    put_text(set, metric->help);
    for (size_t i = 0; i < metric->label_count; i++) {
        put_text(set, metric->labels[i].key);
        put_text(set, metric->labels[i].value);
        arena_add(set, &set->labels, sizeof(sonde_label));
    }
    if (metric->kind == SONDE_METRIC_HISTOGRAM)
        put_distribution(set, metric->histogram);
    return set->status == SONDE_OK;
}

sonde_status sonde__metric_set_end(sonde_metric_set *set)
{
    set->building = false;
    if (set->status != SONDE_OK) {
        set->count = 0;
        return set->status;
    }
    const char *at = set->texts.data;
    const char *end = at + set->texts.len;
    sonde_label *label = (sonde_label *)(void *)set->labels.data;
    for (size_t i = 0; i < set->count; i++) {
        sonde_metric *metric = &set->metrics[i];
        metric->name = text_in(&at, end);
        metric->help = text_in(&at, end);
        for (size_t k = 0; k < metric->label_count; k++, label++) {
            label->key = text_in(&at, end);
            label->value = text_in(&at, end);
        }
    }
    link_pointers(set);
    return SONDE_OK;
}

sonde_status sonde_metric_set_collect(sonde_metric_set *set)
{
    const sonde__metric_view *view = sonde__metric_store_in_use();
    if (!view) {
        set->count = 0;
        return SONDE_ENOMEM;
    }
    return sonde__metric_fill(set, view);
}
