/* SPDX-License-Identifier: Apache-2.0 */
/* Interning. The table is private memory that a forked child inherits; the segment has a copy, so
   that readers of a dead process find the texts. Entries are never removed. Their memory is mapped,
   not from malloc, which a signal handler may have interrupted. */
#include "record/names.h"

#include "record/recorder.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum {
    BUCKETS = 2 * SONDE__NAMES_MAX,
    OVERFLOW_ID = 1,
    /* all names and their texts, each padded to 8; only what is used is touched */
    ARENA_BYTES = SONDE__NAMES_MAX * 64 + SONDE__NAMES_BYTES,
};

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
    _Atomic uint64_t over;
    sonde__segment *segment;
    uint8_t *arena;
    size_t arena_used;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* False: this is a signal handler that interrupted its own thread in here. */
static bool lock_table(void)
{
    if (sonde__holds & SONDE__HOLDS_NAMES)
        return false;
    sonde__holds |= SONDE__HOLDS_NAMES;
    atomic_signal_fence(memory_order_seq_cst);
    pthread_mutex_lock(&table.lock);
    return true;
}

static void unlock_table(void)
{
    pthread_mutex_unlock(&table.lock);
    atomic_signal_fence(memory_order_seq_cst);
    sonde__holds &= ~(unsigned)SONDE__HOLDS_NAMES;
}

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

static entry *new_entry(uint32_t len)
{
    size_t bytes = (sizeof(entry) + len + 1 + 7) & ~(size_t)7;
    if (!table.arena) {
        void *memory = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return NULL;
        table.arena = memory;
    }
    if (ARENA_BYTES - table.arena_used < bytes)
        return NULL;
    entry *e = (entry *)(void *)(table.arena + table.arena_used);
    table.arena_used += bytes;
    return e;
}

static entry *add(const char *text, uint32_t len, uint32_t bucket)
{
    if (table.count >= SONDE__NAMES_MAX ||
        table.text_bytes + stored_bytes(len) > SONDE__NAMES_BYTES)
        return NULL;
    entry *e = new_entry(len);
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
    if (!lock_table()) {
        atomic_fetch_add(&table.over, 1);
        return OVERFLOW_ID; /* this time */
    }
    const entry *e = lookup(name->text);
    uint32_t id = e ? e->name.id : OVERFLOW_ID;
    unlock_table();
    __atomic_store_n(&name->id, id, __ATOMIC_RELAXED);
    return id;
}

sonde_name *sonde_name_get(const char *text)
{
    static sonde_name none = {"(too many names)", OVERFLOW_ID, 0};
    sonde__recorder_check_fork();
    if (!lock_table())
        return &none;
    entry *e = lookup(text);
    unlock_table();
    return e ? &e->name : &none;
}

void sonde__names_attach(sonde__segment *segment)
{
    if (!lock_table())
        return;
    table.segment = segment;
    uint32_t offset = 0;
    for (uint32_t id = 1; segment && id <= table.count; id++) {
        mirror(id, offset);
        offset += stored_bytes(table.by_id[id]->len);
    }
    unlock_table();
}

uint64_t sonde__names_over(void)
{
    return atomic_load(&table.over);
}

void sonde__names_after_fork(void)
{
    pthread_mutex_init(&table.lock, NULL);
    table.segment = NULL;
    /* the thread that held the lock may have been cut off between the count and the entry */
    while (table.count > 0 && !table.by_id[table.count])
        table.count--;
}
