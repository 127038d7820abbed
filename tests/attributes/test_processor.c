/* SPDX-License-Identifier: Apache-2.0 */
/* Builders, their order, all or nothing, aggregation, limits, threads. */
#include "attributes_test.h"

#include <pthread.h>

static sonde_status count_calls(void *user, const sonde_data *data,
                                const sonde_build_context *context, sonde_updates *updates)
{
    (void)data;
    (void)context;
    (void)updates;
    ++*(int *)user;
    return SONDE_OK;
}

static sonde_status refuse_odd(void *user, const sonde_data *data,
                               const sonde_build_context *context, sonde_updates *updates)
{
    (void)user;
    (void)context;
    double seconds;
    sonde_updates_count(updates, "seen_by_odd", 1);
    assert_int_equal(sonde_data_number(data, "time_lapsed", &seconds), SONDE_OK);
    if ((int64_t)seconds % 2 == 1)
        return sonde_updates_fail(updates, SONDE_EINVAL, "odd times are not taken");
    return SONDE_OK;
}

static sonde_processor *make(const sonde_builder *const *builders)
{
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    options.builders = builders;
    sonde_processor *processor = NULL;
    sonde_attributes_error error = {""};
    if (sonde_processor_create(&options, &processor, &error) != SONDE_OK)
        fail_msg("%s", error.text);
    return processor;
}

static void each_builder_works_alone(void **state)
{
    (void)state;
    static const char *const gpus[] = {"nvidia_a100"};
    static const size_t metrics[] = {4, 1, 1, 4}; /* legacy, comprehensive, time, labeled */
    sonde_data *data = NULL;
    assert_int_equal(sonde_data_create(NULL, &data), SONDE_OK);
    assert_int_equal(sonde_data_set_text(data, 1, "train", 5), SONDE_OK);
    assert_int_equal(sonde_data_set_text(data, 0, "5_3_0", 5), SONDE_OK);
    assert_int_equal(sonde_data_set_text(data, 2, "resnet50", 8), SONDE_OK);
    assert_int_equal(sonde_data_set_bool(data, 3, 1), SONDE_OK);
    assert_int_equal(sonde_data_set_int(data, 5, 60), SONDE_OK);
    assert_int_equal(sonde_data_set_list(data, 6, gpus, 1), SONDE_OK);
    const sonde_builder *builder;
    for (size_t i = 0; (builder = sonde_builder_get(i)) != NULL; i++) {
        sonde_usage *usage = new_usage();
        sonde_datetime last;
        assert_int_equal(sonde_builder_build(builder, data, NULL, usage, NULL), SONDE_OK);
        assert_int_equal(sonde_usage_count(usage), metrics[i]);
        assert_int_equal(sonde_usage_last_updated(usage, &last), SONDE_EABSENT);
        if (i == 0) {
            assert_metric(usage, "total_action_train_pass", 1);
            assert_metric(usage, "version_5_3_0_action_train", 1);
            assert_metric(usage, "network_resnet50_action_train", 1);
            assert_metric(usage, "gpu_nvidia_a100_action_train", 1);
        }
        sonde_usage_destroy(usage);
    }
    sonde_data_destroy(data);
}

static void setters_check_type_and_range(void **state)
{
    (void)state;
    sonde_data *data = NULL;
    char long_text[SONDE_ATTRIBUTE_VALUE_BYTES + 1];
    memset(long_text, 'x', sizeof long_text);
    assert_int_equal(sonde_data_create(NULL, &data), SONDE_OK);
    assert_int_equal(sonde_data_set_text(data, 3, "true", 4), SONDE_EINVAL);
    assert_int_equal(sonde_data_set_text(data, -1, "x", 1), SONDE_EINVAL);
    assert_int_equal(sonde_data_set_text(data, 99, "x", 1), SONDE_EINVAL);
    assert_int_equal(sonde_data_set_bool(data, 2, 1), SONDE_EINVAL);
    assert_int_equal(sonde_data_set_int(data, 5, -1), SONDE_EINVAL);
    assert_int_equal(sonde_data_set_double(data, 5, 0.0 / 0.0), SONDE_EINVAL);
    assert_int_equal(sonde_data_set_double(data, 5, 1e300), SONDE_EINVAL);
    assert_int_equal(sonde_data_set_text(data, 2, long_text, sizeof long_text), SONDE_ELIMIT);
    assert_int_equal(sonde_data_set_text(data, 2, long_text, sizeof long_text - 1), SONDE_OK);
    sonde_data_destroy(data);
}

static void builders_run_after_those_they_name(void **state)
{
    (void)state;
    int calls = 0;
    const sonde_builder a = {"a", "time", count_calls, &calls};
    const sonde_builder b = {"b", "a", count_calls, &calls};
    const sonde_builder *builders[] = {&b, sonde_builder_named("legacy"), &a,
                                       sonde_builder_named("time"), NULL};
    static const char *const order[] = {"legacy", "time", "a", "b", NULL};
    sonde_processor *processor = make(builders);
    for (size_t i = 0; i < 5; i++) {
        const char *name = sonde_processor_builder(processor, i);
        assert_true(name == order[i] || strcmp(name, order[i]) == 0);
    }
    sonde_processor_destroy(processor);
}

static void impossible_builders_are_refused(void **state)
{
    (void)state;
    int calls = 0;
    const sonde_builder a = {"a", "b", count_calls, &calls};
    const sonde_builder b = {"b", "a", count_calls, &calls};
    const sonde_builder lone = {"lone", "nobody", count_calls, &calls};
    const sonde_builder nameless = {"", NULL, count_calls, &calls};
    const sonde_builder *const circle[] = {&a, &b, NULL};
    const sonde_builder *const missing[] = {&lone, NULL};
    const sonde_builder *const twice[] = {sonde_builder_get(0), sonde_builder_get(0), NULL};
    const sonde_builder *const unnamed[] = {&nameless, NULL};
    const struct {
        const sonde_builder *const *builders;
        const char *reason;
    } cases[] = {
        {circle, "builder a is to run after b, which is not there"},
        {missing, "builder lone is to run after nobody, which is not there"},
        {twice, "there are two builders named legacy"},
        {unnamed, "a builder needs a name and a function"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
        options.builders = cases[i].builders;
        sonde_processor *processor = NULL;
        sonde_attributes_error error = {""};
        assert_int_equal(sonde_processor_create(&options, &processor, &error), SONDE_EINVAL);
        assert_string_equal(error.text, cases[i].reason);
    }
}

static void a_builder_needs_its_attributes(void **state)
{
    (void)state;
    sonde_attributes *attributes = NULL;
    sonde_processor *processor = NULL;
    sonde_attributes_error error = {""};
    sonde_attributes_create(SONDE_ATTRIBUTES_EMPTY, &attributes);
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    options.attributes = attributes;
    assert_int_equal(sonde_processor_create(&options, &processor, &error), SONDE_EINVAL);
    assert_string_equal(error.text, "builder legacy needs the attribute version");
    sonde_attributes_destroy(attributes);
}

static void a_record_is_counted_wholly_or_not_at_all(void **state)
{
    (void)state;
    const sonde_builder odd = {"odd", "legacy", refuse_odd, NULL};
    const sonde_builder *builders[] = {sonde_builder_named("legacy"), &odd, NULL};
    sonde_processor *processor = make(builders);
    sonde_usage *usage = new_usage();
    sonde_attributes_error error = {""};
    size_t arena_count = 0;
    for (int i = 0; i < 100; i++) {
        char record[64];
        snprintf(record, sizeof record, "{\"action\": \"a%d\", \"time_lapsed\": %d}", i, i);
        sonde_status status = count_json(processor, usage, record, &error);
        assert_int_equal(status, i % 2 ? SONDE_EINVAL : SONDE_OK);
        if (i % 2)
            assert_int_equal(sonde_usage_count(usage), arena_count);
        arena_count = sonde_usage_count(usage);
    }
    assert_string_equal(error.text, "builder odd: odd times are not taken");
    assert_metric(usage, "seen_by_odd", 50);
    assert_metric(usage, "total_action_a98_fail", 1);
    assert_int_equal(sonde_usage_records(usage), 50);
    assert_int_equal(sonde_usage_count(usage), 50 * 4 + 1);
    int64_t none;
    assert_int_equal(sonde_usage_get_int(usage, "total_action_a99_fail", &none), SONDE_EABSENT);
    sonde_usage_destroy(usage);
    sonde_processor_destroy(processor);
}

static sonde_status aggregate_all(void *user, const sonde_data *data,
                                  const sonde_build_context *context, sonde_updates *updates)
{
    (void)user;
    (void)context;
    double seconds;
    sonde_data_number(data, "time_lapsed", &seconds);
    sonde_updates_value(updates, "sum", SONDE_AGGREGATE_SUM, seconds);
    sonde_updates_value(updates, "max", SONDE_AGGREGATE_MAX, seconds);
    sonde_updates_value(updates, "last", SONDE_AGGREGATE_LAST, seconds);
    return SONDE_OK;
}

static void metrics_are_summed_or_the_greatest_or_the_last(void **state)
{
    (void)state;
    const sonde_builder all = {"all", NULL, aggregate_all, NULL};
    const sonde_builder *builders[] = {&all, NULL};
    sonde_processor *processor = make(builders);
    sonde_usage *usage = new_usage();
    static const char *const records[] = {"{\"time_lapsed\": 2}", "{\"time_lapsed\": 7}",
                                          "{\"time_lapsed\": 4}"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(count_json(processor, usage, records[i], NULL), SONDE_OK);
    double value;
    assert_int_equal(sonde_usage_get(usage, "sum", &value), SONDE_OK);
    assert_true(value == 13);
    assert_int_equal(sonde_usage_get(usage, "max", &value), SONDE_OK);
    assert_true(value == 7);
    assert_int_equal(sonde_usage_get(usage, "last", &value), SONDE_OK);
    assert_true(value == 4);
    sonde_usage_destroy(usage);
    sonde_processor_destroy(processor);
}

static sonde_status last_in_legacy(void *user, const sonde_data *data,
                                   const sonde_build_context *context, sonde_updates *updates)
{
    (void)user;
    (void)data;
    (void)context;
    sonde_updates_value(updates, "total_action_unknown_fail", SONDE_AGGREGATE_LAST, 1);
    return SONDE_OK;
}

static void one_metric_is_aggregated_in_one_way(void **state)
{
    (void)state;
    const sonde_builder other = {"other", NULL, last_in_legacy, NULL};
    const sonde_builder *builders[] = {sonde_builder_get(0), &other, NULL};
    sonde_processor *processor = make(builders);
    sonde_usage *usage = new_usage();
    sonde_attributes_error error = {""};
    assert_int_equal(count_json(processor, usage, "{}", &error), SONDE_EINVAL);
    assert_string_equal(error.text, "metric total_action_unknown_fail is aggregated in two ways");
    assert_int_equal(sonde_usage_count(usage), 0);
    sonde_usage_destroy(usage);
    sonde_processor_destroy(processor);
}

static void a_batch_stops_at_the_record_that_fails(void **state)
{
    (void)state;
    const sonde_builder odd = {"odd", NULL, refuse_odd, NULL};
    const sonde_builder *builders[] = {&odd, NULL};
    sonde_processor *processor = make(builders);
    sonde_usage *usage = new_usage();
    sonde_data *records[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sonde_data_create(NULL, &records[i]), SONDE_OK);
        sonde_data_set_int(records[i], 5, i < 2 ? 0 : 1);
    }
    size_t counted = 99;
    sonde_attributes_error error = {""};
    assert_int_equal(sonde_processor_process_batch(processor, usage,
                                                   (const sonde_data *const *)records, 4, NULL,
                                                   &counted, &error),
                     SONDE_EINVAL);
    assert_int_equal(counted, 2);
    assert_string_equal(error.text, "record 2: builder odd: odd times are not taken");
    assert_metric(usage, "seen_by_odd", 2);
    for (int i = 0; i < 4; i++)
        sonde_data_destroy(records[i]);
    sonde_usage_destroy(usage);
    sonde_processor_destroy(processor);
}

static void what_finds_no_place_is_counted(void **state)
{
    (void)state;
    sonde_processor *processor = make(NULL);
    sonde_usage *usage = NULL;
    assert_int_equal(sonde_usage_create(10, &usage), SONDE_OK);
    for (int i = 0; i < 300; i++) {
        char record[64];
        snprintf(record, sizeof record, "{\"action\": \"a%d\"}", i % 100);
        assert_int_equal(count_json(processor, usage, record, NULL), SONDE_OK);
    }
    /* six updates each; the first record has places for all, the second for four more of its own */
    assert_int_equal(sonde_usage_count(usage), 10);
    assert_int_equal(sonde_usage_records(usage), 300);
    assert_metric(usage, "total_action_a0_fail", 3);
    assert_metric(usage, "time_lapsed_today", 0);
    assert_int_equal(sonde_usage_overflow(usage), 300 * 6 - 300 - 3 * 5 - 3 * 4);
    char *json = NULL;
    size_t len;
    assert_int_equal(sonde_usage_to_json(usage, &json, &len), SONDE_OK);
    assert_non_null(strstr(json, "\"sonde_overflow_total\":1473"));
    free(json);
    sonde_usage_destroy(usage);
    sonde_processor_destroy(processor);
}

static void attributes_are_checked(void **state)
{
    (void)state;
    static const struct {
        sonde_attribute attribute;
        const char *reason;
    } cases[] = {
        {{"9x", NULL, SONDE_ATTRIBUTE_STRING, NULL, 1, 0},
         "attribute name \"9x\" is not valid; use a-z, 0-9 and _, at most 63 bytes"},
        {{"Up", NULL, SONDE_ATTRIBUTE_STRING, NULL, 1, 0},
         "attribute name \"Up\" is not valid; use a-z, 0-9 and _, at most 63 bytes"},
        {{"status", NULL, SONDE_ATTRIBUTE_STRING, NULL, 1, 0},
         "attribute name \"status\" is a label of its own; use another"},
        {{"x", "gpu", SONDE_ATTRIBUTE_STRING, NULL, 1, 0},
         "attribute x: the raw_key \"gpu\" belongs to gpus"},
        {{"x", "", SONDE_ATTRIBUTE_STRING, NULL, 1, 0}, "attribute x: a raw_key has 1 to 63 bytes"},
        {{"x", NULL, SONDE_ATTRIBUTE_BOOLEAN, "maybe", 1, 0},
         "attribute x: default \"maybe\" is not of type boolean"},
        {{"x", NULL, SONDE_ATTRIBUTE_INTEGER, "1.5", 1, 0},
         "attribute x: default \"1.5\" is not of type integer"},
        {{"x", NULL, SONDE_ATTRIBUTE_LIST, NULL, 1, 1},
         "attribute x: a list cannot be part of a metric's name"},
        {{"gpus", NULL, SONDE_ATTRIBUTE_STRING, NULL, 1, 0},
         "attribute gpus is always of type list"},
    };
    sonde_attributes *attributes = NULL;
    sonde_attributes_create(0, &attributes);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sonde_attributes_error error = {""};
        assert_int_equal(sonde_attributes_add(attributes, &cases[i].attribute, &error),
                         SONDE_EINVAL);
        assert_string_equal(error.text, cases[i].reason);
    }
    assert_null(sonde_attributes_get(attributes, 9));
    sonde_data *data = NULL;
    assert_int_equal(sonde_data_create(attributes, &data), SONDE_OK);
    const sonde_attribute late = {"late", NULL, SONDE_ATTRIBUTE_STRING, NULL, 1, 0};
    assert_int_equal(sonde_attributes_add(attributes, &late, NULL), SONDE_EINVAL);
    sonde_data_destroy(data);
    sonde_attributes_destroy(attributes);
}

/* An attribute of the built-in table with another key and default. */
static void an_attribute_is_replaced_by_name(void **state)
{
    (void)state;
    sonde_attributes *attributes = NULL;
    sonde_data *data = NULL;
    sonde_attributes_create(0, &attributes);
    const sonde_attribute network = {"network",    "model", SONDE_ATTRIBUTE_STRING,
                                     "none given", 1,       1};
    assert_int_equal(sonde_attributes_add(attributes, &network, NULL), SONDE_OK);
    assert_int_equal(sonde_attributes_find(attributes, "network"), 2);
    assert_int_equal(sonde_data_create(attributes, &data), SONDE_OK);
    const char *text = NULL;
    size_t len = 0;
    assert_int_equal(sonde_data_text(data, "network", &text, &len), SONDE_OK);
    assert_string_equal(text, "none_given");
    const char *json = "{\"model\": \"YOLO v4\", \"network\": \"x\"}";
    assert_int_equal(sonde_extract_telemetry_data(data, json, strlen(json), NULL), SONDE_OK);
    assert_int_equal(sonde_data_text(data, "network", &text, &len), SONDE_OK);
    assert_string_equal(text, "yolo_v4");
    assert_int_equal(sonde_data_list_count(data, "gpus"), 1);
    assert_int_equal(sonde_data_list_item(data, "gpus", 0, &text, &len), SONDE_OK);
    assert_string_equal(text, "unknown");
    assert_int_equal(sonde_data_list_item(data, "gpus", 1, &text, &len), SONDE_EABSENT);
    assert_int_equal(sonde_data_text(data, "success", &text, &len), SONDE_EINVAL);
    assert_int_equal(sonde_data_text(data, "nothing", &text, &len), SONDE_EABSENT);
    sonde_data_destroy(data);
    sonde_attributes_destroy(attributes);
}

/* The same record often, with other times between, so that plans are used; and some kinds of it. */
enum { THREADS = 4 };

typedef struct crew {
    sonde_processor *processor;
    sonde_usage *usage;
    int records;
} crew;

static void *work(void *arg)
{
    const crew *with = arg;
    for (int i = 0; i < with->records; i++) {
        char record[128];
        snprintf(record, sizeof record,
                 "{\"action\": \"a%d\", \"success\": true, \"time_lapsed\": 2, "
                 "\"gpu\": [\"NVIDIA A100\", \"NVIDIA A100\"]}",
                 i % 10);
        if (count_json(with->processor, with->usage, record, NULL) != SONDE_OK)
            abort();
    }
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    const sonde_builder *builders[] = {sonde_builder_get(0), sonde_builder_get(1),
                                       sonde_builder_get(2), sonde_builder_get(3), NULL};
    crew with = {make(builders), new_usage(), 100000};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &with), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    const int64_t total = (int64_t)THREADS * with.records;
    assert_int_equal(sonde_usage_records(with.usage), total);
    for (int i = 0; i < 10; i++) {
        char name[64];
        snprintf(name, sizeof name, "total_action_a%d_pass", i);
        assert_metric(with.usage, name, total / 10);
        snprintf(name, sizeof name, "gpu_nvidia_a100_action_a%d", i);
        assert_metric(with.usage, name, total / 5);
    }
    assert_metric(with.usage, "tao_job_gpu_total{tao_gpu_type=\"A100\"}", total * 2);
    sonde_usage_destroy(with.usage);
    sonde_processor_destroy(with.processor);
}

/* Records that come again after many others still go to the right metrics: plans are dropped and
   made anew. */
static void plans_never_mix_records_up(void **state)
{
    (void)state;
    enum { KINDS = 40000, ROUNDS = 3 };
    sonde_processor *processor = make(NULL);
    sonde_usage *usage = new_usage();
    for (int i = 0; i < KINDS * ROUNDS; i++) {
        char record[64];
        snprintf(record, sizeof record, "{\"action\": \"a%d\", \"time_lapsed\": %d}", i % KINDS, i);
        assert_int_equal(count_json(processor, usage, record, NULL), SONDE_OK);
    }
    for (int i = 0; i < KINDS; i++) {
        char name[64];
        snprintf(name, sizeof name, "total_action_a%d_fail", i);
        assert_metric(usage, name, ROUNDS);
    }
    assert_int_equal(sonde_usage_count(usage), KINDS * 5 + 1);
    sonde_usage_destroy(usage);
    sonde_processor_destroy(processor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_builder_works_alone),
        cmocka_unit_test(setters_check_type_and_range),
        cmocka_unit_test(builders_run_after_those_they_name),
        cmocka_unit_test(impossible_builders_are_refused),
        cmocka_unit_test(a_builder_needs_its_attributes),
        cmocka_unit_test(a_record_is_counted_wholly_or_not_at_all),
        cmocka_unit_test(metrics_are_summed_or_the_greatest_or_the_last),
        cmocka_unit_test(one_metric_is_aggregated_in_one_way),
        cmocka_unit_test(a_batch_stops_at_the_record_that_fails),
        cmocka_unit_test(what_finds_no_place_is_counted),
        cmocka_unit_test(attributes_are_checked),
        cmocka_unit_test(an_attribute_is_replaced_by_name),
        cmocka_unit_test(threads_lose_nothing),
        cmocka_unit_test(plans_never_mix_records_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
