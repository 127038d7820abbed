/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of settings. The parser, the defaults, the getters, the YAML writer, the messages
   and docs/settings.md are made from it: a new setting is a new row. */
#ifndef SONDE_SETTINGS_SCHEMA_H
#define SONDE_SETTINGS_SCHEMA_H

#include "base/buf.h"
#include "base/nearest.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum sonde__setting_type {
    SONDE__SETTING_BOOL,   /* null is off */
    SONDE__SETTING_INT,    /* within min and max */
    SONDE__SETTING_CHOICE, /* one of choices */
    SONDE__SETTING_NAMES,  /* a list of some of choices */
    SONDE__SETTING_PATHS,  /* a list of absolute paths */
    SONDE__SETTING_TEXT,   /* of min to max bytes; in blocks of a list only */
    SONDE__SETTING_ITEMS,  /* a list of blocks whose keys are choices: settings_items.h */
} sonde__setting_type;

enum {
    /* May be null (~), which is then its value. */
    SONDE__SETTING_NULLABLE = 1,
    /* Flowcept's telemetry types: once a file switches one on, those it does not mention are off.
     */
    SONDE__SETTING_SELECTS = 2,
};

typedef struct sonde__setting {
    const char *key; /* dotted; rows of one block follow each other */
    sonde__setting_type type;
    unsigned flags;
    const char *standard; /* the default as plain text; of a list its one element; "~": null */
    const char *const *choices; /* NULL-terminated */
    long min;
    long max;
    const char *summary; /* without full stop */
} sonde__setting;

extern const sonde__setting sonde__settings_rows[];
extern const size_t sonde__settings_row_count;

/* Flowcept's top-level blocks that say nothing to Sonde, NULL-terminated. */
extern const char *const sonde__settings_foreign[];

/* A block: the first len bytes of a row's key, with the last dot. {"", 0} is the top. */
typedef struct sonde__block {
    const char *key;
    size_t len;
} sonde__block;

typedef enum sonde__found {
    SONDE__FOUND_NONE,
    SONDE__FOUND_ROW,     /* index: of the row */
    SONDE__FOUND_BLOCK,   /* index: of its first row */
    SONDE__FOUND_FOREIGN, /* index: in sonde__settings_foreign */
} sonde__found;

/* What name (not NUL-terminated) is inside a block. *inner: the block found. */
sonde__found sonde__schema_find(sonde__block block, const char *name, size_t len, size_t *index,
                                sonde__block *inner);

/* The row of a full dotted key, or NULL. */
const sonde__setting *sonde__schema_row(const char *key);

/* The name inside a block through which row index is reached ("torch"), or NULL when the row is not
   in the block or the row before it has the same one. */
const char *sonde__schema_child(sonde__block block, size_t index, size_t *len);

/* Offers every name that a block knows. */
void sonde__schema_offer(sonde__block block, sonde__nearest *near);

/* The value a row takes, in words: "true or false", "light, regular or full". */
void sonde__schema_expected(const sonde__setting *row, sonde__buf *out);

/* The element a row's list takes, in words; for lists only. */
void sonde__schema_expected_element(const sonde__setting *row, sonde__buf *out);

bool sonde__schema_is_list(const sonde__setting *row);

#endif
