/* SPDX-License-Identifier: Apache-2.0 */
/* Interning. The table is private memory that a forked child inherits; the segment has a copy, so
   that readers of a dead process find the texts. Entries are never removed. */
#include "record/names.h"

#include "record/recorder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 2 * SONDE__NAMES_MAX, OVERFLOW_ID = 1 };

typedef struct entry {
    struct entry *next;
    sonde_name name;
    uint32_t len;
    char text[];
} entry;

static struct {
    pthread_mutex_t lock;
    entry *buckets[BUCKETS];
    entry *by_id[SONDE__NAMES_MAX + 1]; /* from 1 */
    uint32_t count;
    uint32_t text_bytes; /* in the segment's form */
    uint64_t over;
    sonde__segment *segment;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t hash_of(const char *text, size_t len)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (uint8_t)text[i]) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t stored_bytes(uint32_t len)
{
    return (uint32_t)(sizeof(sonde__segment_name) + len + 1) & ~1u;
}

/* Copies entry id into the segment; the count is published last. */
static void mirror(uint32_t id, uint32_t offset)
{
    sonde__segment_header *header = sonde__segment_header_of(table.segment);
    uint8_t *area = table.segment->base + header->names_offset;
    const entry *e = table.by_id[id];
    uint16_t len = (uint16_t)e->len;
    uint8_t *at = area + (size_t)header->names_max * sizeof(uint32_t) + offset;
    memcpy(at, &len, sizeof len);
    memcpy(at + sizeof len, e->text, e->len);
    memcpy(area + (size_t)(id - 1) * sizeof(uint32_t), &offset, sizeof offset);
    atomic_store_explicit(&header->names_count, id, memory_order_release);
}

static entry *add(const char *text, uint32_t len, uint32_t bucket)
{
    if (table.count >= SONDE__NAMES_MAX ||
        table.text_bytes + stored_bytes(len) > SONDE__NAMES_BYTES)
        return NULL;
    entry *e = malloc(sizeof *e + len + 1);
    if (!e)
        return NULL;
    memcpy(e->text, text, len);
    e->text[len] = '\0';
    e->len = len;
    e->next = table.buckets[bucket];
    e->name = (sonde_name){e->text, ++table.count, 0};
    table.buckets[bucket] = e;
    table.by_id[table.count] = e;
    uint32_t offset = table.text_bytes;
    table.text_bytes += stored_bytes(len);
    if (table.segment)
        mirror(table.count, offset);
    return e;
}

static entry *find_or_add(const char *text)
{
    uint32_t len = (uint32_t)strnlen(text, SONDE__NAME_LEN_MAX);
    uint32_t bucket = hash_of(text, len) % BUCKETS;
    for (entry *e = table.buckets[bucket]; e; e = e->next)
        if (e->len == len && memcmp(e->text, text, len) == 0)
            return e;
    return add(text, len, bucket);
}

/* Name 1 is what names beyond the limit become. */
static entry *lookup(const char *text)
{
    static const char overflow[] = "(too many names)";
    if (table.count == 0)
        add(overflow, sizeof overflow - 1, hash_of(overflow, sizeof overflow - 1) % BUCKETS);
    entry *e = find_or_add(text ? text : "");
    if (!e) {
        table.over++;
        e = table.by_id[OVERFLOW_ID];
    }
    return e;
}

uint32_t sonde__name_resolve(sonde_name *name)
{
    sonde__recorder_check_fork(); /* in a child the segment is not there any more */
    pthread_mutex_lock(&table.lock);
    const entry *e = lookup(name->text);
    uint32_t id = e ? e->name.id : OVERFLOW_ID;
    pthread_mutex_unlock(&table.lock);
    __atomic_store_n(&name->id, id, __ATOMIC_RELAXED);
    return id;
}

sonde_name *sonde_name_get(const char *text)
{
    static sonde_name none = {"(too many names)", OVERFLOW_ID, 0};
    sonde__recorder_check_fork();
    pthread_mutex_lock(&table.lock);
    entry *e = lookup(text);
    pthread_mutex_unlock(&table.lock);
    return e ? &e->name : &none;
}

void sonde__names_attach(sonde__segment *segment)
{
    pthread_mutex_lock(&table.lock);
    table.segment = segment;
    uint32_t offset = 0;
    for (uint32_t id = 1; segment && id <= table.count; id++) {
        mirror(id, offset);
        offset += stored_bytes(table.by_id[id]->len);
    }
    pthread_mutex_unlock(&table.lock);
}

uint64_t sonde__names_over(void)
{
    pthread_mutex_lock(&table.lock);
    uint64_t over = table.over;
    pthread_mutex_unlock(&table.lock);
    return over;
}

void sonde__names_after_fork(void)
{
    pthread_mutex_init(&table.lock, NULL);
    table.segment = NULL;
    /* the thread that held the lock may have been cut off between the count and the entry */
    while (table.count > 0 && !table.by_id[table.count])
        table.count--;
}
