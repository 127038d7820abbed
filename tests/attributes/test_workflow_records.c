/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that Sonde recorded, counted as usage records. */
#include "attributes_test.h"

#include "sonde/session.h"

#include <unistd.h>

static char folder[] = "/tmp/sonde-workflows-XXXXXX";
static sonde_processor *processor;
static sonde_usage *usage;

static int set_up(void **state)
{
    (void)state;
    unsetenv("SONDE_SESSION");
    unsetenv("SONDE_DISABLED");
    assert_non_null(mkdtemp(folder));
    usage = new_usage();
    return sonde_processor_create(NULL, &processor, NULL) == SONDE_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sonde_processor_destroy(processor);
    sonde_usage_destroy(usage);
    char command[sizeof folder + 16];
    snprintf(command, sizeof command, "rm -r %s", folder); /* with the logs of its sessions */
    return system(command);
}

static sonde_attr text_attr(const char *key, sonde_attr_type type, const char *text)
{
    sonde_attr attr = {.group = SONDE_USED, .type = type, .key = key};
    attr.value.s.data = text;
    attr.value.s.len = attr.value.s.full_len = strlen(text);
    return attr;
}

/* Records a workflow; its path is to be removed. */
static sonde_session *begin(const char *name, const sonde_attr *attrs, size_t count)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = folder;
    options.workflow_name = name;
    options.attrs = attrs;
    options.attr_count = count;
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("w", &options, &session), SONDE_OK);
    return session;
}

static sonde_status count_session(const char *path, size_t expected, sonde_attributes_error *error)
{
    size_t counted = 99;
    sonde_status status =
        sonde_processor_process_session(processor, usage, path, NULL, &counted, error);
    assert_int_equal(counted, expected);
    return status;
}

static void finished_workflows_are_counted(void **state)
{
    (void)state;
    sonde_attr attrs[] = {text_attr("network", SONDE_ATTR_STRING, "ResNet-50"),
                          text_attr("version", SONDE_ATTR_STRING, "old"),
                          text_attr("version", SONDE_ATTR_STRING, "5.3.0"),
                          text_attr("gpu", SONDE_ATTR_JSON, "[\"NVIDIA A100\", \"NVIDIA A100\"]"),
                          text_attr("unrelated", SONDE_ATTR_STRING, "x")};
    sonde_session *session = begin("train", attrs, 5);
    char *path = strdup(sonde_session_path(session));
    assert_int_equal(count_session(path, 0, NULL), SONDE_OK); /* it is still running */
    sonde_close(session);
    assert_int_equal(count_session(path, 1, NULL), SONDE_OK);
    assert_metric(usage, "total_action_train_pass", 1);
    assert_metric(
        usage, "network_resnet_50_action_train_version_5_3_0_status_pass_gpu_2_NVIDIA_A100_2", 1);
    double seconds = -1;
    assert_int_equal(sonde_usage_get(usage, "time_lapsed_today", &seconds), SONDE_OK);
    assert_true(seconds > 0 && seconds < 60);
    assert_int_equal(unlink(path), 0);
    free(path);
}

static void a_workflow_that_failed_is_a_failure(void **state)
{
    (void)state;
    sonde_session *session = begin("export", NULL, 0);
    char *path = strdup(sonde_session_path(session));
    sonde_close_with(session, SONDE_ERROR, "no space", NULL, 0);
    assert_int_equal(count_session(path, 1, NULL), SONDE_OK);
    assert_metric(usage, "total_action_export_fail", 1);
    assert_metric(usage, "gpu_unknown_action_export", 1);
    assert_int_equal(unlink(path), 0);
    free(path);
}

/* What the workflow says itself goes before what is derived, and is checked as in any record. */
static void attributes_of_the_workflow_hold(void **state)
{
    (void)state;
    sonde_attr good[] = {text_attr("action", SONDE_ATTR_STRING, "Fine-Tune"),
                         {.group = SONDE_METADATA, .type = SONDE_ATTR_BOOL, .key = "success"},
                         text_attr("network", SONDE_ATTR_BYTES, "not a text")};
    sonde_session *session = begin("train", good, 3);
    char *path = strdup(sonde_session_path(session));
    sonde_close(session);
    assert_int_equal(count_session(path, 1, NULL), SONDE_OK);
    assert_metric(usage, "total_action_fine_tune_fail", 1);
    assert_metric(usage, "network_unknown_action_fine_tune", 1);
    assert_int_equal(unlink(path), 0);
    free(path);

    sonde_attr bad[] = {{.group = SONDE_USED, .type = SONDE_ATTR_INT, .key = "gpu"}};
    sonde_attributes_error error = {""};
    session = begin("train", bad, 1);
    path = strdup(sonde_session_path(session));
    sonde_close(session);
    assert_int_equal(count_session(path, 0, &error), SONDE_EBADDATA);
    assert_string_equal(error.text, "gpu is a number; expected a list of texts");
    assert_int_equal(unlink(path), 0);
    free(path);
}

static void a_session_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    sonde_attributes_error error = {""};
    assert_int_equal(count_session("/nowhere/w.sonde", 0, &error), SONDE_EABSENT);
    assert_true(error.text[0] != '\0');
}

static size_t count_into(sonde_usage_file *file, const char *path)
{
    size_t counted = 99;
    assert_int_equal(sonde_processor_process_session(processor, sonde_usage_file_pending(file),
                                                     path, NULL, &counted, NULL),
                     SONDE_OK);
    return counted;
}

/* In one map, in a file, after its compaction, and by two processes at the same moment. */
static void a_session_is_counted_once(void **state)
{
    (void)state;
    char state_path[sizeof folder + 16];
    snprintf(state_path, sizeof state_path, "%s/state", folder);
    sonde_session *session = begin("once", NULL, 0);
    char *path = strdup(sonde_session_path(session));
    sonde_close(session);
    assert_int_equal(count_session(path, 1, NULL), SONDE_OK);
    assert_int_equal(count_session(path, 0, NULL), SONDE_OK);
    assert_metric(usage, "total_action_once_pass", 1);

    sonde_usage_file *one;
    sonde_usage_file *two;
    const sonde_usage *view;
    assert_int_equal(sonde_usage_file_open(state_path, 0, &one), SONDE_OK);
    assert_int_equal(sonde_usage_file_open(state_path, 0, &two), SONDE_OK);
    assert_int_equal(count_into(one, path), 1);
    assert_int_equal(count_into(two, path), 1);
    assert_int_equal(sonde_usage_file_commit(one), SONDE_OK);
    assert_int_equal(sonde_usage_file_commit(two), SONDE_EBUSY);
    assert_int_equal(count_into(one, path), 0);
    sonde_usage_file_close(two);
    assert_int_equal(sonde_usage_file_import(one, "{\"a\": 1}", 8, 0, NULL, NULL), SONDE_OK);
    sonde_usage_file_close(one); /* the import wrote a snapshot */
    assert_int_equal(sonde_usage_file_open(state_path, 0, &one), SONDE_OK);
    assert_int_equal(count_into(one, path), 0);
    assert_int_equal(sonde_usage_file_refresh(one, &view), SONDE_OK);
    assert_metric(view, "total_action_once_pass", 1);
    sonde_usage_file_close(one);
    assert_int_equal(unlink(state_path) | unlink(path), 0);
    free(path);
}

/* With attributes.enabled, closing a session counts it, with what it was opened and closed with. */
static void closing_counts_the_workflow(void **state)
{
    (void)state;
    char settings[sizeof folder + 32];
    char metrics[sizeof folder + 32];
    snprintf(settings, sizeof settings, "%s/settings.yaml", folder);
    snprintf(metrics, sizeof metrics, "%s/usage.metrics", folder);
    FILE *file = fopen(settings, "w");
    assert_non_null(file);
    assert_true(fputs("attributes: {enabled: true, builders: [legacy]}\n", file) >= 0);
    fclose(file);
    setenv("SONDE_SETTINGS", settings, 1);
    sonde_attr at_start = text_attr("network", SONDE_ATTR_STRING, "ResNet-50");
    sonde_attr at_end = text_attr("version", SONDE_ATTR_STRING, "5.3.0");
    sonde_session *session = begin("train", &at_start, 1);
    char *path = strdup(sonde_session_path(session));
    sonde_close_with(session, SONDE_FINISHED, NULL, &at_end, 1);
    unsetenv("SONDE_SETTINGS");
    sonde_usage_file *state_file;
    const sonde_usage *view;
    assert_int_equal(sonde_usage_file_open(metrics, 0, &state_file), SONDE_OK);
    assert_int_equal(sonde_usage_file_refresh(state_file, &view), SONDE_OK);
    assert_metric(view, "total_action_train_pass", 1);
    assert_metric(view, "network_resnet_50_action_train", 1);
    assert_metric(view, "version_5_3_0_action_train", 1);
    assert_int_equal(count_into(state_file, path), 0); /* the file has it */
    sonde_usage_file_close(state_file);
    assert_int_equal(unlink(settings) | unlink(metrics) | unlink(path), 0);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finished_workflows_are_counted),
        cmocka_unit_test(a_workflow_that_failed_is_a_failure),
        cmocka_unit_test(attributes_of_the_workflow_hold),
        cmocka_unit_test(a_session_that_is_not_there_is_an_error),
        cmocka_unit_test(a_session_is_counted_once),
        cmocka_unit_test(closing_counts_the_workflow),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
