/* SPDX-License-Identifier: Apache-2.0 */
/* What one record adds to which metrics, as the builders said it, before any of it is applied. Keys
   lie in one buffer; memory is kept from record to record. */
#ifndef SONDE_ATTRIBUTES_UPDATES_H
#define SONDE_ATTRIBUTES_UPDATES_H

#include "attributes/gpu_set.h"
#include "attributes/record_data.h"
#include "base/buf.h"
#include "sonde/processor.h"

#include <stdbool.h>
#include <stdint.h>

/* Numbers are part of the file format. */
typedef enum sonde__operation {
    SONDE__OP_SUM = SONDE_AGGREGATE_SUM,
    SONDE__OP_MAX = SONDE_AGGREGATE_MAX,
    SONDE__OP_LAST = SONDE_AGGREGATE_LAST,
    SONDE__OP_DAILY = 3,   /* a sum that begins anew when the date changes */
    SONDE__OP_RAW = 4,     /* a JSON value that is no number, out of an imported document */
    SONDE__OP_SESSION = 6, /* in files only: the key is the id of a session that was counted */
} sonde__operation;

typedef struct sonde__number {
    bool is_real;
    union {
        int64_t integer;
        double real;
    } as;
} sonde__number;

typedef struct sonde__update {
    uint32_t key; /* in keys */
    uint32_t key_len;
    sonde__operation operation;
    bool by_time; /* the amount is that many times the record's time_lapsed */
    sonde__number amount;
    uint64_t hash;            /* of the key, in the map it goes to */
    struct sonde__cell *cell; /* where it goes, once looked up; NULL: no place below the limit */
} sonde__update;

struct sonde_updates {
    sonde__buf keys;
    sonde__update *rows;
    size_t count;
    size_t cap;
    size_t key_start; /* of the key being composed */
    sonde_status status;
    char reason[160]; /* "" or why a builder failed */
    bool gpus_ready;
    sonde__gpu_set gpus;
    uint64_t epoch; /* of the map in which the cells were found */
};

void sonde__updates_init(sonde_updates *updates);
void sonde__updates_free(sonde_updates *updates);
void sonde__updates_clear(sonde_updates *updates);

/* Composing a key: begin, pieces appended to keys, and one of the ends. */
static inline void sonde__key_begin(sonde_updates *updates)
{
    updates->key_start = updates->keys.len;
}

static inline void sonde__key_text(sonde_updates *updates, const char *text, size_t len)
{
    sonde__buf_append(&updates->keys, text, len);
}

#define SONDE__KEY_LITERAL(updates, text) sonde__key_text(updates, text, sizeof(text) - 1)

void sonde__key_end(sonde_updates *updates, sonde__operation operation, bool by_time,
                    int64_t count);

/* The GPUs of the record, counted once for all builders. NULL: failed. */
const sonde__gpu_set *sonde__updates_gpus(sonde_updates *updates, const sonde_data *data);

/* An attribute's value as it stands in names and labels. */
void sonde__key_value(sonde_updates *updates, const sonde_data *data, int attribute);

/* The amount of an update in numbers. */
sonde__number sonde__update_amount(const sonde__update *update, sonde__number time);

/* time_lapsed as a number. False: it is none (compat: null, text, a list). */
bool sonde__data_time(const sonde_data *data, sonde__number *out);

/* a + b as Python would, but integers beyond 64 bits become doubles. */
sonde__number sonde__number_add(sonde__number a, sonde__number b);

static inline double sonde__number_real(sonde__number number)
{
    return number.is_real ? number.as.real : (double)number.as.integer;
}

#endif
