/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes/builders.h"

#include <string.h>

static const sonde__builtin *const builtins[] = {
    &sonde__builder_legacy,
    &sonde__builder_comprehensive,
    &sonde__builder_time,
    &sonde__builder_labeled,
};

const sonde_builder *sonde_builder_get(size_t index)
{
    return index < sizeof builtins / sizeof builtins[0] ? &builtins[index]->builder : NULL;
}

const sonde_builder *sonde_builder_named(const char *name)
{
    const sonde_builder *builder;
    for (size_t i = 0; (builder = sonde_builder_get(i)) != NULL; i++) {
        if (strcmp(builder->name, name) == 0)
            return builder;
    }
    return NULL;
}

const sonde__builtin *sonde__builtin_of(const sonde_builder *builder)
{
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++) {
        if (builtins[i]->builder.build == builder->build)
            return builtins[i];
    }
    return NULL;
}

sonde_status sonde__builder_check(const sonde_builder *builder, const sonde_attributes *attributes,
                                  sonde_attributes_error *error)
{
    const sonde__builtin *builtin = sonde__builtin_of(builder);
    if (!builder->name || !*builder->name || !builder->build)
        return sonde__attributes_complain(error, SONDE_EINVAL,
                                          "a builder needs a name and a function");
    for (unsigned i = 0; builtin && i < SONDE__ROLE_COUNT; i++) {
        if ((builtin->needs & 1u << i) && attributes->roles[i] < 0)
            return sonde__attributes_complain(error, SONDE_EINVAL,
                                              "builder %s needs the attribute %s", builder->name,
                                              sonde__roles[i].name);
    }
    return SONDE_OK;
}
