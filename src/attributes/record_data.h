/* SPDX-License-Identifier: Apache-2.0 */
/* One record, normalised. Texts lie in one buffer, those of the defaults at its start, so that
   clearing a record is a copy of the table's and nothing is allocated once the buffer has grown. */
#ifndef SONDE_ATTRIBUTES_RECORD_DATA_H
#define SONDE_ATTRIBUTES_RECORD_DATA_H

#include "base/buf.h"
#include "sonde/attributes.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum sonde__datum_kind {
    SONDE__DATUM_NULL,
    SONDE__DATUM_BOOL,
    SONDE__DATUM_INT,
    SONDE__DATUM_DOUBLE,
    SONDE__DATUM_TEXT,
    SONDE__DATUM_LIST,
    SONDE__DATUM_OTHER, /* compat only: a value of a wrong type, as the text Python makes of it */
} sonde__datum_kind;

typedef struct sonde__datum {
    sonde__datum_kind kind;
    bool truthy;  /* as Python sees it */
    uint32_t at;  /* TEXT, OTHER: in the text, a NUL behind it; LIST: first of its items */
    uint32_t len; /* bytes, or items */
    union {
        int64_t integer; /* BOOL, INT */
        double real;     /* DOUBLE */
    } number;
} sonde__datum;

typedef struct sonde__span {
    uint32_t at;
    uint32_t len;
} sonde__span;

struct sonde_data {
    const sonde_attributes *table;
    sonde__buf text;
    sonde__span *items;
    size_t item_count;
    size_t item_cap;
    uint8_t follows[SONDE_ATTRIBUTES_MAX + 1]; /* by attribute: the one that came next, last time */
    sonde__datum values[SONDE_ATTRIBUTES_MAX];
};

/* The largest text of one record: all attributes and items at their limits would be 16 MiB. */
enum { SONDE__DATA_TEXT_MAX = 64 << 20 };

static inline const char *sonde__datum_text(const sonde_data *data, const sonde__datum *datum)
{
    return data->text.data + datum->at;
}

void sonde__data_init(sonde_data *data, const sonde_attributes *table);
void sonde__data_free(sonde_data *data);

/* Sets a value without regard to its attribute's type. ENOMEM, ELIMIT (text). */
sonde_status sonde__data_put_text(sonde_data *data, size_t index, const char *text, size_t len,
                                  bool sanitize);
void sonde__data_put_number(sonde_data *data, size_t index, sonde__datum_kind kind, int64_t integer,
                            double real);

/* A list grows by add, which belongs to the list begun last. */
void sonde__data_begin_list(sonde_data *data, size_t index);
sonde_status sonde__data_add_item(sonde_data *data, size_t index, const char *text, size_t len);

#endif
