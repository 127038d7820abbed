/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of attributes share: JSON files by member and element, records, expectations.
   Include once per test program. */
#ifndef SONDE_TESTS_ATTRIBUTES_H
#define SONDE_TESTS_ATTRIBUTES_H

#include "base/json_read.h"
#include "sonde/processor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define VECTORS SONDE_SOURCE_DIR "/tests/vectors/tao/"

/* A JSON value within a larger text; text NULL: there is none. */
typedef struct slice {
    const char *text;
    size_t len;
} slice;

static inline slice read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    char *text = malloc((size_t)size);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    fclose(file);
    return (slice){text, (size_t)size};
}

/* The value that the reader is in front of. */
static inline slice take_slice(sonde__json_reader *reader)
{
    size_t start = reader->pos;
    while (strchr(" \t\r\n,", reader->text[start]))
        start++;
    assert_true(sonde__json_skip(reader));
    return (slice){reader->text + start, reader->pos - start};
}

static inline slice member(slice object, const char *name)
{
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, object.text, object.len);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_OBJECT_BEGIN);
    while (sonde__json_next(&reader) == SONDE__JSON_KEY) {
        bool found = sonde__json_equals(&reader, name);
        slice value = take_slice(&reader);
        if (found)
            return value;
    }
    return (slice){NULL, 0};
}

/* The index-th element; text NULL beyond the last. */
static inline slice element(slice array, size_t index)
{
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, array.text, array.len);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_ARRAY_BEGIN);
    for (size_t i = 0;; i++) {
        size_t start = reader.pos;
        sonde__json_token token = sonde__json_next(&reader);
        if (token == SONDE__JSON_ARRAY_END)
            return (slice){NULL, 0};
        while (strchr(" \t\r\n,", reader.text[start]))
            start++;
        if (token == SONDE__JSON_OBJECT_BEGIN || token == SONDE__JSON_ARRAY_BEGIN)
            assert_true(sonde__json_skip(&reader));
        if (i == index)
            return (slice){reader.text + start, reader.pos - start};
    }
}

static inline bool is_null(slice value)
{
    return !value.text || (value.len == 4 && memcmp(value.text, "null", 4) == 0);
}

/* A JSON string as text; free() it. */
static inline char *text_of(slice string)
{
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, string.text, string.len);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_STRING);
    char *text = malloc(reader.slice_len + 1);
    assert_non_null(text);
    text[sonde__json_unescape(&reader, text)] = '\0';
    return text;
}

static inline sonde_datetime time_of(slice string)
{
    sonde_datetime time = {0};
    if (is_null(string))
        return time;
    char *text = text_of(string);
    assert_int_equal(sonde_datetime_parse(text, strlen(text), &time), SONDE_OK);
    free(text);
    return time;
}

static inline sonde_usage *new_usage(void)
{
    sonde_usage *usage = NULL;
    assert_int_equal(sonde_usage_create(0, &usage), SONDE_OK);
    return usage;
}

static inline void assert_metric(const sonde_usage *usage, const char *name, int64_t expected)
{
    int64_t value = -1;
    sonde_status status = sonde_usage_get_int(usage, name, &value);
    if (status != SONDE_OK || value != expected)
        fail_msg("%s is %lld (%s), expected %lld", name, (long long)value,
                 sonde_status_name(status), (long long)expected);
}

static inline sonde_status count_json(sonde_processor *processor, sonde_usage *usage,
                                      const char *json, sonde_attributes_error *error)
{
    return sonde_processor_process_json(processor, usage, json, strlen(json), NULL, error);
}

#endif
