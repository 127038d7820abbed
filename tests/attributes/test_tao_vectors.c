/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the original, case by case. With compat all of them hold, the partial results of its
   failures included; without it those where the original is right, and the others differ as listed
   in docs/attributes.md ("Where Sonde differs"), one row below for each. */
#include "attributes_test.h"

#include "attributes/gpu_type.h"
#include "attributes/python_text.h"
#include "attributes/usage_map.h"

static const char *const all_builders[] = {"legacy", "comprehensive", "time", "labeled", NULL};

/* Cases whose result differs without compat: what Sonde says instead. NULL: it is counted, and
   checked by a test of its own in test_differences.c. */
static const struct {
    const char *id;
    const char *error;
} different[] = {
    {"gpu_quote_backslash", NULL},
    {"gpu_null", NULL},
    {"gpu_nonstring_items", "gpu has a number in it; expected texts only"},
    {"network_null", NULL},
    {"network_dict", "network is an object; expected text"},
    {"time_null", NULL},
    {"time_string", "time_lapsed is text; expected seconds"},
    {"time_bool", "time_lapsed is true or false; expected seconds"},
    {"time_big", "time_lapsed: 9223372036854775808 is more than three centuries; expected seconds"},
    {"user_error_null", NULL},
    {"acc_clock_back", NULL},
};

static int find_difference(const char *id)
{
    for (size_t i = 0; i < sizeof different / sizeof different[0]; i++) {
        if (strcmp(different[i].id, id) == 0)
            return (int)i;
    }
    return -1;
}

/* The builders of a set of the vectors: one alone, the document's three, or all four. */
static sonde_processor *make_processor(sonde_attributes *attributes, const char *set)
{
    const sonde_builder *builders[5] = {NULL};
    size_t count = 0;
    for (size_t i = 0; all_builders[i]; i++) {
        bool in = strcmp(set, all_builders[i]) == 0 || strcmp(set, "default4") == 0 ||
                  (strcmp(set, "doc3") == 0 && i < 3);
        if (in)
            builders[count++] = sonde_builder_named(all_builders[i]);
    }
    assert_true(count > 0 || strcmp(set, "none") == 0);
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    options.attributes = attributes;
    options.builders = builders;
    sonde_processor *processor = NULL;
    assert_int_equal(sonde_processor_create(&options, &processor, NULL), SONDE_OK);
    return processor;
}

static sonde_status import_slice(sonde_usage *usage, slice document)
{
    return sonde_usage_import_json(usage, document.text, document.len, 0, NULL, NULL);
}

static char *json_of(const sonde_usage *usage)
{
    char *text = NULL;
    size_t len = 0;
    assert_int_equal(sonde_usage_to_json(usage, &text, &len), SONDE_OK);
    return text;
}

/* Two maps are the same when a replacing import of one changes nothing in the other. 5 and 5.0 are
   the same number, as in Python. */
static bool same_metrics(sonde_usage *usage, slice expected)
{
    sonde_usage *other = new_usage();
    assert_int_equal(import_slice(other, expected), SONDE_OK);
    bool same = usage->count == other->count &&
                memcmp(&usage->last_updated, &other->last_updated, sizeof other->last_updated) == 0;
    for (size_t i = 0; same && i < other->count; i++) {
        const sonde__cell *cell = sonde__usage_cell(other, i);
        const sonde__cell *ours = sonde__usage_find(
            usage, cell->key, cell->key_len, sonde__usage_hash(usage, cell->key, cell->key_len));
        if (ours && cell->operation == SONDE__OP_RAW)
            same =
                ours->operation == SONDE__OP_RAW && strcmp(ours->value.raw, cell->value.raw) == 0;
        else
            same = ours && ours->operation != SONDE__OP_RAW &&
                   sonde__number_real(sonde__cell_number(ours)) ==
                       sonde__number_real(sonde__cell_number(cell));
    }
    sonde_usage_destroy(other);
    return same;
}

/* Runs one case with one set of builders. Returns the status; usage holds the result. */
static sonde_status run_case(slice test, sonde_attributes *attributes, const char *set,
                             sonde_usage *usage, sonde_attributes_error *error)
{
    slice raw = member(test, "raw");
    sonde_build_context context = {time_of(member(test, "now")), time_of(member(test, "old_now"))};
    sonde_status status = import_slice(usage, member(test, "initial"));
    if (status != SONDE_OK)
        return status;
    sonde_processor *processor = make_processor(attributes, set);
    status = sonde_processor_process_json(processor, usage, raw.text, raw.len, &context, error);
    sonde_processor_destroy(processor);
    return status;
}

static void check_expectation(slice test, const char *id, const char *set, slice expected,
                              sonde_attributes *attributes, const char *other_error)
{
    sonde_usage *usage = new_usage();
    sonde_attributes_error error = {""};
    sonde_status status = run_case(test, attributes, set, usage, &error);
    bool fails = !is_null(member(expected, "error"));
    /* a document with a last_updated that is no date is refused before anything is counted */
    bool refused_document = strcmp(id, "acc_bad_last_updated") == 0;
    if (other_error)
        assert_string_equal(error.text, other_error);
    else if ((status != SONDE_OK) != fails ||
             (!refused_document && !same_metrics(usage, member(expected, "metrics"))))
        fail_msg("%s, %s: %s %s\n%s\nexpected\n%.*s", id, set, sonde_status_name(status),
                 error.text, json_of(usage), (int)expected.len, expected.text);
    sonde_usage_destroy(usage);
}

/* compat or not; returns how many cases were compared. */
static size_t check_cases(bool compat)
{
    static const char *const sets[] = {"legacy",  "comprehensive", "time",
                                       "labeled", "doc3",          "default4"};
    slice cases = read_whole(VECTORS "tao_cases.json");
    sonde_attributes *attributes = NULL;
    assert_int_equal(sonde_attributes_create(compat ? SONDE_ATTRIBUTES_COMPAT : 0, &attributes),
                     SONDE_OK);
    size_t compared = 0;
    slice test;
    for (size_t i = 0; (test = element(cases, i)).text != NULL; i++) {
        char *id = text_of(member(test, "id"));
        int difference = compat ? -1 : find_difference(id);
        bool counted = difference >= 0 && !different[difference].error;
        for (size_t set = 0; !counted && set < sizeof sets / sizeof sets[0]; set++) {
            slice expected = member(member(test, "expect"), sets[set]);
            bool fails = !is_null(member(expected, "error"));
            /* without compat a failure leaves nothing behind: test_differences.c */
            if (difference >= 0 || compat || !fails)
                check_expectation(test, id, sets[set], expected, attributes,
                                  difference >= 0 ? different[difference].error : NULL);
            compared++;
        }
        free(id);
    }
    sonde_attributes_destroy(attributes);
    free((void *)(uintptr_t)cases.text);
    return compared;
}

static void all_cases_hold_in_compat(void **state)
{
    (void)state;
    assert_int_equal(check_cases(true), 40 * 6);
}

static void cases_hold_where_the_original_is_right(void **state)
{
    (void)state;
    assert_int_equal(check_cases(false), (40 - 6) * 6);
}

static void check_sequences(bool compat)
{
    slice sequences = read_whole(VECTORS "tao_sequences.json");
    slice sequence;
    size_t steps = 0;
    for (size_t i = 0; (sequence = element(sequences, i)).text != NULL; i++) {
        sonde_attributes *attributes = NULL;
        sonde_attributes_create(compat ? SONDE_ATTRIBUTES_COMPAT : 0, &attributes);
        bool none = element(member(sequence, "builders"), 0).text == NULL;
        sonde_processor *processor = make_processor(attributes, none ? "none" : "default4");
        sonde_usage *usage = new_usage();
        slice step;
        for (size_t j = 0; (step = element(member(sequence, "steps"), j)).text != NULL; j++) {
            slice raw = member(step, "raw");
            sonde_build_context context = {.now = time_of(member(step, "now"))};
            sonde_status status =
                sonde_processor_process_json(processor, usage, raw.text, raw.len, &context, NULL);
            assert_int_equal(status, SONDE_OK);
            /* 28 February to 28 March: the original takes it for the same day */
            bool month = i == 0 && j == 4 && !compat;
            if (month)
                assert_metric(usage, "time_lapsed_today", 2);
            else if (!same_metrics(usage, member(step, "metrics_after")))
                fail_msg("sequence %zu, step %zu:\n%s", i, j, json_of(usage));
            steps++;
        }
        sonde_usage_destroy(usage);
        sonde_processor_destroy(processor);
        sonde_attributes_destroy(attributes);
    }
    assert_int_equal(steps, 6);
    free((void *)(uintptr_t)sequences.text);
}

static void sequences_hold(void **state)
{
    (void)state;
    check_sequences(true);
    check_sequences(false);
}

/* An attribute of the vectors: {"name", "raw_key", "type", "default", ...}. */
static void add_attribute(sonde_attributes *attributes, slice row)
{
    char *name = text_of(member(row, "name"));
    char *raw_key = text_of(member(row, "raw_key"));
    char *type = text_of(member(row, "type"));
    slice standard = member(row, "default");
    char *text = standard.text[0] == '"' ? text_of(standard) : strndup(standard.text, standard.len);
    sonde_attribute attribute = {
        .name = name,
        .raw_key = raw_key,
        .standard = text,
        .metric_order = atoi(member(row, "metric_order").text),
        .include_in_comprehensive = member(row, "include_in_comprehensive").text[0] == 't',
    };
    assert_int_equal(sonde_attribute_type_parse(type, &attribute.type), SONDE_OK);
    assert_int_equal(sonde_attributes_add(attributes, &attribute, NULL), SONDE_OK);
    free(name);
    free(raw_key);
    free(type);
    free(text);
}

static void custom_attributes_hold(void **state)
{
    (void)state;
    slice cases = read_whole(VECTORS "tao_custom_attributes.json");
    slice test;
    size_t count = 0;
    for (; (test = element(cases, count / 2)).text != NULL; count++) {
        sonde_attributes *attributes = NULL;
        sonde_attributes_create(count % 2 ? SONDE_ATTRIBUTES_COMPAT : 0, &attributes);
        slice row;
        for (size_t i = 0; (row = element(member(test, "added"), i)).text != NULL; i++)
            add_attribute(attributes, row);
        sonde_processor *processor = make_processor(attributes, "default4");
        sonde_usage *usage = new_usage();
        slice raw = member(test, "raw");
        sonde_build_context context = {.now = time_of(member(test, "now"))};
        assert_int_equal(
            sonde_processor_process_json(processor, usage, raw.text, raw.len, &context, NULL),
            SONDE_OK);
        if (!same_metrics(usage, member(test, "metrics")))
            fail_msg("custom attributes, case %zu:\n%s", count / 2, json_of(usage));
        sonde_usage_destroy(usage);
        sonde_processor_destroy(processor);
        sonde_attributes_destroy(attributes);
    }
    assert_int_equal(count, 10);
    free((void *)(uintptr_t)cases.text);
}

/* The value as str() has it, sanitised. */
static void check_sanitized(slice value, bool upper, slice expected)
{
    sonde__json_reader reader;
    sonde__buf text;
    bool truthy;
    sonde__json_reader_init(&reader, value.text, value.len);
    sonde__buf_init(&text, 65536);
    assert_true(sonde__python_str(&reader, sonde__json_next(&reader), &text, &truthy));
    sonde__buf_reserve(&text, 1);
    size_t len = sonde_sanitize_field_value(text.data, text.len, upper, text.data);
    text.data[len] = '\0';
    char *want = text_of(expected);
    assert_string_equal(text.data, want);
    free(want);
    sonde__buf_free(&text);
}

static void sanitizing_holds(void **state)
{
    (void)state;
    slice cases = read_whole(VECTORS "tao_sanitize.json");
    slice test;
    size_t count = 0;
    for (; (test = element(cases, count)).text != NULL; count++) {
        check_sanitized(member(test, "in"), false, member(test, "lower"));
        check_sanitized(member(test, "in"), true, member(test, "upper"));
    }
    assert_int_equal(count, 22);
    free((void *)(uintptr_t)cases.text);
}

static void gpu_identifiers_hold(void **state)
{
    (void)state;
    slice cases = read_whole(VECTORS "tao_gpu_identifier.json");
    slice test;
    size_t count = 0;
    for (; (test = element(cases, count)).text != NULL; count++) {
        char *gpus[16];
        size_t given = 0;
        slice gpu;
        for (; (gpu = element(member(test, "in"), given)).text != NULL; given++)
            gpus[given] = text_of(gpu);
        char *identifier = NULL;
        char *want = text_of(member(test, "out"));
        assert_int_equal(sonde_create_gpu_identifier((const char *const *)gpus, given, &identifier),
                         SONDE_OK);
        assert_string_equal(identifier, want);
        free(identifier);
        free(want);
        while (given > 0)
            free(gpus[--given]);
    }
    assert_int_equal(count, 8);
    free((void *)(uintptr_t)cases.text);
}

static void gpu_types_hold(void **state)
{
    (void)state;
    slice cases = read_whole(VECTORS "tao_gpu_type.json");
    slice test;
    size_t count = 0;
    for (; (test = element(cases, count)).text != NULL; count++) {
        char *name = text_of(member(test, "in"));
        char *want = text_of(member(test, "type"));
        char type[512];
        type[sonde__gpu_type(name, strlen(name), type)] = '\0';
        assert_string_equal(type, want);
        free(name);
        free(want);
    }
    assert_int_equal(count, 40);
    free((void *)(uintptr_t)cases.text);
}

static void primary_gpus_hold(void **state)
{
    (void)state;
    slice document = read_whole(VECTORS "tao_primary_gpu.json");
    slice priority = member(document, "priority");
    slice word;
    size_t rank = 0;
    for (; (word = element(priority, rank)).text != NULL; rank++)
        assert_int_equal(sonde__gpu_rank(word.text + 1, word.len - 2), rank);
    assert_int_equal(rank, 73);
    slice test;
    size_t count = 0;
    sonde_data *data = NULL;
    assert_int_equal(sonde_data_create(NULL, &data), SONDE_OK);
    for (; (test = element(member(document, "cases"), count)).text != NULL; count++) {
        slice in = member(test, "in");
        char record[512];
        int len = snprintf(record, sizeof record, "{\"gpu\": %.*s}", (int)in.len, in.text);
        assert_int_equal(sonde_extract_telemetry_data(data, record, (size_t)len, NULL), SONDE_OK);
        sonde_usage *usage = new_usage();
        sonde_builder_build(sonde_builder_named("labeled"), data, NULL, usage, NULL);
        char *text = json_of(usage);
        char label[64];
        char *want = text_of(member(test, "primary"));
        snprintf(label, sizeof label, "tao_primary_gpu=\\\"%s\\\"", want);
        if (!strstr(text, label))
            fail_msg("no %s in %s", label, text);
        free(want);
        free(text);
        sonde_usage_destroy(usage);
    }
    assert_int_equal(count, 10);
    sonde_data_destroy(data);
    free((void *)(uintptr_t)document.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_cases_hold_in_compat),
        cmocka_unit_test(cases_hold_where_the_original_is_right),
        cmocka_unit_test(sequences_hold),
        cmocka_unit_test(custom_attributes_hold),
        cmocka_unit_test(sanitizing_holds),
        cmocka_unit_test(gpu_identifiers_hold),
        cmocka_unit_test(gpu_types_hold),
        cmocka_unit_test(primary_gpus_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
