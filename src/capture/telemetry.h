/* SPDX-License-Identifier: Apache-2.0 */
/* The value behind sonde_telemetry, and how sources fill it. */
#ifndef SONDE_CAPTURE_TELEMETRY_H
#define SONDE_CAPTURE_TELEMETRY_H

#include "base/json_write.h"
#include "sonde/capture.h"

#include <stdbool.h>

enum { SONDE__COLUMNS_MAX = 11 };

typedef union sonde__value {
    uint64_t u;
    double d;
} sonde__value;

typedef struct sonde__row {
    const char *name; /* belongs to the source */
    sonde__value value[SONDE__COLUMNS_MAX];
    int8_t status[SONDE__COLUMNS_MAX];
} sonde__row;

typedef struct sonde__rows {
    sonde__row *row;
    size_t count;
    size_t cap;
    sonde_status status; /* why there is no table at all */
} sonde__rows;

/* CPU time and faults of the calling thread (from getrusage), light level and up. */
typedef struct sonde__thread_usage {
    bool known;
    double user_s;
    double system_s;
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
} sonde__thread_usage;

struct sonde_telemetry {
    uint64_t time_ns;   /* wall clock */
    uint64_t cost_ns;   /* of taking this reading */
    uint64_t window_ns; /* since the previous one */
    sonde_level level;
    sonde__value value[SONDE_FIELD_COUNT];
    int8_t status[SONDE_FIELD_COUNT];
    sonde__rows table[SONDE_TABLE_COUNT];
    const char *executable;
    const char *cmd_line; /* arguments, each ended by NUL */
    size_t cmd_line_count;
    sonde__thread_usage thread;
    uint64_t peak_rss_bytes;      /* largest the process ever had; 0: not known */
    const struct sonde__gpu *gpu; /* belongs to the source */
    size_t gpu_count;
    sonde_status gpu_status; /* why there is no GPU */
};

static inline void sonde__set_uint(sonde_telemetry *t, sonde_field field, uint64_t value)
{
    t->value[field].u = value;
    t->status[field] = SONDE_OK;
}

static inline void sonde__set_double(sonde_telemetry *t, sonde_field field, double value)
{
    t->value[field].d = value;
    t->status[field] = SONDE_OK;
}

/* Gives every field of the range that was asked for and has no value yet this reason. */
void sonde__set_reason(sonde_telemetry *t, sonde_field first, sonde_field last,
                       sonde_status reason);

/* Appends a row with every column absent. NULL beyond SONDE__ROWS_MAX or without memory, which
   rows->status then tells; allocates only while the table grows beyond what it has held before. */
sonde__row *sonde__rows_add(sonde__rows *rows, const char *name);

/* A reading as one JSON object, wherever the writer is. */
void sonde__telemetry_json(const sonde_telemetry *t, sonde__json *json);

/* Rounded to one decimal as Python's round does for such values: what psutil reports. */
double sonde__percent(double part, double whole);

#endif
