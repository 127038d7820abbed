/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes/updates.h"

#include "attributes/attribute_table.h"
#include "base/number_format.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_BYTES_MAX = 256 << 20 };

void sonde__updates_init(sonde_updates *updates)
{
    *updates = (sonde_updates){0};
    sonde__buf_init(&updates->keys, KEYS_BYTES_MAX);
    sonde__gpu_set_init(&updates->gpus);
}

void sonde__updates_free(sonde_updates *updates)
{
    sonde__buf_free(&updates->keys);
    sonde__gpu_set_free(&updates->gpus);
    free(updates->rows);
}

void sonde__updates_clear(sonde_updates *updates)
{
    sonde__buf_clear(&updates->keys);
    updates->count = 0;
    updates->key_start = 0;
    updates->status = SONDE_OK;
    updates->reason[0] = '\0';
    updates->gpus_ready = false;
}

sonde_status sonde_updates_fail(sonde_updates *updates, sonde_status status, const char *reason)
{
    if (updates->status == SONDE_OK) {
        updates->status = status;
        snprintf(updates->reason, sizeof updates->reason, "%s", reason);
    }
    return status;
}

static bool grow_rows(sonde_updates *updates)
{
    if (updates->count == SONDE_PROCESSOR_UPDATES_MAX) {
        sonde_updates_fail(updates, SONDE_ELIMIT, "too many metrics for one record");
        return false;
    }
    size_t cap = updates->cap ? updates->cap * 2 : 32;
    sonde__update *rows = realloc(updates->rows, cap * sizeof *rows);
    if (!rows) {
        sonde_updates_fail(updates, SONDE_ENOMEM, "out of memory");
        return false;
    }
    updates->rows = rows;
    updates->cap = cap;
    return true;
}

static sonde__update *add_row(sonde_updates *updates)
{
    size_t len = updates->keys.len - updates->key_start;
    if (updates->keys.status != SONDE_OK)
        sonde_updates_fail(updates, updates->keys.status, "no memory for the names of metrics");
    else if (len == 0 || len > SONDE_USAGE_NAME_BYTES)
        sonde_updates_fail(updates, SONDE_ELIMIT, "the name of a metric is empty or too long");
    if (updates->status != SONDE_OK || (updates->count == updates->cap && !grow_rows(updates)))
        return NULL;
    sonde__update *row = &updates->rows[updates->count++];
    *row = (sonde__update){.key = (uint32_t)updates->key_start, .key_len = (uint32_t)len};
    return row;
}

void sonde__key_end(sonde_updates *updates, sonde__operation operation, bool by_time, int64_t count)
{
    sonde__update *row = add_row(updates);
    if (!row)
        return;
    row->operation = operation;
    row->by_time = by_time;
    row->amount.as.integer = count;
}

void sonde_updates_count(sonde_updates *updates, const char *metric, int64_t count)
{
    sonde__key_begin(updates);
    sonde__key_text(updates, metric, strlen(metric));
    sonde__key_end(updates, SONDE__OP_SUM, false, count);
}

void sonde_updates_value(sonde_updates *updates, const char *metric, sonde_aggregation aggregation,
                         double value)
{
    if (!isfinite(value) || (unsigned)aggregation > SONDE_AGGREGATE_LAST) {
        sonde_updates_fail(updates, SONDE_EINVAL, "a value is not finite, or no such aggregation");
        return;
    }
    sonde__key_begin(updates);
    sonde__key_text(updates, metric, strlen(metric));
    sonde__update *row = add_row(updates);
    if (!row)
        return;
    row->operation = (sonde__operation)aggregation;
    row->amount = (sonde__number){.is_real = true, .as.real = value};
}

const sonde__gpu_set *sonde__updates_gpus(sonde_updates *updates, const sonde_data *data)
{
    if (updates->gpus_ready)
        return &updates->gpus;
    const sonde__datum *list = &data->values[data->table->roles[SONDE__ROLE_GPUS]];
    if (list->kind != SONDE__DATUM_LIST) {
        sonde_updates_fail(updates, SONDE_EBADDATA, "the GPUs are not a list");
        return NULL;
    }
    sonde_status status =
        sonde__gpu_set_count(&updates->gpus, data->text.data, data->items + list->at, list->len);
    if (status != SONDE_OK) {
        sonde_updates_fail(updates, status, "no memory to count GPUs");
        return NULL;
    }
    updates->gpus_ready = true;
    return &updates->gpus;
}

static void key_number(sonde_updates *updates, const sonde__datum *datum)
{
    char text[SONDE__DOUBLE_TEXT_MAX];
    size_t len = datum->kind == SONDE__DATUM_DOUBLE
                     ? sonde__format_double(datum->number.real, text)
                     : sonde__format_int(datum->number.integer, text);
    sonde__key_text(updates, text, len);
}

static void key_word(sonde_updates *updates, const char *word, bool lower)
{
    for (; *word; word++)
        sonde__buf_char(&updates->keys, (char)(lower ? tolower((unsigned char)*word) : *word));
}

void sonde__key_value(sonde_updates *updates, const sonde_data *data, int attribute)
{
    const sonde__datum *datum = &data->values[attribute];
    bool lower = data->table->rows[attribute].view.type == SONDE_ATTRIBUTE_BOOLEAN;
    switch (datum->kind) {
    case SONDE__DATUM_TEXT:
        sonde__key_text(updates, sonde__datum_text(data, datum), datum->len);
        return;
    case SONDE__DATUM_OTHER:
        key_word(updates, sonde__datum_text(data, datum), lower);
        return;
    case SONDE__DATUM_BOOL:
        key_word(updates, datum->truthy ? "True" : "False", lower);
        return;
    case SONDE__DATUM_INT:
    case SONDE__DATUM_DOUBLE:
        key_number(updates, datum);
        return;
    default:
        key_word(updates, "None", lower);
        return;
    }
}

static sonde__number real_number(double value)
{
    return (sonde__number){.is_real = true, .as.real = value};
}

sonde__number sonde__number_add(sonde__number a, sonde__number b)
{
    sonde__number sum = {.is_real = false};
    if (!a.is_real && !b.is_real &&
        !__builtin_add_overflow(a.as.integer, b.as.integer, &sum.as.integer))
        return sum;
    return real_number(sonde__number_real(a) + sonde__number_real(b));
}

sonde__number sonde__update_amount(const sonde__update *update, sonde__number time)
{
    if (!update->by_time)
        return update->amount;
    int64_t times = update->amount.as.integer;
    sonde__number product = {.is_real = false};
    if (!time.is_real && !__builtin_mul_overflow(time.as.integer, times, &product.as.integer))
        return product;
    return real_number(sonde__number_real(time) * (double)times);
}

bool sonde__data_time(const sonde_data *data, sonde__number *out)
{
    int role = data->table->roles[SONDE__ROLE_TIME];
    *out = (sonde__number){.is_real = false};
    if (role < 0)
        return true;
    const sonde__datum *datum = &data->values[role];
    if (datum->kind == SONDE__DATUM_DOUBLE)
        *out = real_number(datum->number.real);
    else if (datum->kind == SONDE__DATUM_INT || datum->kind == SONDE__DATUM_BOOL)
        out->as.integer = datum->number.integer;
    else
        return false;
    return true;
}
