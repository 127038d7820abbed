/* SPDX-License-Identifier: Apache-2.0 */
/* The table of attributes as builders use it. Once a record or a processor is made from it, it is
   frozen: defaults are laid out, the parts of names and labels are in order. */
#ifndef SONDE_ATTRIBUTES_TABLE_H
#define SONDE_ATTRIBUTES_TABLE_H

#include "attributes/record_data.h"
#include "sonde/attributes.h"

#include <pthread.h>
#include <stdbool.h>

/* Attributes that built-in builders know by name. */
enum {
    SONDE__ROLE_VERSION,
    SONDE__ROLE_ACTION,
    SONDE__ROLE_NETWORK,
    SONDE__ROLE_SUCCESS,
    SONDE__ROLE_TIME,
    SONDE__ROLE_GPUS,
    SONDE__ROLE_COUNT
};

typedef struct sonde__role {
    const char *name;
    sonde_attribute_type type;
} sonde__role;

extern const sonde__role sonde__roles[SONDE__ROLE_COUNT];

/* Labels that are not attributes. */
enum { SONDE__LABEL_STATUS = -1, SONDE__LABEL_PRIMARY_GPU = -2, SONDE__LABEL_GPU_COUNT = -3 };

typedef struct sonde__label {
    int source;                                 /* an attribute, or SONDE__LABEL_* */
    char text[SONDE_ATTRIBUTE_NAME_BYTES + 16]; /* ,tao_network=" */
    size_t len;
} sonde__label;

typedef struct sonde__row {
    sonde_attribute view; /* points into the texts below */
    char name[SONDE_ATTRIBUTE_NAME_BYTES];
    char raw_key[SONDE_ATTRIBUTE_NAME_BYTES];
    size_t name_len;
    size_t raw_key_len;
    char *standard;
} sonde__row;

struct sonde_attributes {
    sonde__row rows[SONDE_ATTRIBUTES_MAX];
    size_t count;
    bool compat;
    pthread_mutex_t lock; /* of freezing */
    bool frozen;
    int roles[SONDE__ROLE_COUNT]; /* -1: the table has none */
    int named[SONDE_ATTRIBUTES_MAX];
    size_t named_count; /* attributes of the comprehensive name, in order */
    sonde__label labels[SONDE_ATTRIBUTES_MAX + 3];
    size_t label_count;
    bool time_is_named;  /* the value of time_lapsed is part of a name */
    sonde_data defaults; /* every attribute at its default */
};

/* Freezes the table. ENOMEM. Any thread. */
sonde_status sonde__attributes_freeze(sonde_attributes *attributes);

/* The built-in table, shared and never destroyed; NULL: out of memory. */
sonde_attributes *sonde__attributes_builtin(void);

/* The attribute of a raw key, or -1; guess is tried first. */
int sonde__attributes_by_key(const sonde_attributes *attributes, const char *key, size_t len,
                             size_t guess);

/* Writes a line for a user; returns status. error may be NULL. */
sonde_status sonde__attributes_complain(sonde_attributes_error *error, sonde_status status,
                                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
