/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static sonde__buf buf;
static sonde__json json;

static int set_up(void **state)
{
    (void)state;
    sonde__buf_init(&buf, 1 << 20);
    sonde__json_init(&json, &buf);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sonde__buf_free(&buf);
    return 0;
}

static void assert_written(const char *expected)
{
    assert_int_equal(buf.status, SONDE_OK);
    sonde__buf_char(&buf, '\0');
    assert_string_equal(buf.data, expected);
    sonde__buf_clear(&buf);
}

static void empty_levels(void **state)
{
    (void)state;
    sonde__json_begin_object(&json);
    sonde__json_end_object(&json);
    assert_written("{}");
    sonde__json_begin_array(&json);
    sonde__json_end_array(&json);
    assert_written("[]");
}

static void every_kind_of_value(void **state)
{
    (void)state;
    sonde__json_begin_array(&json);
    sonde__json_string(&json, "text");
    sonde__json_uint(&json, UINT64_MAX);
    sonde__json_int(&json, INT64_MIN);
    sonde__json_double(&json, 0.1);
    sonde__json_double(&json, 3);
    sonde__json_bool(&json, true);
    sonde__json_bool(&json, false);
    sonde__json_null(&json);
    sonde__json_raw(&json, "{\"a\":1}", 7);
    sonde__json_end_array(&json);
    assert_written("[\"text\",18446744073709551615,-9223372036854775808,0.1,3.0,true,false,null,"
                   "{\"a\":1}]");
}

static void commas_and_colons_across_levels(void **state)
{
    (void)state;
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "a");
    sonde__json_begin_array(&json);
    sonde__json_begin_object(&json);
    sonde__json_end_object(&json);
    sonde__json_begin_array(&json);
    sonde__json_int(&json, -1);
    sonde__json_int(&json, 2);
    sonde__json_end_array(&json);
    sonde__json_end_array(&json);
    sonde__json_key_n(&json, "bcd", 1);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "x");
    sonde__json_null(&json);
    sonde__json_end_object(&json);
    sonde__json_key(&json, "");
    sonde__json_bool(&json, true);
    sonde__json_end_object(&json);
    assert_written("{\"a\":[{},[-1,2]],\"b\":{\"x\":null},\"\":true}");
}

static void values_at_the_top_have_no_comma(void **state)
{
    (void)state;
    sonde__json_begin_object(&json);
    sonde__json_end_object(&json);
    sonde__buf_char(&buf, '\n');
    sonde__json_uint(&json, 1);
    sonde__buf_char(&buf, '\n');
    sonde__json_begin_array(&json);
    sonde__json_end_array(&json);
    assert_written("{}\n1\n[]");
}

static void not_a_number_is_null(void **state)
{
    (void)state;
    sonde__json_begin_array(&json);
    sonde__json_double(&json, NAN);
    sonde__json_double(&json, INFINITY);
    sonde__json_double(&json, -INFINITY);
    sonde__json_double(&json, -0.0);
    sonde__json_end_array(&json);
    assert_written("[null,null,null,-0.0]");
}

static void text_is_made_valid(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"", "\"\""},
        {"plain / 'text' <&>", "\"plain / 'text' <&>\""},
        {"say \"hi\" \\ there", "\"say \\\"hi\\\" \\\\ there\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x0b\x0e\x1f", "\"\\u0001\\u000b\\u000e\\u001f\""},
        {"\x7f", "\"\x7f\""},
        {"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xe2\x80\xa7|\xe2\x80\xa8|\xe2\x80\xa9|\xe2\x80\xb8",
         "\"\xe2\x80\xa7|\\u2028|\\u2029|\xe2\x80\xb8\""},
        {"\xff", "\"\xef\xbf\xbd\""},
        {"a\xc3", "\"a\xef\xbf\xbd\""},
        {"a\xe2\x80", "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\x80z", "\"\xef\xbf\xbd\xef\xbf\xbdz\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe2\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\\\"\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sonde__json_string(&json, cases[i].text);
        assert_written(cases[i].expected);
        sonde__json_begin_object(&json);
        sonde__json_key(&json, cases[i].text);
        sonde__json_null(&json);
        sonde__json_end_object(&json);
        char object[128];
        snprintf(object, sizeof object, "{%s:null}", cases[i].expected);
        assert_written(object);
    }
}

static void nul_is_a_character_like_others(void **state)
{
    (void)state;
    sonde__json_string_n(&json, "a\0b", 3);
    assert_written("\"a\\u0000b\"");
}

/* The escape is found whatever its place in the words of eight bytes that are scanned. */
static void each_special_byte_at_each_offset(void **state)
{
    (void)state;
    for (size_t at = 0; at < 24; at++) {
        for (int c = 1; c < 256; c++) {
            char text[25];
            memset(text, 'k', 24);
            text[at] = (char)c;
            sonde__json_string_n(&json, text, 24);
            bool plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
            assert_true(plain == (buf.len == 26));
            assert_memory_equal(buf.data + 1, text, at);
            assert_memory_equal(buf.data + buf.len - 1 - (23 - at), text + at + 1, 23 - at);
            sonde__buf_clear(&buf);
        }
    }
}

static void a_full_buffer_keeps_a_clean_prefix(void **state)
{
    (void)state;
    static const char whole[] = "{\"key\":[1.5,\"a\\nb\",null]}";
    for (size_t cap = 0; cap < sizeof whole; cap++) {
        char memory[sizeof whole];
        sonde__buf small;
        sonde__json writer;
        sonde__buf_init_fixed(&small, memory, cap);
        sonde__json_init(&writer, &small);
        sonde__json_begin_object(&writer);
        sonde__json_key(&writer, "key");
        sonde__json_begin_array(&writer);
        sonde__json_double(&writer, 1.5);
        sonde__json_string(&writer, "a\nb");
        sonde__json_null(&writer);
        sonde__json_end_array(&writer);
        sonde__json_end_object(&writer);
        assert_int_equal(small.status, cap == sizeof whole - 1 ? SONDE_OK : SONDE_ELIMIT);
        assert_true(small.len <= cap);
        assert_memory_equal(memory, whole, small.len);
    }
}

static void deepest_nesting(void **state)
{
    (void)state;
    for (int i = 0; i < SONDE__JSON_DEPTH_MAX; i++)
        i % 2 ? sonde__json_begin_array(&json)
              : (sonde__json_begin_object(&json), sonde__json_key(&json, "k"));
    for (int i = SONDE__JSON_DEPTH_MAX - 1; i >= 0; i--)
        i % 2 ? sonde__json_end_array(&json) : sonde__json_end_object(&json);
    assert_int_equal(json.depth, 0);
    assert_int_equal(buf.len, SONDE__JSON_DEPTH_MAX * 2 + SONDE__JSON_DEPTH_MAX / 2 * 4);
    assert_memory_equal(buf.data, "{\"k\":[{\"k\":[", 12);
}

static void value_without_key(void)
{
    sonde__json_begin_object(&json);
    sonde__json_null(&json);
}

static void key_in_array(void)
{
    sonde__json_begin_array(&json);
    sonde__json_key(&json, "k");
}

static void key_after_key(void)
{
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "k");
    sonde__json_key(&json, "k");
}

static void end_after_key(void)
{
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "k");
    sonde__json_end_object(&json);
}

static void wrong_end(void)
{
    sonde__json_begin_object(&json);
    sonde__json_end_array(&json);
}

static void end_of_nothing(void)
{
    sonde__json_end_array(&json);
}

static void too_deep(void)
{
    for (int i = 0; i <= SONDE__JSON_DEPTH_MAX; i++)
        sonde__json_begin_array(&json);
}

static bool aborts(void (*misuse)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        misuse();
        _exit(0);
    }
    assert_true(pid > 0);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void wrong_nesting_is_asserted(void **state)
{
    (void)state;
    assert_true(aborts(value_without_key));
    assert_true(aborts(key_in_array));
    assert_true(aborts(key_after_key));
    assert_true(aborts(end_after_key));
    assert_true(aborts(wrong_end));
    assert_true(aborts(end_of_nothing));
    assert_true(aborts(too_deep));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(empty_levels),
        TEST(every_kind_of_value),
        TEST(commas_and_colons_across_levels),
        TEST(values_at_the_top_have_no_comma),
        TEST(not_a_number_is_null),
        TEST(text_is_made_valid),
        TEST(nul_is_a_character_like_others),
        TEST(each_special_byte_at_each_offset),
        TEST(a_full_buffer_keeps_a_clean_prefix),
        TEST(deepest_nesting),
        TEST(wrong_nesting_is_asserted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
