/* SPDX-License-Identifier: Apache-2.0 */
/* Who is let in, who has to go, and when: deadlines are absolute. Also what /healthz judges by. */
#include "serve/connections.h"
#include "serve/health.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t ms = 1000000;
static int closed[1024];
static size_t closed_count;

static void note_close(int fd)
{
    closed[closed_count++] = fd;
}

static sonde__listen_address peer(const char *text)
{
    sonde__listen_address out;
    char error[512];
    assert_true(sonde__listen_parse(text, &out, error, sizeof error));
    return out;
}

static bool is_local(const char *text)
{
    sonde__listen_address at = peer(text);
    return sonde__address_is_local(&at.at.any);
}

static sonde__connection *add(sonde__connections *all, int fd, const char *from, uint64_t now_ns)
{
    sonde__listen_address at = peer(from);
    return sonde__connections_add(all, fd, &at.at.any, at.len, now_ns);
}

static sonde__connections *fresh(size_t most)
{
    static sonde__connections all;
    sonde__connections_init(&all, most, note_close);
    closed_count = 0;
    return &all;
}

static void test_slow_headers_end_whatever_is_sent(void **state)
{
    (void)state;
    sonde__connections *all = fresh(8);
    sonde__connection *one = add(all, 3, "127.0.0.1:1", 0);
    assert_non_null(one);
    assert_int_equal(sonde__connections_expire(all, 1000 * ms), 4000 * ms);
    assert_int_equal(closed_count, 0);
    sonde__connections_expire(all, 5000 * ms);
    assert_int_equal(closed_count, 1);
    assert_int_equal(closed[0], 3);
    assert_int_equal(all->expired, 1);
    assert_int_equal(all->used, 0);
    /* a late completion does not bring it back */
    sonde__connections_phase(all, one, SONDE__PHASE_ANSWER, 5001 * ms);
    assert_int_equal(one->phase, SONDE__PHASE_CLOSING);
    sonde__connections_remove(all, one);
    assert_int_equal(one->phase, SONDE__PHASE_FREE);
    assert_int_equal(all->used, 0);
}

static void test_every_phase_has_its_deadline(void **state)
{
    (void)state;
    static const struct {
        sonde__phase phase;
        uint64_t limit_ms;
    } phases[] = {{SONDE__PHASE_HEADER, SONDE__SERVE_HEADER_MS},
                  {SONDE__PHASE_IDLE, SONDE__SERVE_IDLE_MS},
                  {SONDE__PHASE_ANSWER, SONDE__SERVE_ANSWER_MS},
                  {SONDE__PHASE_STREAM, SONDE__SERVE_ANSWER_MS}};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        sonde__connections *all = fresh(8);
        sonde__connection *one = add(all, 3, "127.0.0.1:1", 0);
        sonde__connections_phase(all, one, phases[i].phase, 100 * ms);
        sonde__connections_expire(all, (100 + phases[i].limit_ms) * ms - 1);
        assert_int_equal(closed_count, 0);
        sonde__connections_expire(all, (100 + phases[i].limit_ms) * ms);
        assert_int_equal(closed_count, 1);
    }
}

static void test_the_oldest_incomplete_goes(void **state)
{
    (void)state;
    sonde__connections *all = fresh(3);
    sonde__connection *idle = add(all, 10, "127.0.0.1:1", 0);
    sonde__connections_phase(all, idle, SONDE__PHASE_IDLE, 1);
    add(all, 11, "127.0.0.1:1", 100 * ms);
    add(all, 12, "127.0.0.1:1", 200 * ms);
    /* a header that takes more than a second goes before an older idle one */
    assert_non_null(add(all, 13, "127.0.0.1:1", 1150 * ms));
    assert_int_equal(closed[0], 11);
    /* no such header: whoever is in its phase for the longest */
    assert_non_null(add(all, 14, "127.0.0.1:1", 1160 * ms));
    assert_int_equal(closed[1], 10);
    assert_int_equal(all->evicted, 2);
    assert_int_equal(all->used, 3);
}

static void test_streams_are_kept(void **state)
{
    (void)state;
    sonde__connections *all = fresh(2);
    for (int fd = 3; fd < 5; fd++)
        sonde__connections_phase(all, add(all, fd, "127.0.0.1:1", 0), SONDE__PHASE_STREAM, 0);
    assert_null(add(all, 9, "127.0.0.1:1", 10));
    assert_int_equal(all->refused, 1);
    assert_int_equal(closed_count, 0);
}

static void test_one_address_does_not_take_all(void **state)
{
    (void)state;
    sonde__connections *all = fresh(256);
    for (int i = 0; i < SONDE__SERVE_PER_ADDRESS; i++)
        assert_non_null(add(all, 10 + i, "192.0.2.7:1", 0));
    assert_null(add(all, 99, "192.0.2.7:9", 0));
    assert_non_null(add(all, 100, "192.0.2.8:9", 0));
    for (int i = 0; i < 2 * SONDE__SERVE_PER_ADDRESS; i++) {
        assert_non_null(add(all, 200 + i, "127.0.0.1:1", 0));
        assert_non_null(add(all, 300 + i, "[::1]:1", 0));
    }
    assert_int_equal(all->refused, 1);
}

static void test_places_do_not_leak(void **state)
{
    (void)state;
    sonde__connections *all = fresh(4);
    for (int i = 0; i < 500; i++) {
        sonde__connection *one = add(all, 3, "127.0.0.1:1", (uint64_t)i * ms);
        assert_non_null(one);
        for (size_t k = 0; k < sizeof all->list / sizeof all->list[0]; k++)
            if (all->list[k].phase == SONDE__PHASE_CLOSING)
                sonde__connections_remove(all, &all->list[k]);
    }
    assert_int_equal(all->used, 4);
    assert_int_equal(all->evicted, 496);
}

static void test_addresses(void **state)
{
    (void)state;
    sonde__listen_address at;
    char error[512];
    static const char *const bad[] = {
        "",        "9464",   "localhost", "127.0.0.1:", "1.2.3:80",     ":99999",     "[::1]",
        "[::1:80", "::1:80", "host:80",   "unix:",      "127.0.0.1:8x", "[fe80::x]:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(sonde__listen_parse(bad[i], &at, error, sizeof error));
        assert_non_null(strstr(error, "expected ADDRESS:PORT"));
    }
    assert_true(is_local("127.9.9.9:1"));
    assert_true(is_local("localhost:1"));
    assert_true(is_local("[::1]:1"));
    assert_true(is_local("[::ffff:127.0.0.1]:1"));
    assert_true(is_local("unix:/x"));
    assert_false(is_local(":1"));
    assert_false(is_local("0.0.0.0:1"));
    assert_false(is_local("[::ffff:10.0.0.1]:1"));
    char text[128];
    at = peer("[::1]:9464");
    sonde__listen_text(&at.at.any, text, sizeof text);
    assert_string_equal(text, "[::1]:9464");
}

static void test_health(void **state)
{
    (void)state;
    sonde__health facts = {.now_ns = 10000 * ms,
                           .started_ns = 1 * ms,
                           .interval_ns = 1000 * ms,
                           .tick_ns = 9500 * ms,
                           .host = true,
                           .host_ns = 9000 * ms};
    assert_null(sonde__health_problem(&facts));
    facts.host_ns = 4999 * ms;
    assert_non_null(strstr(sonde__health_problem(&facts), "machine"));
    facts.host = false;
    assert_null(sonde__health_problem(&facts));
    facts.tick_ns = 4999 * ms;
    assert_non_null(strstr(sonde__health_problem(&facts), "snapshot"));
    /* just started: nothing has had its time yet */
    facts = (sonde__health){
        .now_ns = 10000 * ms, .started_ns = 9000 * ms, .interval_ns = 1000 * ms, .host = true};
    assert_null(sonde__health_problem(&facts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_headers_end_whatever_is_sent),
        cmocka_unit_test(test_every_phase_has_its_deadline),
        cmocka_unit_test(test_the_oldest_incomplete_goes),
        cmocka_unit_test(test_streams_are_kept),
        cmocka_unit_test(test_one_address_does_not_take_all),
        cmocka_unit_test(test_places_do_not_leak),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_health),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
