/* SPDX-License-Identifier: Apache-2.0 */
/* A setting that is a list of blocks (SONDE__SETTING_ITEMS): the attributes of usage records. */
#ifndef SONDE_SETTINGS_ITEMS_H
#define SONDE_SETTINGS_ITEMS_H

#include "settings/settings_events.h"
#include "settings/settings_schema.h"
#include "settings/settings_value.h"

/* The fields of a block, by position; a field without default must be given. */
extern const sonde__setting sonde__item_fields[SONDE__SETTINGS_ITEM_FIELDS];

/* Their names, NULL-terminated. */
extern const char *const sonde__item_names[];

/* Reads the rest of a list of blocks into value, which is empty. EBADDATA, ELIMIT, ENOMEM, each
   with its message. */
sonde_status sonde__items_read(sonde__events *events, const sonde__complaints *complaints,
                               const sonde__setting *row, sonde__value *value);

/* Frees the blocks. */
void sonde__items_free(sonde__value *value);

/* A text (valid UTF-8, since it came out of a YAML text) in double quotes. */
void sonde__yaml_quoted(const char *text, sonde__buf *out);

/* Writes the blocks as YAML, behind the key. */
void sonde__items_write(const sonde__value *value, size_t depth, sonde__buf *out);

#endif
