/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in builders: one file each, a const descriptor last in it, one row in builders.c. */
#ifndef SONDE_ATTRIBUTES_BUILDERS_H
#define SONDE_ATTRIBUTES_BUILDERS_H

#include "attributes/attribute_table.h"
#include "attributes/updates.h"
#include "sonde/processor.h"

typedef struct sonde__builtin {
    sonde_builder builder;
    unsigned needs; /* bits by SONDE__ROLE_*: attributes it cannot do without */
} sonde__builtin;

extern const sonde__builtin sonde__builder_legacy;
extern const sonde__builtin sonde__builder_comprehensive;
extern const sonde__builtin sonde__builder_time;
extern const sonde__builtin sonde__builder_labeled;

/* The built-in builder that has this function, or NULL. */
const sonde__builtin *sonde__builtin_of(const sonde_builder *builder);

/* Fails when the table lacks an attribute that the builder needs. */
sonde_status sonde__builder_check(const sonde_builder *builder, const sonde_attributes *attributes,
                                  sonde_attributes_error *error);

static inline bool sonde__data_passed(const sonde_data *data)
{
    return data->values[data->table->roles[SONDE__ROLE_SUCCESS]].truthy;
}

static inline void sonde__key_role(sonde_updates *updates, const sonde_data *data, int role)
{
    sonde__key_value(updates, data, data->table->roles[role]);
}

#endif
