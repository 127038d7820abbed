/* SPDX-License-Identifier: Apache-2.0 */
#include "record/metric_fill.h"
#include "sonde/encode.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static sonde_metric counter_of(const char *name, uint64_t value, const sonde_label *labels,
                               size_t count)
{
    return (sonde_metric){.kind = SONDE_METRIC_COUNTER,
                          .name = name,
                          .help = "Help",
                          .labels = labels,
                          .label_count = count,
                          .counter = value};
}

static void fill(sonde_metric_set *set, const sonde_metric *metrics, size_t count)
{
    sonde__metric_set_begin(set);
    for (size_t i = 0; i < count; i++)
        assert_true(sonde__metric_set_put(set, &metrics[i]));
    assert_int_equal(sonde__metric_set_end(set), SONDE_OK);
}

static void add(sonde_view *view, const sonde_metric_set *set, const sonde_label *labels,
                size_t count)
{
    sonde_view_source source = {
        .size = sizeof source, .metrics = set, .labels = labels, .label_count = count};
    assert_int_equal(sonde_view_add(view, &source), SONDE_OK);
}

static void expect(sonde_view *view, sonde_format format, const char *text)
{
    const char *data;
    size_t len;
    assert_int_equal(sonde_encode(view, format, NULL, &data, &len), SONDE_OK);
    char *copy = strndup(data, len);
    assert_string_equal(copy, text);
    free(copy);
}

static void label_values_are_escaped_and_made_utf8(void **state)
{
    (void)state;
    sonde_metric_set *set = sonde_metric_set_create();
    sonde_view *view = sonde_view_create();
    sonde_label labels[] = {{"path", "C:\\dir\n\"x\""}, {"raw", "a\xff\xc3z\xe2\x82\xac"}};
    sonde_metric metric = counter_of("hits_total", 7, labels, 2);
    fill(set, &metric, 1);
    sonde_view_begin(view, 1);
    add(view, set, NULL, 0);
    expect(view, SONDE_FORMAT_PROMETHEUS,
           "# HELP hits_total Help\n# TYPE hits_total counter\n"
           "hits_total{path=\"C:\\\\dir\\n\\\"x\\\"\",raw="
           "\"a\xef\xbf\xbd\xef\xbf\xbdz\xe2\x82\xac\"} 7\n");
    expect(view, SONDE_FORMAT_OPENMETRICS,
           "# HELP hits Help\n# TYPE hits counter\n"
           "hits_total{path=\"C:\\\\dir\\n\\\"x\\\"\",raw="
           "\"a\xef\xbf\xbd\xef\xbf\xbdz\xe2\x82\xac\"} 7\n"
           "# EOF\n");
    sonde_view_destroy(view);
    sonde_metric_set_destroy(set);
}

/* Series of one name stand together whoever has them; new values, new series and sources that went
   away are seen although what labels look like is remembered. */
static void a_view_is_filled_again_and_again(void **state)
{
    (void)state;
    sonde_metric_set *a = sonde_metric_set_create();
    sonde_metric_set *b = sonde_metric_set_create();
    sonde_view *view = sonde_view_create();
    sonde_label own[] = {{"pid", "mine"}};
    sonde_metric metrics[] = {counter_of("x_total", 1, own, 1), counter_of("y_total", 2, NULL, 0),
                              counter_of("z_total", 3, NULL, 0)};
    sonde_label first[] = {{"pid", "1"}};
    sonde_label second[] = {{"pid", "2"}};
    fill(a, metrics, 2);
    fill(b, metrics, 2);
    sonde_view_begin(view, 1);
    add(view, a, first, 1);
    add(view, b, second, 1);
    expect(
        view, SONDE_FORMAT_PROMETHEUS,
        "# HELP x_total Help\n# TYPE x_total counter\n"
        "x_total{pid=\"1\",exported_pid=\"mine\"} 1\nx_total{pid=\"2\",exported_pid=\"mine\"} 1\n"
        "# HELP y_total Help\n# TYPE y_total counter\n"
        "y_total{pid=\"1\"} 2\ny_total{pid=\"2\"} 2\n");
    metrics[1].counter = 20;
    fill(b, metrics, 3);
    sonde_view_begin(view, 2);
    add(view, a, first, 1);
    add(view, b, second, 1);
    expect(
        view, SONDE_FORMAT_PROMETHEUS,
        "# HELP x_total Help\n# TYPE x_total counter\n"
        "x_total{pid=\"1\",exported_pid=\"mine\"} 1\nx_total{pid=\"2\",exported_pid=\"mine\"} 1\n"
        "# HELP y_total Help\n# TYPE y_total counter\n"
        "y_total{pid=\"1\"} 2\ny_total{pid=\"2\"} 20\n"
        "# HELP z_total Help\n# TYPE z_total counter\nz_total{pid=\"2\"} 3\n");
    fill(b, &metrics[1], 1);
    sonde_view_begin(view, 3);
    add(view, b, second, 1);
    expect(view, SONDE_FORMAT_PROMETHEUS,
           "# HELP y_total Help\n# TYPE y_total counter\ny_total{pid=\"2\"} 20\n");
    sonde_view_destroy(view);
    sonde_metric_set_destroy(a);
    sonde_metric_set_destroy(b);
}

static void a_name_of_two_kinds_is_left_out_and_counted(void **state)
{
    (void)state;
    sonde_metric_set *set = sonde_metric_set_create();
    sonde_view *view = sonde_view_create();
    sonde_metric metrics[] = {counter_of("x_total", 1, NULL, 0), counter_of("x_total", 1, NULL, 0)};
    metrics[1].kind = SONDE_METRIC_GAUGE;
    fill(set, metrics, 2);
    sonde_view_begin(view, 1);
    add(view, set, NULL, 0);
    expect(view, SONDE_FORMAT_PROMETHEUS,
           "# HELP x_total Help\n# TYPE x_total counter\nx_total 1\n");
    assert_int_equal(sonde_view_skipped(view), 1);
    sonde_view_destroy(view);
    sonde_metric_set_destroy(set);
}

static void what_would_write_lines_of_its_own_is_left_out(void **state)
{
    (void)state;
    sonde_metric_set *set = sonde_metric_set_create();
    sonde_view *view = sonde_view_create();
    sonde_label bad_key[] = {{"a\"} 1\nfake", "x"}};
    sonde_label twice[] = {{"a", "x"}, {"a", "y"}};
    sonde_metric metrics[] = {counter_of("x 1\nfake_total", 1, NULL, 0),
                              counter_of("", 1, NULL, 0),
                              counter_of("1x", 1, NULL, 0),
                              counter_of("y_total", 1, bad_key, 1),
                              counter_of("y_total", 1, twice, 2),
                              counter_of("ok:1_total", 2, NULL, 0)};
    fill(set, metrics, 6);
    sonde_view_begin(view, 1);
    add(view, set, NULL, 0);
    expect(view, SONDE_FORMAT_PROMETHEUS,
           "# HELP ok:1_total Help\n# TYPE ok:1_total counter\nok:1_total 2\n");
    assert_int_equal(sonde_view_skipped(view), 5);
    sonde_view_destroy(view);
    sonde_metric_set_destroy(set);
}

static void histograms_have_exact_octaves(void **state)
{
    (void)state;
    sonde_metric_set *set = sonde_metric_set_create();
    sonde_view *view = sonde_view_create();
    sonde_octave octaves[2] = {{.exponent = -1, .count = 3}, {.exponent = 1, .count = 2}};
    octaves[0].bucket[5] = 3;
    octaves[1].bucket[63] = 2;
    sonde_distribution d = {.count = 8,
                            .sum = 9.5,
                            .min = 0,
                            .max = 4,
                            .zero = 1,
                            .under = 1,
                            .over = 1,
                            .octave_count = 2,
                            .octaves = octaves};
    sonde_metric metric = {
        .kind = SONDE_METRIC_HISTOGRAM, .name = "h_seconds", .help = "H", .histogram = &d};
    fill(set, &metric, 1);
    sonde_view_begin(view, 1);
    add(view, set, NULL, 0);
    expect(view, SONDE_FORMAT_OPENMETRICS,
           "# HELP h_seconds H\n# TYPE h_seconds histogram\n# UNIT h_seconds seconds\n"
           "h_seconds_bucket{le=\"0.0\"} 1\nh_seconds_bucket{le=\"1.0\"} 5\n"
           "h_seconds_bucket{le=\"2.0\"} 5\nh_seconds_bucket{le=\"4.0\"} 7\n"
           "h_seconds_bucket{le=\"+Inf\"} 8\nh_seconds_sum 9.5\nh_seconds_count 8\n# EOF\n");
    sonde_view_destroy(view);
    sonde_metric_set_destroy(set);
}

static void formats_are_known_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < SONDE_FORMAT_COUNT; i++) {
        const sonde_format_info *info = sonde_format_describe((sonde_format)i);
        sonde_format found;
        assert_int_equal(sonde_format_parse(info->name, &found), SONDE_OK);
        assert_int_equal(found, i);
        assert_true(info->metrics || info->records);
    }
    assert_null(sonde_format_describe(SONDE_FORMAT_COUNT));
    sonde_format untouched = SONDE_FORMAT_CSV;
    assert_int_equal(sonde_format_parse("prometeus", &untouched), SONDE_EINVAL);
    assert_int_equal(untouched, SONDE_FORMAT_CSV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(label_values_are_escaped_and_made_utf8),
        cmocka_unit_test(a_view_is_filled_again_and_again),
        cmocka_unit_test(a_name_of_two_kinds_is_left_out_and_counted),
        cmocka_unit_test(what_would_write_lines_of_its_own_is_left_out),
        cmocka_unit_test(histograms_have_exact_octaves),
        cmocka_unit_test(formats_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
