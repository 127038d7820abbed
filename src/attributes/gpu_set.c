/* SPDX-License-Identifier: Apache-2.0 */
#include "attributes/gpu_set.h"

#include "attributes/gpu_type.h"
#include "attributes/text_hash.h"
#include "base/number_format.h"
#include "sonde/attributes.h"

#include <stdlib.h>
#include <string.h>

void sonde__gpu_set_init(sonde__gpu_set *set)
{
    *set = (sonde__gpu_set){0};
    sonde__buf_init(&set->text, 4 * (size_t)SONDE__DATA_TEXT_MAX);
}

void sonde__gpu_set_free(sonde__gpu_set *set)
{
    sonde__buf_free(&set->text);
    free(set->names);
    free(set->types);
}

static sonde_status make_room(sonde__gpu_set *set, size_t count, size_t bytes)
{
    sonde__buf_clear(&set->text);
    if (!sonde__buf_reserve(&set->text, bytes))
        return set->text.status;
    if (count <= set->cap)
        return SONDE_OK;
    sonde__gpu_count *names = realloc(set->names, count * sizeof *names);
    if (names)
        set->names = names;
    sonde__gpu_count *types = realloc(set->types, count * sizeof *types);
    if (types)
        set->types = types;
    if (!names || !types)
        return SONDE_ENOMEM;
    set->cap = count;
    return SONDE_OK;
}

static int compare(const void *a, const void *b)
{
    const sonde__gpu_count *left = a;
    const sonde__gpu_count *right = b;
    uint32_t shorter = left->len < right->len ? left->len : right->len;
    int order = memcmp(left->text, right->text, shorter);
    return order ? order : (left->len > right->len) - (left->len < right->len);
}

/* Sorts rows and adds up those that are the same; returns how many remain. */
static size_t merge(sonde__gpu_count *rows, size_t count)
{
    if (count == 0)
        return 0;
    if (count > 1)
        qsort(rows, count, sizeof *rows, compare);
    size_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        if (compare(&rows[kept], &rows[i]) == 0)
            rows[kept].count += rows[i].count;
        else
            rows[++kept] = rows[i];
    }
    return kept + 1;
}

/* The best rank; without one the most frequent, then the last in byte order. */
static const sonde__gpu_count *choose_primary(const sonde__gpu_set *set)
{
    const sonde__gpu_count *best = NULL;
    unsigned best_rank = SONDE__GPU_UNRANKED;
    for (size_t i = 0; i < set->type_count; i++) {
        const sonde__gpu_count *type = &set->types[i];
        unsigned rank = sonde__gpu_rank(type->text, type->len);
        bool better =
            rank < best_rank || (rank == SONDE__GPU_UNRANKED && best_rank == SONDE__GPU_UNRANKED &&
                                 (!best || type->count >= best->count));
        if (better) {
            best = type;
            best_rank = rank;
        }
    }
    return best;
}

/* Works a name out, of at most SONDE__GPU_NAME_BYTES, in place of the one kept before. */
static void work_out(sonde__gpu_name *kept, const char *name, size_t len)
{
    char type[2 * SONDE__GPU_NAME_BYTES + 8];
    size_t type_len = sonde__gpu_type(name, len, type);
    kept->len = (uint32_t)len;
    kept->upper_len = (uint32_t)sonde_sanitize_field_value(name, len, 1, kept->upper);
    kept->type_len = (uint32_t)type_len;
    memcpy(kept->name, name, len);
    memcpy(kept->type, type, type_len);
}

/* Appends the sanitised name and the model to the text; returns the length of the name. */
static size_t put_name(sonde__gpu_set *set, const char *name, size_t len)
{
    char *out = set->text.data + set->text.len;
    if (len > SONDE__GPU_NAME_BYTES) {
        size_t upper_len = sonde_sanitize_field_value(name, len, 1, out);
        set->text.len += upper_len + sonde__gpu_type(name, len, out + upper_len);
        return upper_len;
    }
    sonde__gpu_name *kept = &set->kept[sonde__hash_text(name, len, 0) % SONDE__GPU_NAMES_KEPT];
    if (kept->len != len || memcmp(kept->name, name, len) != 0)
        work_out(kept, name, len);
    memcpy(out, kept->upper, kept->upper_len);
    memcpy(out + kept->upper_len, kept->type, kept->type_len);
    set->text.len += kept->upper_len + kept->type_len;
    return kept->upper_len;
}

static void add_name(sonde__gpu_set *set, size_t row, const char *name, size_t len)
{
    size_t start = set->text.len;
    size_t upper_len = put_name(set, name, len);
    size_t type_len = set->text.len - start - upper_len;
    const char *upper = set->text.data + start;
    set->names[row] = (sonde__gpu_count){upper, (uint32_t)upper_len, 1};
    set->types[row] = (sonde__gpu_count){upper + upper_len, (uint32_t)type_len, 1};
}

sonde_status sonde__gpu_set_count(sonde__gpu_set *set, const char *text, const sonde__span *items,
                                  size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += 3 * (size_t)items[i].len + 8;
    sonde_status status = make_room(set, count, bytes);
    if (status != SONDE_OK)
        return status;
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = text + items[i].at;
        if (i > 0 && items[i].len == items[i - 1].len &&
            memcmp(name, text + items[i - 1].at, items[i].len) == 0) {
            set->names[rows - 1].count++;
            set->types[rows - 1].count++;
            continue;
        }
        add_name(set, rows++, name, items[i].len);
    }
    set->total = count;
    set->name_count = merge(set->names, rows);
    set->type_count = merge(set->types, rows);
    set->primary = choose_primary(set);
    return SONDE_OK;
}

static void write_uint(sonde__buf *out, uint64_t value)
{
    char text[SONDE__UINT_TEXT_MAX];
    sonde__buf_append(out, text, sonde__format_uint(value, text));
}

void sonde__gpu_set_identifier(const sonde__gpu_set *set, sonde__buf *out)
{
    write_uint(out, set->total);
    sonde__buf_char(out, '_');
    for (size_t i = 0; i < set->name_count; i++) {
        if (i > 0)
            sonde__buf_char(out, '_');
        sonde__buf_append(out, set->names[i].text, set->names[i].len);
        sonde__buf_char(out, '_');
        write_uint(out, set->names[i].count);
    }
}

sonde_status sonde_create_gpu_identifier(const char *const *gpus, size_t count, char **out)
{
    sonde_data data;
    sonde__gpu_set set;
    sonde__buf text;
    sonde__data_init(&data, NULL);
    sonde__gpu_set_init(&set);
    sonde__buf_init(&text, 4 * (size_t)SONDE__DATA_TEXT_MAX);
    sonde_status status = SONDE_OK;
    for (size_t i = 0; i < count && status == SONDE_OK; i++)
        status = sonde__data_add_item(&data, 0, gpus[i], strlen(gpus[i]));
    if (status == SONDE_OK)
        status = sonde__gpu_set_count(&set, data.text.data, data.items, count);
    if (status == SONDE_OK) {
        sonde__gpu_set_identifier(&set, &text);
        sonde__buf_char(&text, '\0');
        status = text.status;
    }
    if (status == SONDE_OK)
        *out = text.data;
    else
        sonde__buf_free(&text);
    sonde__data_free(&data);
    sonde__gpu_set_free(&set);
    return status;
}
