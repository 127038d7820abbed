/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of usage records: what a record may say ("network", "gpu"), how each value is made fit
   for the name of a metric, and one record after that. docs/attributes.md has the rules. */
#ifndef SONDE_ATTRIBUTES_H
#define SONDE_ATTRIBUTES_H

#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, text): STRING is sanitised (letters and digits kept, in lower case, all else "_"); the
   others are used as they are. */
#define SONDE_ATTRIBUTE_TYPE_MAP(X) \
    X(STRING, "string")             \
    X(BOOLEAN, "boolean")           \
    X(INTEGER, "integer")           \
    X(LIST, "list")

typedef enum sonde_attribute_type {
#define SONDE_ATTRIBUTE_TYPE_ENUM(name, text) SONDE_ATTRIBUTE_##name,
    SONDE_ATTRIBUTE_TYPE_MAP(SONDE_ATTRIBUTE_TYPE_ENUM)
#undef SONDE_ATTRIBUTE_TYPE_ENUM
        SONDE_ATTRIBUTE_TYPE_COUNT
} sonde_attribute_type;

enum {
    SONDE_ATTRIBUTES_MAX = 32,          /* attributes in a table */
    SONDE_ATTRIBUTE_NAME_BYTES = 64,    /* longest name or raw key, with its NUL */
    SONDE_ATTRIBUTE_VALUE_BYTES = 4096, /* longest text in a record */
    SONDE_ATTRIBUTE_ITEMS_MAX = 4096,   /* elements of all lists of a record */
};

typedef struct sonde_attribute {
    const char *name;    /* in metric names and labels: a-z, 0-9 and _, not a digit first */
    const char *raw_key; /* in records; NULL: the name */
    sonde_attribute_type type;
    /* What holds when a record has no such key: plain text; true or false; a whole number; the
       elements of a list with commas between ("": an empty list). NULL: "", false, 0, "". */
    const char *standard;
    int metric_order;             /* place in the comprehensive name; the status stands at 4 */
    int include_in_comprehensive; /* not 0: part of the comprehensive name; not for lists */
} sonde_attribute;

/* One line that a user can act on. */
typedef struct sonde_attributes_error {
    char text[320];
} sonde_attributes_error;

typedef struct sonde_attributes sonde_attributes; /* a table of attributes */
typedef struct sonde_data sonde_data;             /* one record, normalised */

enum {
    SONDE_ATTRIBUTES_EMPTY = 1,  /* without the nine built-in ones */
    SONDE_ATTRIBUTES_COMPAT = 2, /* results of the original, with its faults; docs/attributes.md */
};

/* flags: SONDE_ATTRIBUTES_* bits. The caller destroys it, after all that uses it. EINVAL, ENOMEM.
 */
SONDE_API sonde_status sonde_attributes_create(unsigned flags, sonde_attributes **out);

/* NULL is allowed. */
SONDE_API void sonde_attributes_destroy(sonde_attributes *attributes);

/* Adds an attribute, or replaces the one of the same name. All is copied. EINVAL, with the reason
   in error (may be NULL): a name, key, type or default that is not valid, a key that another
   attribute has, or a table that is in use already. ELIMIT: SONDE_ATTRIBUTES_MAX are in it. */
SONDE_API sonde_status sonde_attributes_add(sonde_attributes *attributes,
                                            const sonde_attribute *attribute,
                                            sonde_attributes_error *error);

/* The table that settings ask for (attributes.builtin, attributes.table, attributes.compat), with
   flags on top. EINVAL and ELIMIT with file, line, column and the reason in error (may be NULL),
   ENOMEM. */
struct sonde_settings;
SONDE_API sonde_status sonde_attributes_from_settings(const struct sonde_settings *settings,
                                                      unsigned flags, sonde_attributes **out,
                                                      sonde_attributes_error *error);

/* The index-th attribute in the order they were added, or NULL beyond the last; borrowed until the
   table is destroyed. */
SONDE_API const sonde_attribute *sonde_attributes_get(const sonde_attributes *attributes,
                                                      size_t index);

/* The index of an attribute by name, or -1. */
SONDE_API int sonde_attributes_find(const sonde_attributes *attributes, const char *name);

/* "string", "boolean", "integer", "list"; NULL out of range. parse: EINVAL when it is none. */
SONDE_API const char *sonde_attribute_type_name(sonde_attribute_type type);
SONDE_API sonde_status sonde_attribute_type_parse(const char *text, sonde_attribute_type *out);

/* A record of this table, every attribute at its default; for one thread at a time, and to be used
   again and again. The table is in use from now on. attributes NULL: the built-in ones. */
SONDE_API sonde_status sonde_data_create(sonde_attributes *attributes, sonde_data **out);

/* NULL is allowed. */
SONDE_API void sonde_data_destroy(sonde_data *data);

/* Every attribute at its default again. */
SONDE_API void sonde_data_clear(sonde_data *data);

/* Sets an attribute by its index in the table (sonde_attributes_find); STRING is sanitised. EINVAL:
   no such attribute, of another type, or a time_lapsed that is negative or beyond three centuries
   (not with compat); ELIMIT: longer than the limits above. */
SONDE_API sonde_status sonde_data_set_text(sonde_data *data, int attribute, const char *text,
                                           size_t len);
SONDE_API sonde_status sonde_data_set_bool(sonde_data *data, int attribute, int value);
SONDE_API sonde_status sonde_data_set_int(sonde_data *data, int attribute, int64_t value);
SONDE_API sonde_status sonde_data_set_double(sonde_data *data, int attribute, double value);
SONDE_API sonde_status sonde_data_set_list(sonde_data *data, int attribute,
                                           const char *const *items, size_t count);

/* Values by name, for builders. EABSENT: no such attribute, or null (compat only); EINVAL: of
   another type. Text is NUL-terminated and borrowed until the record changes. */
SONDE_API sonde_status sonde_data_text(const sonde_data *data, const char *name, const char **text,
                                       size_t *len);
SONDE_API sonde_status sonde_data_bool(const sonde_data *data, const char *name, int *out);
SONDE_API sonde_status sonde_data_number(const sonde_data *data, const char *name, double *out);
SONDE_API size_t sonde_data_list_count(const sonde_data *data, const char *name);
SONDE_API sonde_status sonde_data_list_item(const sonde_data *data, const char *name, size_t index,
                                            const char **text, size_t *len);

/* Reads one JSON object into data: known keys are checked and normalised, the others passed over,
   missing and null ones (but see compat) have their default. EBADDATA or ELIMIT with the field and
   the reason in error (may be NULL); data is then at its defaults. */
SONDE_API sonde_status sonde_extract_telemetry_data(sonde_data *data, const char *json, size_t len,
                                                    sonde_attributes_error *error);

/* Text with every code point outside a-z, A-Z, 0-9 replaced by "_", then in lower or upper case.
   Writes at most len bytes to out, without NUL, and returns how many. out may be text. */
SONDE_API size_t sonde_sanitize_field_value(const char *text, size_t len, int uppercase, char *out);

/* "2_NVIDIA_A100_2": the number of GPUs, then each sanitised name in byte order with its count. The
   caller frees *out with free(). ENOMEM, ELIMIT. */
SONDE_API sonde_status sonde_create_gpu_identifier(const char *const *gpus, size_t count,
                                                   char **out);

#ifdef __cplusplus
}
#endif

#endif
