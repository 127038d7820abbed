/* SPDX-License-Identifier: Apache-2.0 */
/* The settings in memory: one value per row of the schema. */
#ifndef SONDE_SETTINGS_VALUE_H
#define SONDE_SETTINGS_VALUE_H

#include "settings/settings_error.h"
#include "settings/settings_limits.h"
#include "settings/settings_schema.h"
#include "sonde/capture.h"
#include "sonde/settings.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>

/* A block of a list of blocks: its fields as text, owned; NULL: not given. */
typedef struct sonde__item {
    char *field[SONDE__SETTINGS_ITEM_FIELDS];
    sonde__place place; /* where it starts in the file */
} sonde__item;

typedef struct sonde__value {
    bool null;
    long number;  /* BOOL: 0 or 1. INT. CHOICE: index in the row's choices */
    char **items; /* lists: owned, NULL-terminated; NULL while there are none */
    size_t count;
    sonde__item *blocks; /* ITEMS: owned */
    size_t block_count;
} sonde__value;

struct sonde_settings {
    char *path; /* NULL: the defaults */
    sonde__value values[SONDE__SETTINGS_ROWS];
    const char *foreign[SONDE__SETTINGS_BLOCKS]; /* of the schema, in the order of the file */
    size_t foreign_count;
    sonde_capture_options capture;
};

/* Every row at its default; sonde_settings_free frees it. NULL: out of memory. */
sonde_settings *sonde__settings_create(void);

/* Makes settings->capture say what the values say. */
void sonde__settings_derive_capture(sonde_settings *settings);

/* YAML 1.1's null: nothing, ~ or null, unquoted. */
bool sonde__text_is_null(const char *text, size_t len);

/* A scalar as the value of a row; of a list only null, for which false stands too. False, *out
   untouched, when it is none. plain: written without quotes; only such a text can be null, a number
   or a switch. */
bool sonde__value_parse(const sonde__setting *row, const char *text, size_t len, bool plain,
                        sonde__value *out);

/* Appends to a list. ENOMEM; ELIMIT when SONDE__SETTINGS_LIST are in it. */
sonde_status sonde__value_add(sonde__value *value, const char *text, size_t len);

/* Frees the elements; the value is null afterwards. */
void sonde__value_clear(sonde__value *value);

#endif
