/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http_fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static bool host(const char *text)
{
    static const char *const allowed[] = {"monitor.example.org"};
    return sonde__host_allowed(text, strlen(text), allowed, 1);
}

static void test_hosts(void **state)
{
    (void)state;
    static const char *const good[] = {"localhost",
                                       "LOCALHOST:9464",
                                       "127.0.0.1",
                                       "127.0.0.1:9464",
                                       "[::1]",
                                       "[::1]:9464",
                                       "10.1.2.3:80",
                                       "a.localhost",
                                       "[fe80::1]:1",
                                       "Monitor.Example.org",
                                       "monitor.example.org:443"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "localhost.evil.example",
                                      ".localhost",
                                      "127.0.0.1.evil.org",
                                      "127.0.0.1:80:80",
                                      "[::1",
                                      "[::1]x",
                                      "[evil]:80",
                                      "localhost:",
                                      "localhost:99999999",
                                      "localhost:8a",
                                      "127.0.0.1@evil",
                                      "monitor.example.org.evil"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(host(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(host(bad[i]));
}

static int quality(const char *accept, const char *type, const char *parameter, bool named)
{
    return sonde__accept_quality(accept, strlen(accept), type, parameter, named);
}

static void test_accept(void **state)
{
    (void)state;
    /* what Prometheus 2.42 sends */
    static const char prometheus[] =
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
        "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    static const char openmetrics[] = "application/openmetrics-text";
    static const char protobuf[] = "application/vnd.google.protobuf";
    static const char proto[] = "proto=io.prometheus.client.MetricFamily";
    assert_int_equal(quality(prometheus, openmetrics, "version=1.0.0", true), 1000);
    assert_int_equal(quality(prometheus, "text/plain", "version=0.0.4", false), 500);
    assert_int_equal(quality(prometheus, protobuf, proto, true), -1);
    assert_int_equal(quality(prometheus, protobuf, proto, false), 100);
    assert_int_equal(quality("*/*", "text/plain", NULL, false), 1000);
    assert_int_equal(quality("text/*;q=0.3, */*;q=0.9", "text/plain", NULL, false), 300);
    assert_int_equal(quality("text/plain;q=0", "text/plain", NULL, false), -1);
    assert_int_equal(quality("application/vnd.google.protobuf;proto=other", protobuf, proto, true),
                     -1);
    assert_int_equal(
        quality("application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
                "encoding=delimited;q=0.7",
                protobuf, proto, true),
        700);
    assert_int_equal(quality("", "text/plain", NULL, false), -1);
    assert_int_equal(quality("text/plain;q=7", "text/plain", NULL, false), -1);
}

static bool gzip(const char *header)
{
    return sonde__accepts_gzip(header, strlen(header));
}

static void test_gzip(void **state)
{
    (void)state;
    assert_true(gzip("gzip"));
    assert_true(gzip("deflate, gzip;q=0.5"));
    assert_true(gzip("*"));
    assert_false(gzip("gzip;q=0"));
    assert_false(gzip("*, gzip;q=0"));
    assert_false(gzip("identity"));
    assert_false(gzip(""));
}

static bool basic(const char *header, sonde__credentials *out)
{
    return sonde__basic_auth_parse(header, strlen(header), out);
}

static void test_basic_auth(void **state)
{
    (void)state;
    sonde__credentials got;
    assert_true(basic("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", &got)); /* RFC 7617 */
    assert_string_equal(got.user, "Aladdin");
    assert_string_equal(got.password, "open sesame");
    assert_true(basic("basic YTpiOmM", &got));
    assert_string_equal(got.user, "a");
    assert_string_equal(got.password, "b:c");
    assert_true(basic("Basic Og==", &got)); /* ":" */
    assert_string_equal(got.user, "");
    assert_false(basic("Bearer QWxhZGRpbg==", &got));
    assert_false(basic("Basic QWxhZGRpbg==", &got)); /* no colon */
    assert_false(basic("Basic !!!!", &got));
    assert_false(basic("Basic YQA6Yg==", &got)); /* a NUL */
    assert_false(basic("Basic", &got));
    char longest[2048] = "Basic ";
    memset(longest + 6, 'Y', 1600);
    assert_false(basic(longest, &got));
}

static bool target(const char *text, sonde__target *out)
{
    return sonde__target_parse(text, strlen(text), out);
}

static void test_targets(void **state)
{
    (void)state;
    static sonde__target got;
    assert_true(target("/api/v1/tasks?session=a%2eb&limit=10&x&y=", &got));
    assert_string_equal(got.path, "/api/v1/tasks");
    assert_string_equal(sonde__target_get(&got, "session"), "a.b");
    assert_string_equal(sonde__target_get(&got, "limit"), "10");
    assert_string_equal(sonde__target_get(&got, "x"), "");
    assert_string_equal(sonde__target_get(&got, "y"), "");
    assert_null(sonde__target_get(&got, "z"));
    assert_true(target("/%6detrics", &got)); /* compared as it is: no such page */
    assert_string_equal(got.path, "/%6detrics");
    assert_true(target("/a?b=c+d%26e", &got));
    assert_string_equal(sonde__target_get(&got, "b"), "c d&e");
    assert_false(target("", &got));
    assert_false(target("/a?b=%0", &got));
    assert_false(target("/a?b=%zz", &got));
    assert_false(target("/a?b=%00", &got));
    assert_false(target("/a?b=%0a", &got));
    assert_false(target("/a?b=1&b=2", &got));
    assert_false(target("/a?a=1&b&c&d&e&f&g&h&i", &got));
    static char large[SONDE__SERVE_TARGET_BYTES + 1];
    memset(large, 'a', sizeof large - 1);
    assert_false(target(large, &got));
}

static void test_counts(void **state)
{
    (void)state;
    size_t count = 7;
    assert_true(sonde__count_parse("100", 100, &count) && count == 100);
    static const char *const bad[] = {"", "0", "101", "-1", "1x", "99999999999999999999", " 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(sonde__count_parse(bad[i], 100, &count));
    assert_int_equal(count, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts),   cmocka_unit_test(test_accept),
        cmocka_unit_test(test_gzip),    cmocka_unit_test(test_basic_auth),
        cmocka_unit_test(test_targets), cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
