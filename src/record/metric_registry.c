/* SPDX-License-Identifier: Apache-2.0 */
/* Look-up of a series by its label values takes no lock: the table of a family is only ever added
   to, or replaced by a larger one while the old one stays (both together are less than twice the
   larger). Making a family or a series takes the registry's lock. */
#include "record/metric_registry.h"

#include "base/ids.h"
#include "record/metric_names.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 8 };

typedef struct table {
    struct table *older; /* the one it replaced, which somebody may still be reading */
    uint32_t mask;
    uint32_t used;
    _Atomic(sonde__series *) slots[];
} table;

struct sonde_family {
    sonde_metric_kind kind;
    sonde_status status;
    char *name;
    char *help;
    unsigned key_count;
    char *keys[SONDE__LABELS_MAX];
    uint32_t series_count;
    sonde__series *overflow;
    _Atomic(table *) series;
};

static struct {
    pthread_mutex_t lock;
    sonde_family *families[SONDE__FAMILIES_MAX];
    uint32_t family_count;
    sonde__series **all; /* in the order they were made */
    uint32_t all_count;
    uint32_t all_cap;
    uint32_t next[SONDE_METRIC_HISTOGRAM + 1]; /* index, by kind */
    sonde__window *windows[SONDE__HISTOGRAMS_MAX];
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What a metric that cannot be made becomes. */
static sonde__series nothing[] = {
    {.handle.counter = {UINT32_MAX, SONDE_EINVAL}},
    {.handle.counter = {UINT32_MAX, SONDE_ELIMIT}},
    {.handle.counter = {UINT32_MAX, SONDE_ENOMEM}},
};
static sonde_family no_family[] = {
    {.status = SONDE_EINVAL}, {.status = SONDE_ELIMIT}, {.status = SONDE_ENOMEM}};

static size_t reason_index(sonde_status status)
{
    return status == SONDE_EINVAL ? 0 : status == SONDE_ELIMIT ? 1 : 2;
}

static sonde__series *refuse(sonde_status status)
{
    const sonde__metric_view *view = sonde__metric_store_now();
    if (view)
        atomic_fetch_add(&sonde__metric_header_of(view)->refused, 1);
    return &nothing[reason_index(status)];
}

static uint32_t limit_of(sonde_metric_kind kind)
{
    return kind == SONDE_METRIC_COUNTER ? SONDE__COUNTERS_MAX
           : kind == SONDE_METRIC_GAUGE ? SONDE__GAUGES_MAX
                                        : SONDE__HISTOGRAMS_MAX;
}

static _Atomic uint32_t *used_of(sonde__metric_header *header, sonde_metric_kind kind)
{
    return kind == SONDE_METRIC_COUNTER ? &header->counters
           : kind == SONDE_METRIC_GAUGE ? &header->gauges
                                        : &header->histograms;
}

/* --- descriptions, for other processes --- */

static const char *next_text(const char *text)
{
    return text + strlen(text) + 1;
}

static size_t description_bytes(const sonde__series *series)
{
    const sonde_family *family = series->family;
    size_t bytes = sizeof(sonde__metric_series) + strlen(family->name) + strlen(family->help) + 2;
    const char *value = series->values;
    for (unsigned i = 0; i < family->key_count; i++, value = next_text(value))
        bytes += strlen(family->keys[i]) + strlen(value) + 2;
    return (bytes + 7) & ~(size_t)7;
}

static char *put_text(char *out, const char *text)
{
    size_t len = strlen(text) + 1;
    memcpy(out, text, len);
    return out + len;
}

/* Description and gauge cell get their memory here; lanes get theirs when they come. */
static bool back_series(const sonde__metric_view *view, const sonde__series *series, uint64_t end,
                        size_t bytes)
{
    return end + bytes <= SONDE__METRIC_SERIES_BYTES &&
           sonde__metric_store_back(view->at.series + end, bytes) &&
           (series->family->kind != SONDE_METRIC_GAUGE ||
            sonde__metric_store_back(view->at.gauges + (uint64_t)series->handle.gauge.index * 8,
                                     8));
}

static bool describe(sonde__series *series)
{
    const sonde__metric_view *view = sonde__metric_store();
    if (!view)
        return false;
    sonde__metric_header *header = sonde__metric_header_of(view);
    uint64_t end = atomic_load_explicit(&header->series_end, memory_order_relaxed);
    size_t bytes = description_bytes(series);
    if (!back_series(view, series, end, bytes))
        return false;
    sonde_family *family = series->family;
    uint32_t index = series->handle.counter.index & ~SONDE__EXACT;
    sonde__metric_series *to = (sonde__metric_series *)(void *)(view->base + view->at.series + end);
    to->bytes = (uint32_t)bytes;
    to->index = index;
    to->kind = (uint8_t)family->kind;
    to->labels = (uint8_t)family->key_count;
    to->overflow = series->overflow;
    char *out = put_text((char *)(to + 1), family->name);
    out = put_text(out, family->help);
    const char *value = series->values;
    for (unsigned i = 0; i < family->key_count; i++, value = next_text(value))
        out = put_text(put_text(out, family->keys[i]), value);
    series->described_at = view->at.series + end;
    _Atomic uint32_t *used = used_of(header, family->kind);
    if (atomic_load_explicit(used, memory_order_relaxed) <= index)
        atomic_store_explicit(used, index + 1, memory_order_release);
    atomic_store_explicit(&header->series_end, end + bytes, memory_order_release);
    return true;
}

sonde__metric_series *sonde__series_description(const sonde__series *series)
{
    const sonde__metric_view *view = sonde__metric_store_now();
    if (!view || series->described_at == 0)
        return NULL;
    return (sonde__metric_series *)(void *)(view->base + series->described_at);
}

void sonde__registry_describe_all(void)
{
    pthread_mutex_lock(&registry.lock);
    const sonde__metric_view *view = sonde__metric_store();
    if (view && atomic_load(&sonde__metric_header_of(view)->series_end) == 0)
        for (uint32_t i = 0; i < registry.all_count; i++)
            describe(registry.all[i]);
    pthread_mutex_unlock(&registry.lock);
}

void sonde__registry_after_fork(void)
{
    pthread_mutex_init(&registry.lock, NULL);
    for (uint32_t i = 0; i < registry.all_count; i++) {
        sonde__window *window = registry.all[i]->window;
        registry.all[i]->described_at = 0;
        if (window) {
            window->put = 0;
            atomic_store(&window->lock, 0);
        }
    }
}

sonde__window *sonde__registry_window(uint32_t index)
{
    return index < SONDE__HISTOGRAMS_MAX
               ? __atomic_load_n(&registry.windows[index], __ATOMIC_ACQUIRE)
               : NULL;
}

/* --- series --- */

/* FNV-1a over the values, a NUL between them. */
static uint64_t hash_values(const char *const *values, unsigned count)
{
    uint64_t hash = 1469598103934665603u;
    for (unsigned i = 0; i < count; i++) {
        const char *value = values && *values ? *values++ : "";
        for (; *value; value++)
            hash = (hash ^ (uint8_t)*value) * 1099511628211u;
        hash = (hash ^ 0xff) * 1099511628211u;
    }
    return hash ^ hash >> 29;
}

static bool has_values(const sonde__series *series, const char *const *values, unsigned count)
{
    const char *mine = series->values;
    for (unsigned i = 0; i < count; i++) {
        const char *value = values && *values ? *values++ : "";
        while (*mine == *value && *mine)
            mine++, value++;
        if (*mine++ != *value)
            return false;
    }
    return true;
}

static sonde__series *find(const sonde_family *family, const char *const *values, uint64_t hash)
{
    const table *slots = atomic_load_explicit(&family->series, memory_order_acquire);
    if (!slots)
        return NULL;
    for (uint32_t i = (uint32_t)hash;; i++) {
        sonde__series *series =
            atomic_load_explicit(&slots->slots[i & slots->mask], memory_order_acquire);
        if (!series || (series->hash == hash && has_values(series, values, family->key_count)))
            return series;
    }
}

static void put_in_table(table *slots, sonde__series *series)
{
    uint32_t i = (uint32_t)series->hash;
    while (atomic_load_explicit(&slots->slots[i & slots->mask], memory_order_relaxed))
        i++;
    atomic_store_explicit(&slots->slots[i & slots->mask], series, memory_order_release);
    slots->used++;
}

/* Room for one more, at most half full. The old table stays for those who are reading it. */
static table *table_with_room(sonde_family *family)
{
    table *old = atomic_load_explicit(&family->series, memory_order_relaxed);
    if (old && (old->used + 1) * 2 <= old->mask + 1)
        return old;
    uint32_t size = old ? (old->mask + 1) * 2 : FIRST_SLOTS;
    table *larger = calloc(1, sizeof *larger + size * sizeof *larger->slots);
    if (!larger)
        return NULL;
    larger->mask = size - 1;
    larger->older = old;
    for (uint32_t i = 0; old && i <= old->mask; i++) {
        sonde__series *series = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
        if (series)
            put_in_table(larger, series);
    }
    atomic_store_explicit(&family->series, larger, memory_order_release);
    return larger;
}

static bool remember(sonde__series *series)
{
    if (registry.all_count == registry.all_cap) {
        uint32_t cap = registry.all_cap ? registry.all_cap * 2 : 64;
        sonde__series **all = realloc((void *)registry.all, cap * sizeof(void *));
        if (!all)
            return false;
        registry.all = all;
        registry.all_cap = cap;
    }
    registry.all[registry.all_count++] = series;
    return true;
}

/* Values as they are kept: as many as there are keys, none too long. */
typedef struct kept_values {
    const char *list[SONDE__LABELS_MAX + 1];
    char text[SONDE__LABELS_MAX][SONDE__LABEL_VALUE_MAX + 1];
    unsigned cut;
} kept_values;

static void keep_values(const sonde_family *family, const char *const *values, kept_values *kept)
{
    kept->cut = 0;
    for (unsigned i = 0; i < family->key_count; i++) {
        kept->cut += sonde__label_value_cut(values && *values ? *values++ : "", kept->text[i]);
        kept->list[i] = kept->text[i];
    }
    kept->list[family->key_count] = NULL;
}

static sonde__series *copy_values(const sonde_family *family, const char *const *values)
{
    size_t bytes = 0;
    assert(family->key_count <= SONDE__LABELS_MAX);
    for (unsigned i = 0; i < family->key_count && values[i]; i++)
        bytes += strlen(values[i]) + 1;
    sonde__series *series = calloc(1, sizeof *series + bytes);
    char *out = series ? series->values : NULL;
    for (unsigned i = 0; out && i < family->key_count && values[i]; i++)
        out = put_text(out, values[i]);
    return series;
}

/* With the lock: a new series of family; *status says why there is none. */
static sonde__series *make_series(sonde_family *family, const char *const *values, size_t window,
                                  sonde_status *status)
{
    uint32_t index = registry.next[family->kind];
    *status = SONDE_ELIMIT;
    if (index >= limit_of(family->kind))
        return NULL;
    *status = SONDE_ENOMEM;
    sonde__series *series = copy_values(family, values);
    if (!series)
        return NULL;
    series->family = family;
    series->hash = hash_values(values, family->key_count);
    series->handle.counter.index = window ? index | SONDE__EXACT : index;
    series->window = window ? sonde__window_create(window) : NULL;
    if ((window && !series->window) || !describe(series) || !remember(series)) {
        free(series->window);
        free(series);
        return NULL;
    }
    if (series->window)
        __atomic_store_n(&registry.windows[index], series->window, __ATOMIC_RELEASE);
    registry.next[family->kind]++;
    family->series_count++;
    return series;
}

/* With the lock: the series that counts for those beyond the limit. */
static sonde__series *overflow_of(sonde_family *family)
{
    static const char *const others[SONDE__LABELS_MAX + 1] = {
        "(other)", "(other)", "(other)", "(other)", "(other)", "(other)", "(other)", "(other)"};
    const sonde__metric_view *view = sonde__metric_store_now();
    if (view)
        atomic_fetch_add(&sonde__metric_header_of(view)->series_over, 1);
    sonde_status status = SONDE_ELIMIT;
    if (!family->overflow) {
        family->overflow = make_series(family, others, 0, &status);
        if (family->overflow) {
            family->overflow->overflow = true;
            family->overflow->handle.counter.status = SONDE_ELIMIT;
            sonde__series_description(family->overflow)->overflow = 1;
        }
    }
    return family->overflow ? family->overflow : refuse(status);
}

/* The last index of a kind is kept free for overflow series as long as there is one left. */
static bool is_full(const sonde_family *family)
{
    return family->series_count >= SONDE__FAMILY_SERIES_MAX ||
           (family->key_count > 0 &&
            registry.next[family->kind] >= limit_of(family->kind) - limit_of(family->kind) / 16);
}

/* With the lock: finds or makes the series of values that may be too long. */
static sonde__series *find_or_make(sonde_family *family, const char *const *values, size_t window)
{
    kept_values kept;
    keep_values(family, values, &kept);
    sonde__series *series = find(family, kept.list, hash_values(kept.list, family->key_count));
    if (series)
        return series;
    if (is_full(family))
        return overflow_of(family);
    sonde_status status = SONDE_ENOMEM;
    table *slots = table_with_room(family);
    series = slots ? make_series(family, kept.list, window, &status) : NULL;
    if (!series)
        return refuse(status);
    put_in_table(slots, series);
    const sonde__metric_view *view = sonde__metric_store_now();
    atomic_fetch_add(&sonde__metric_header_of(view)->values_cut, kept.cut);
    return series;
}

static sonde__series *series_with(sonde_family *family, const char *const *values, size_t window)
{
    if (family->status != SONDE_OK)
        return refuse(family->status);
    sonde__series *series = find(family, values, hash_values(values, family->key_count));
    if (series)
        return series;
    pthread_mutex_lock(&registry.lock);
    series = find_or_make(family, values, window);
    pthread_mutex_unlock(&registry.lock);
    return series;
}

/* --- families --- */

static bool same_keys(const sonde_family *family, const char *const *keys, unsigned count)
{
    if (family->key_count != count)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(family->keys[i], keys[i]) != 0)
            return false;
    return true;
}

static void free_family(sonde_family *family)
{
    free(family->name);
    free(family->help);
    for (unsigned i = 0; i < family->key_count; i++)
        free(family->keys[i]);
    free(family);
}

static sonde_family *make_family(sonde_metric_kind kind, const char *name, const char *help,
                                 const char *const *keys, unsigned count)
{
    sonde_family *family = calloc(1, sizeof *family);
    if (!family)
        return NULL;
    family->kind = kind;
    family->name = strdup(name);
    family->help = strndup(help ? help : "", SONDE__HELP_MAX);
    bool complete = family->name && family->help;
    for (; complete && family->key_count < count; family->key_count += complete) {
        family->keys[family->key_count] = strdup(keys[family->key_count]);
        complete = family->keys[family->key_count] != NULL;
    }
    if (!complete) {
        free_family(family);
        return NULL;
    }
    return family;
}

static sonde_family *get_family(sonde_metric_kind kind, const char *name, const char *help,
                                const char *const *keys)
{
    unsigned count = 0;
    if (!sonde__metric_name_valid(name) || !sonde__label_keys_valid(keys, &count))
        return &no_family[reason_index(SONDE_EINVAL)];
    sonde__metric_store();
    pthread_mutex_lock(&registry.lock);
    sonde_family *family = NULL;
    for (uint32_t i = 0; i < registry.family_count && !family; i++)
        if (strcmp(registry.families[i]->name, name) == 0)
            family = registry.families[i];
    if (family) {
        if (family->kind != kind || !same_keys(family, keys, count))
            family = &no_family[reason_index(SONDE_EINVAL)];
    } else if (registry.family_count == SONDE__FAMILIES_MAX) {
        family = &no_family[reason_index(SONDE_ELIMIT)];
    } else {
        family = make_family(kind, name, help, keys, count);
        if (family)
            registry.families[registry.family_count++] = family;
        else
            family = &no_family[reason_index(SONDE_ENOMEM)];
    }
    pthread_mutex_unlock(&registry.lock);
    return family;
}

/* Labels in turn, taken apart. False: too many, or a key without a value. */
static bool split_labels(const char *const *labels, const char *keys[], const char *values[])
{
    unsigned count = 0;
    for (; labels && labels[0]; labels += 2, count++) {
        if (count == SONDE__LABELS_MAX || !labels[1])
            return false;
        keys[count] = labels[0];
        values[count] = labels[1];
    }
    keys[count] = values[count] = NULL;
    return true;
}

static sonde__series *get(sonde_metric_kind kind, const char *name, const char *help,
                          const char *const *labels, size_t window)
{
    const char *keys[SONDE__LABELS_MAX + 1];
    const char *values[SONDE__LABELS_MAX + 1];
    if (!split_labels(labels, keys, values) || window > SONDE__WINDOW_MAX)
        return refuse(SONDE_EINVAL);
    return series_with(get_family(kind, name, help, keys), values, window);
}

sonde_counter *sonde_counter_get(const char *name, const char *help, const char *const *labels)
{
    return &get(SONDE_METRIC_COUNTER, name, help, labels, 0)->handle.counter;
}

sonde_gauge *sonde_gauge_get(const char *name, const char *help, const char *const *labels)
{
    return &get(SONDE_METRIC_GAUGE, name, help, labels, 0)->handle.gauge;
}

sonde_histogram *sonde_histogram_get(const char *name, const char *help, const char *const *labels)
{
    return &get(SONDE_METRIC_HISTOGRAM, name, help, labels, 0)->handle.histogram;
}

sonde_histogram *sonde_histogram_get_exact(const char *name, const char *help,
                                           const char *const *labels, size_t window)
{
    if (window == 0)
        return &refuse(SONDE_EINVAL)->handle.histogram;
    return &get(SONDE_METRIC_HISTOGRAM, name, help, labels, window)->handle.histogram;
}

sonde_family *sonde_counter_family(const char *name, const char *help, const char *const *keys)
{
    return get_family(SONDE_METRIC_COUNTER, name, help, keys);
}

sonde_family *sonde_gauge_family(const char *name, const char *help, const char *const *keys)
{
    return get_family(SONDE_METRIC_GAUGE, name, help, keys);
}

sonde_family *sonde_histogram_family(const char *name, const char *help, const char *const *keys)
{
    return get_family(SONDE_METRIC_HISTOGRAM, name, help, keys);
}

static sonde__series *with(sonde_family *family, sonde_metric_kind kind, const char *const *values)
{
    if (family->status == SONDE_OK && family->kind != kind)
        return refuse(SONDE_EINVAL);
    return series_with(family, values, 0);
}

sonde_counter *sonde_counter_with(sonde_family *family, const char *const *values)
{
    return &with(family, SONDE_METRIC_COUNTER, values)->handle.counter;
}

sonde_gauge *sonde_gauge_with(sonde_family *family, const char *const *values)
{
    return &with(family, SONDE_METRIC_GAUGE, values)->handle.gauge;
}

sonde_histogram *sonde_histogram_with(sonde_family *family, const char *const *values)
{
    return &with(family, SONDE_METRIC_HISTOGRAM, values)->handle.histogram;
}
