/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once: the call answers ENOMEM, leaves what it was given as it was, and
   leaks nothing (the sanitizer build sees that). */
#include "../refuse_alloc.h"
#include "attributes_test.h"

#include "sonde/settings.h"

#include <unistd.h>

/* Allocations that still succeed; below 0: all do. */
static long allowance = -1;

static bool refuse(void)
{
    if (allowance < 0)
        return false;
    return allowance == 0 || allowance-- == 0;
}

/* Many names, GPUs and a document, so that everything has to grow. */
enum { GPUS = 200, RECORD_BYTES = 16384, METRICS = 3000 };

static char record[RECORD_BYTES];
static size_t record_len;
static char document[METRICS * 32];
static size_t document_len;

static int set_up(void **state)
{
    (void)state;
    record_len = (size_t)snprintf(record, sizeof record, "{\"action\": \"a\", \"gpu\": [");
    for (int i = 0; i < GPUS; i++)
        record_len += (size_t)snprintf(record + record_len, sizeof record - record_len,
                                       "%s\"GPU model %d of many\"", i ? ", " : "", i);
    record_len += (size_t)snprintf(record + record_len, sizeof record - record_len, "]}");
    document_len = (size_t)snprintf(document, sizeof document, "{\"note\": \"text\"");
    for (int i = 0; i < METRICS; i++)
        document_len += (size_t)snprintf(document + document_len, sizeof document - document_len,
                                         ", \"metric_%d\": %d", i, i);
    document_len += (size_t)snprintf(document + document_len, sizeof document - document_len, "}");
    return 0;
}

/* One attempt: SONDE_OK, or SONDE_ENOMEM with nothing changed. */
typedef sonde_status (*attempt)(void);

static void sweep(attempt what, long least)
{
    long allowed = 0;
    for (;; allowed++) {
        allowance = allowed;
        sonde_status status = what();
        allowance = -1;
        if (status == SONDE_OK)
            break;
        assert_int_equal(status, SONDE_ENOMEM);
        assert_true(allowed < 100000);
    }
    assert_true(allowed >= least);
}

static sonde_status create_all(void)
{
    sonde_attributes *attributes = NULL;
    sonde_processor *processor = NULL;
    sonde_usage *usage = NULL;
    sonde_status status = sonde_attributes_create(0, &attributes);
    if (status == SONDE_OK) {
        sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
        options.attributes = attributes;
        status = sonde_processor_create(&options, &processor, NULL);
    }
    if (status == SONDE_OK)
        status = sonde_usage_create(0, &usage);
    sonde_usage_destroy(usage);
    sonde_processor_destroy(processor);
    sonde_attributes_destroy(attributes);
    return status;
}

static void creating(void **state)
{
    (void)state;
    sweep(create_all, 12);
}

/* A record into a new processor and map, all of which exist before memory runs out. */
static sonde_status count_record(void)
{
    const sonde_builder *builders[] = {sonde_builder_get(0), sonde_builder_get(1),
                                       sonde_builder_get(2), sonde_builder_get(3), NULL};
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    options.builders = builders;
    sonde_processor *processor = NULL;
    sonde_usage *usage = NULL;
    long kept = allowance;
    allowance = -1;
    assert_int_equal(sonde_processor_create(&options, &processor, NULL), SONDE_OK);
    assert_int_equal(sonde_usage_create(0, &usage), SONDE_OK);
    allowance = kept;
    sonde_status status =
        sonde_processor_process_json(processor, usage, record, record_len, NULL, NULL);
    allowance = -1;
    assert_int_equal(sonde_usage_records(usage), status == SONDE_OK);
    assert_int_equal(sonde_usage_count(usage), status == SONDE_OK ? 3 + 200 + 1 + 1 + 1 + 1 : 0);
    /* and nothing is broken: the same record is counted now */
    assert_int_equal(sonde_processor_process_json(processor, usage, record, record_len, NULL, NULL),
                     SONDE_OK);
    assert_metric(usage, "total_action_a_fail", status == SONDE_OK ? 2 : 1);
    sonde_usage_destroy(usage);
    sonde_processor_destroy(processor);
    return status;
}

static void counting(void **state)
{
    (void)state;
    sweep(count_record, 15);
}

static sonde_status import_document(unsigned flags)
{
    sonde_usage *usage = NULL;
    long kept = allowance;
    static const char before[] = "{\"metric_1\": -1, \"note\": \"old\"}";
    allowance = -1;
    assert_int_equal(sonde_usage_create(0, &usage), SONDE_OK);
    assert_int_equal(sonde_usage_import_json(usage, before, sizeof before - 1, 0, NULL, NULL),
                     SONDE_OK);
    allowance = kept;
    sonde_status status = sonde_usage_import_json(usage, document, document_len, flags, NULL, NULL);
    allowance = -1;
    assert_metric(usage, "metric_1", status == SONDE_OK ? 1 : -1);
    assert_int_equal(sonde_usage_count(usage), status == SONDE_OK ? METRICS + 1 : 2);
    sonde_usage_destroy(usage);
    return status;
}

static sonde_status import_merging(void)
{
    return import_document(0);
}

static sonde_status import_replacing(void)
{
    return import_document(SONDE_IMPORT_REPLACE);
}

static void importing(void **state)
{
    (void)state;
    sweep(import_merging, 20);
    sweep(import_replacing, 15);
}

static sonde_status export_both(void)
{
    static sonde_usage *usage;
    char *text = NULL;
    size_t len;
    long kept = allowance;
    allowance = -1;
    if (!usage) {
        assert_int_equal(sonde_usage_create(0, &usage), SONDE_OK);
        sonde_usage_import_json(usage, document, document_len, 0, NULL, NULL);
    }
    allowance = kept;
    sonde_status status = sonde_usage_to_json(usage, &text, &len);
    free(text);
    text = NULL;
    if (status == SONDE_OK)
        status = sonde_usage_to_prometheus(usage, 0, &text, &len);
    free(text);
    allowance = -1;
    if (status == SONDE_OK) {
        sonde_usage_destroy(usage);
        usage = NULL;
    }
    return status;
}

static void exporting(void **state)
{
    (void)state;
    sweep(export_both, 10);
}

static sonde_status commit_and_read(void)
{
    char path[] = "/tmp/sonde-alloc-XXXXXX";
    sonde_usage_file *file = NULL;
    long kept = allowance;
    allowance = -1;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    sonde_processor *processor = NULL;
    assert_int_equal(sonde_processor_create(NULL, &processor, NULL), SONDE_OK);
    allowance = kept;
    sonde_status status = sonde_usage_file_open(path, 0, &file);
    if (status == SONDE_OK)
        status = sonde_processor_process_json(processor, sonde_usage_file_pending(file), record,
                                              record_len, NULL, NULL);
    if (status == SONDE_OK)
        status = sonde_usage_file_commit(file);
    allowance = -1;
    if (status == SONDE_OK) {
        const sonde_usage *view = NULL;
        assert_int_equal(sonde_usage_file_refresh(file, &view), SONDE_OK);
        assert_metric(view, "total_action_a_fail", 1);
    }
    sonde_usage_file_close(file);
    sonde_processor_destroy(processor);
    unlink(path);
    return status;
}

static void committing(void **state)
{
    (void)state;
    sweep(commit_and_read, 20);
}

static sonde_status table_of_settings(void)
{
    static const char text[] = "attributes:\n  table:\n    - {name: a, default: x}\n"
                               "    - {name: b, type: list, default: [x, y]}\n";
    sonde_settings *settings = NULL;
    sonde_attributes *attributes = NULL;
    long kept = allowance;
    allowance = -1;
    assert_int_equal(sonde_settings_parse(text, sizeof text - 1, "a.yaml", &settings, NULL),
                     SONDE_OK);
    allowance = kept;
    sonde_status status = sonde_attributes_from_settings(settings, 0, &attributes, NULL);
    allowance = -1;
    sonde_attributes_destroy(attributes);
    sonde_settings_free(settings);
    return status;
}

static void table_from_settings(void **state)
{
    (void)state;
    sweep(table_of_settings, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creating),   cmocka_unit_test(counting),
        cmocka_unit_test(importing),  cmocka_unit_test(exporting),
        cmocka_unit_test(committing), cmocka_unit_test(table_from_settings),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
