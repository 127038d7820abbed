/* SPDX-License-Identifier: Apache-2.0 */
#include "sonde/fields.h"

#include "capture/telemetry.h"

/* "" has size 1, "memory" 7: a dot only after a named object */
#define PATH_CPU      "cpu."
#define PATH_PROCESS  "process."
#define PATH_MEMORY   "memory."
#define PATH_DISK     "disk."
#define PATH_NETWORK  "network."
#define PATH_CGROUP   "sonde.cgroup."
#define PATH_PRESSURE "sonde.pressure."
#define PATH_ENERGY   "sonde.energy."
#define PATH_LOAD     "sonde.load."
#define PATH_THERMAL  "sonde.thermal."
#define PATH_TREE     "sonde.tree."

#define FIELD_ROW(name, part, object_, key_, type_, unit_, source_, summary_)          \
    [SONDE_FIELD_##name] = {                                                           \
        .path = sizeof(object_) > 1 ? PATH_##part object_ "." key_ : PATH_##part key_, \
        .object = object_,                                                             \
        .key = key_,                                                                   \
        .unit = unit_,                                                                 \
        .source = source_,                                                             \
        .summary = summary_,                                                           \
        .section = SONDE_SECTION_##part,                                               \
        .type = SONDE_FIELD_TYPE_##type_,                                              \
    },

static const sonde_field_info fields[SONDE_FIELD_COUNT] = {SONDE_FIELD_MAP(FIELD_ROW)};

#define TABLE_ROW(name, section_, key_, first_, last_, summary_) \
    [SONDE_TABLE_##name] = {                                     \
        .key = key_,                                             \
        .summary = summary_,                                     \
        .section = SONDE_SECTION_##section_,                     \
        .first = SONDE_FIELD_##first_,                           \
        .last = SONDE_FIELD_##last_,                             \
    },

static const sonde_table_info tables[SONDE_TABLE_COUNT] = {SONDE_TABLE_MAP(TABLE_ROW)};

#define CHECK_COLUMNS(name, section_, key_, first_, last_, summary_)                \
    _Static_assert(SONDE_FIELD_##last_ - SONDE_FIELD_##first_ < SONDE__COLUMNS_MAX, \
                   "a row holds every column of " key_);
SONDE_TABLE_MAP(CHECK_COLUMNS)

const sonde_field_info *sonde_field_describe(sonde_field field)
{
    return (unsigned)field < SONDE_FIELD_COUNT ? &fields[field] : NULL;
}

const sonde_table_info *sonde_table_describe(sonde_table table)
{
    return (unsigned)table < SONDE_TABLE_COUNT ? &tables[table] : NULL;
}

const char *sonde_section_name(sonde_section section)
{
    switch (section) {
#define CASE(name, key)        \
    case SONDE_SECTION_##name: \
        return key;
        SONDE_SECTION_MAP(CASE)
#undef CASE
    case SONDE_SECTION_COUNT:
        break;
    }
    return NULL;
}
