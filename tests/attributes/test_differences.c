/* SPDX-License-Identifier: Apache-2.0 */
/* Where Sonde differs from the original without compat: one test for each row of the table in
   docs/attributes.md, showing both. */
#include "attributes_test.h"

#include "attributes/datetime.h"

static sonde_attributes *attributes[2]; /* without and with compat */
static sonde_processor *processors[2];  /* all four builders */

static int set_up(void **state)
{
    (void)state;
    const sonde_builder *builders[] = {sonde_builder_get(0), sonde_builder_get(1),
                                       sonde_builder_get(2), sonde_builder_get(3), NULL};
    for (unsigned compat = 0; compat < 2; compat++) {
        sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
        options.builders = builders;
        sonde_attributes_create(compat ? SONDE_ATTRIBUTES_COMPAT : 0, &attributes[compat]);
        options.attributes = attributes[compat];
        assert_int_equal(sonde_processor_create(&options, &processors[compat], NULL), SONDE_OK);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned compat = 0; compat < 2; compat++) {
        sonde_processor_destroy(processors[compat]);
        sonde_attributes_destroy(attributes[compat]);
    }
    return 0;
}

/* A record counted into an empty map; destroy it. */
static sonde_usage *counted(unsigned compat, const char *json)
{
    sonde_usage *usage = new_usage();
    sonde_attributes_error error = {""};
    sonde_status status = count_json(processors[compat], usage, json, &error);
    if (status != SONDE_OK)
        fail_msg("%s: %s", json, error.text);
    return usage;
}

static bool has(const sonde_usage *usage, const char *metric)
{
    double value;
    return sonde_usage_get(usage, metric, &value) == SONDE_OK;
}

/* The metric without compat, and the one with it. */
static void check_names(const char *json, const char *right, const char *original)
{
    const char *const names[] = {right, original};
    for (unsigned compat = 0; compat < 2; compat++) {
        sonde_usage *usage = counted(compat, json);
        if (!has(usage, names[compat]) || has(usage, names[!compat]))
            fail_msg("%s, compat %u: expected %s and not %s", json, compat, names[compat],
                     names[!compat]);
        sonde_usage_destroy(usage);
    }
}

static void a_network_named_status_keeps_its_status(void **state)
{
    (void)state;
    check_names("{\"network\": \"status\", \"action\": \"train\", \"gpu\": []}",
                "network_status_action_train_version_unknown_status_fail_gpu_0_",
                "network_status_action_train_version_unknown_gpu_0_");
    check_names("{\"version\": \"Status\", \"action\": \"train\", \"gpu\": []}",
                "network_unknown_action_train_version_status_status_fail_gpu_0_",
                "network_unknown_action_train_version_status_gpu_0_");
}

static void null_is_the_default(void **state)
{
    (void)state;
    check_names("{\"network\": null}", "network_unknown_action_unknown",
                "network_none_action_unknown");
    sonde_usage *usage =
        counted(0, "{\"action\": \"a\", \"gpu\": null, \"time_lapsed\": null, \"success\": null}");
    assert_metric(usage, "gpu_unknown_action_a", 1);
    assert_metric(usage, "time_lapsed_today", 0);
    assert_metric(usage, "total_action_a_fail", 1);
    sonde_usage_destroy(usage);
}

#define JOB_TOTAL(user_error)                                                      \
    "tao_job_total{tao_action=\"unknown\",tao_automl_triggered=\"false\","         \
    "tao_client_type=\"container\",tao_gpu_count=\"1\",tao_network=\"unknown\","   \
    "tao_primary_gpu=\"UNKNOWN\",tao_status=\"fail\",tao_user_error=\"" user_error \
    "\",tao_version=\"unknown\"}"

static void null_labels_are_the_default(void **state)
{
    (void)state;
    check_names("{\"user_error\": null}", JOB_TOTAL("false"), JOB_TOTAL("none"));
}

static void a_text_is_one_gpu(void **state)
{
    (void)state;
    check_names("{\"gpu\": \"A100\", \"action\": \"a\"}",
                "network_unknown_action_a_version_unknown_status_fail_gpu_1_A100_1",
                "network_unknown_action_a_version_unknown_status_fail_gpu_4_0_2_1_1_A_1");
}

static void label_values_are_escaped(void **state)
{
    (void)state;
    check_names("{\"gpu\": [\"NVIDIA A\\\"100\\\\x\"]}",
                "tao_job_gpu_total{tao_gpu_type=\"A\\\"100\\\\X\"}",
                "tao_job_gpu_total{tao_gpu_type=\"A\"100\\X\"}");
    check_names("{\"gpu\": [\"X1\\n2\"]}", "tao_job_gpu_total{tao_gpu_type=\"X1\\n2\"}",
                "tao_job_gpu_total{tao_gpu_type=\"X1\n2\"}");
}

/* Seconds of today after two records of 10 and 5 seconds at these times. */
static int64_t today(unsigned compat, const char *first, const char *second)
{
    sonde_usage *usage = new_usage();
    const char *const times[] = {first, second};
    const char *const records[] = {"{\"time_lapsed\": 10}", "{\"time_lapsed\": 5}"};
    for (int i = 0; i < 2; i++) {
        sonde_build_context context = {.now.year = 0};
        assert_int_equal(sonde_datetime_parse(times[i], strlen(times[i]), &context.now), SONDE_OK);
        assert_int_equal(sonde_processor_process_json(processors[compat], usage, records[i],
                                                      strlen(records[i]), &context, NULL),
                         SONDE_OK);
    }
    int64_t value = -1;
    assert_int_equal(sonde_usage_get_int(usage, "time_lapsed_today", &value), SONDE_OK);
    sonde_usage_destroy(usage);
    return value;
}

static void the_day_changes_with_the_date(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        int64_t right, original;
    } cases[] = {
        {"2025-03-15T01:00", "2025-03-15T23:00", 15, 15},
        {"2025-03-15T23:59:59", "2025-03-16T00:00:00", 5, 5},
        {"2025-02-15T12:00", "2025-03-15T12:00", 5, 15},       /* the same day of another month */
        {"2024-03-15T12:00", "2025-03-15T12:00", 5, 15},       /* and of another year */
        {"2025-03-16T00:00:01", "2025-03-15T23:59:59", 15, 5}, /* the clock was set back */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(today(0, cases[i].first, cases[i].second), cases[i].right);
        assert_int_equal(today(1, cases[i].first, cases[i].second), cases[i].original);
    }
}

/* What a record is refused for; nothing of it is counted. */
static void check_refused(const char *json, const char *reason)
{
    sonde_usage *usage = new_usage();
    sonde_attributes_error error = {""};
    assert_int_not_equal(count_json(processors[0], usage, json, &error), SONDE_OK);
    assert_string_equal(error.text, reason);
    assert_int_equal(sonde_usage_count(usage), 0);
    assert_int_equal(sonde_usage_records(usage), 0);
    sonde_usage_destroy(usage);
}

static void wrong_types_are_refused(void **state)
{
    (void)state;
    check_refused("{\"success\": \"false\"}", "success is text; expected true or false");
    check_refused("{\"success\": 1}", "success is a number; expected true or false");
    check_refused("{\"network\": {\"k\": 1}}", "network is an object; expected text");
    check_refused("{\"network\": [\"a\"]}", "network is a list; expected text");
    check_refused("{\"gpu\": 3}", "gpu is a number; expected a list of texts");
    check_refused("{\"gpu\": [\"A100\", null]}", "gpu has null in it; expected texts only");
    check_refused("{\"time_lapsed\": \"10\"}", "time_lapsed is text; expected seconds");
    check_refused("{\"time_lapsed\": true}", "time_lapsed is true or false; expected seconds");
    check_refused("[1]", "the record is a list; expected an object");
    check_refused("17", "the record is a number; expected an object");
}

static void times_out_of_range_are_refused(void **state)
{
    (void)state;
    check_refused("{\"time_lapsed\": -1}", "time_lapsed: -1 is negative; expected seconds");
    check_refused("{\"time_lapsed\": -0.5}", "time_lapsed: -0.5 is negative; expected seconds");
    check_refused("{\"time_lapsed\": 1e11}",
                  "time_lapsed: 1e11 is more than three centuries; expected seconds");
    check_refused("{\"time_lapsed\": 1e999}",
                  "time_lapsed: 1e999 is more than three centuries; expected seconds");
    check_refused(
        "{\"time_lapsed\": 9223372036854775808}",
        "time_lapsed: 9223372036854775808 is more than three centuries; expected seconds");
    sonde_usage *usage = counted(1, "{\"time_lapsed\": -1}");
    assert_metric(usage, "time_lapsed_today", -1);
    sonde_usage_destroy(usage);
}

static void a_key_given_twice_is_refused(void **state)
{
    (void)state;
    const char *json = "{\"action\": \"a\", \"action\": \"b\"}";
    check_refused(json, "action is given twice");
    check_refused("{\"action\": \"a\", \"\\u0061ction\": \"b\"}", "action is given twice");
    sonde_usage *usage = counted(1, json);
    assert_metric(usage, "total_action_b_fail", 1);
    sonde_usage_destroy(usage);
}

/* The original leaves behind what its builders had counted before one failed. */
static void a_failure_leaves_nothing_behind(void **state)
{
    (void)state;
    const char *json = "{\"action\": \"a\", \"time_lapsed\": \"10\"}";
    check_refused(json, "time_lapsed is text; expected seconds");
    sonde_usage *usage = new_usage();
    sonde_attributes_error error = {""};
    assert_int_equal(count_json(processors[1], usage, json, &error), SONDE_EBADDATA);
    assert_string_equal(error.text, "builder time: time_lapsed is not a number");
    assert_metric(usage, "total_action_a_fail", 1);
    assert_false(has(usage, "time_lapsed_today"));
    assert_int_equal(sonde_usage_records(usage), 0);
    sonde_usage_destroy(usage);
}

static void a_metric_that_is_text_refuses_the_record(void **state)
{
    (void)state;
    const char *document = "{\"version_unknown_action_a\": \"5\"}";
    for (unsigned compat = 0; compat < 2; compat++) {
        sonde_usage *usage = new_usage();
        sonde_attributes_error error = {""};
        assert_int_equal(sonde_usage_import_json(usage, document, strlen(document), 0, NULL, NULL),
                         SONDE_OK);
        assert_int_equal(count_json(processors[compat], usage, "{\"action\": \"a\"}", &error),
                         SONDE_EBADDATA);
        assert_string_equal(error.text,
                            "metric version_unknown_action_a is not a number; remove it "
                            "or rename it");
        /* compat: what came before it stays */
        assert_int_equal(sonde_usage_count(usage), 1 + compat);
        sonde_usage_destroy(usage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_named_status_keeps_its_status),
        cmocka_unit_test(null_is_the_default),
        cmocka_unit_test(null_labels_are_the_default),
        cmocka_unit_test(a_text_is_one_gpu),
        cmocka_unit_test(label_values_are_escaped),
        cmocka_unit_test(the_day_changes_with_the_date),
        cmocka_unit_test(wrong_types_are_refused),
        cmocka_unit_test(times_out_of_range_are_refused),
        cmocka_unit_test(a_key_given_twice_is_refused),
        cmocka_unit_test(a_failure_leaves_nothing_behind),
        cmocka_unit_test(a_metric_that_is_text_refuses_the_record),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
