/* SPDX-License-Identifier: Apache-2.0 */
/* A record is any bytes. What is refused leaves nothing behind, not in the map and not in the next
   record; what is counted is counted the same by names composed anew and by remembered ones; with
   compat it is counted wherever it is counted without. What comes out is JSON and can be imported,
   and the text for Prometheus has no line that is neither comment nor sample. */
#include "base/json_read.h"
#include "fuzz.h"
#include "sonde/processor.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

typedef struct side {
    sonde_attributes *attributes;
    sonde_processor *processor;
} side;

static side make_side(unsigned flags)
{
    side made;
    const sonde_builder *builders[] = {sonde_builder_get(0), sonde_builder_get(1),
                                       sonde_builder_get(2), sonde_builder_get(3), NULL};
    const sonde_attribute extra = {"epochs", NULL, SONDE_ATTRIBUTE_INTEGER, "1", 100, 1};
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    require(sonde_attributes_create(flags, &made.attributes) == SONDE_OK);
    require(sonde_attributes_add(made.attributes, &extra, NULL) == SONDE_OK);
    options.attributes = made.attributes;
    options.builders = builders;
    require(sonde_processor_create(&options, &made.processor, NULL) == SONDE_OK);
    return made;
}

static const sonde_build_context noon = {.now = {2025, 3, 15, 12, 0, 0, 0, 0, 0}};

static void check_prometheus(const sonde_usage *usage, int names)
{
    char *text;
    size_t len;
    require(sonde_usage_to_prometheus(usage, names, &text, &len) == SONDE_OK);
    require(strlen(text) == len && (len == 0 || text[len - 1] == '\n'));
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        require(*line == '#' || *line == '_' || (*line >= 'a' && *line <= 'z') ||
                (*line >= 'A' && *line <= 'Z'));
    free(text);
}

static void check_output(const sonde_usage *usage)
{
    char *json;
    char *again;
    size_t len;
    sonde_usage *copy;
    require(sonde_usage_to_json(usage, &json, &len) == SONDE_OK);
    require(sonde_usage_create(0, &copy) == SONDE_OK);
    require(sonde_usage_import_json(copy, json, len, 0, NULL, NULL) == SONDE_OK);
    require(sonde_usage_to_json(copy, &again, &len) == SONDE_OK);
    require(strcmp(json, again) == 0);
    sonde_usage_destroy(copy);
    free(json);
    free(again);
    check_prometheus(usage, SONDE_USAGE_NAMES_BASE);
    check_prometheus(usage, SONDE_USAGE_NAMES_COMPAT);
}

static bool count(side with, sonde_usage *usage, const char *text, size_t len)
{
    sonde_attributes_error error = {""};
    sonde_status status =
        sonde_processor_process_json(with.processor, usage, text, len, &noon, &error);
    require(status == SONDE_OK || error.text[0] != '\0');
    return status == SONDE_OK;
}

/* The same record twice: the second time by a plan. All metrics but the time are twice as large. */
static void check_counted(side with, const char *text, size_t len)
{
    static const char plain[] = "{}";
    sonde_usage *usage;
    int64_t jobs = 0;
    require(sonde_usage_create(0, &usage) == SONDE_OK);
    bool counted = count(with, usage, text, len);
    size_t metrics = sonde_usage_count(usage);
    require(count(with, usage, text, len) == counted && sonde_usage_count(usage) == metrics);
    require(sonde_usage_records(usage) == (counted ? 2 : 0));
    require(counted == (metrics > 0));
    check_output(usage);
    sonde_usage_destroy(usage);
    /* what came before does not show in what comes after */
    require(sonde_usage_create(0, &usage) == SONDE_OK);
    require(count(with, usage, plain, sizeof plain - 1));
    require(sonde_usage_get_int(usage, "total_action_unknown_fail", &jobs) == SONDE_OK &&
            jobs == 1);
    require(sonde_usage_count(usage) == 4 + 1 + 1 + 2);
    sonde_usage_destroy(usage);
}

static void check_compat(side with, const char *text, size_t len, bool expected)
{
    sonde_usage *usage;
    require(sonde_usage_create(0, &usage) == SONDE_OK);
    bool counted = count(with, usage, text, len);
    /* a null time or GPU is a failure to the original only */
    bool null = memmem(text, len, "null", 4) != NULL;
    require(counted || !expected || null);
    check_output(usage);
    sonde_usage_destroy(usage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static side right;
    static side compat;
    if (!right.processor) {
        right = make_side(0);
        compat = make_side(SONDE_ATTRIBUTES_COMPAT);
    }
    const char *text = (const char *)data;
    check_counted(right, text, size);
    sonde_usage *usage;
    require(sonde_usage_create(0, &usage) == SONDE_OK);
    bool counted = count(right, usage, text, size);
    sonde_usage_destroy(usage);
    check_compat(compat, text, size, counted);
    return 0;
}
