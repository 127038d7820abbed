/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_read.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* One letter for each token, in the order of the enum. */
static const char letters[] = "!.{}[]ksntfz";

/* A block of exactly len bytes, so that the sanitizer sees a read past the end. */
static char *exact_copy(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

/* Reads all of text: the letters of its tokens go to tokens, the place of an error to *pos. */
static const char *read_tokens(const char *text, size_t len, char *tokens, size_t *pos)
{
    char *copy = exact_copy(text, len);
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, copy, len);
    sonde__json_token token;
    do {
        token = sonde__json_next(&reader);
        *tokens++ = letters[token];
    } while (token != SONDE__JSON_END && token != SONDE__JSON_ERROR);
    *tokens = '\0';
    *pos = reader.pos;
    assert_int_equal(sonde__json_next(&reader), token);
    assert_int_equal(reader.pos, *pos);
    assert_true((reader.error == NULL) == (token == SONDE__JSON_END));
    free(copy);
    return reader.error;
}

static void valid_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *tokens;
    } cases[] = {
        {"{}", "{}."},
        {"[]", "[]."},
        {" [ ] ", "[]."},
        {"\t\r\n{ \n} \r\t", "{}."},
        {"null", "z."},
        {"true", "t."},
        {"false", "f."},
        {"\"\"", "s."},
        {"0", "n."},
        {"-0", "n."},
        {"[0,-1,12,1.5,0.0,-0.25,1e1,1E+1,1e-1,0e0,0E5,1.5e300,123456789012345678901234567890]",
         "[nnnnnnnnnnnnn]."},
        {"{\"a\":1}", "{kn}."},
        {"{ \"a\" : 1 , \"b\" : [ true , false ] }", "{knk[tf]}."},
        {"{\"\":{\"\":{}}}", "{k{k{}}}."},
        {"{\"a\":1,\"a\":2}", "{knkn}."},
        {"[[[[]]],[{}],{\"x\":[]}]", "[[[[]]][{}]{k[]}]."},
        {"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[s]."},
        {"[\"\\u0000\\uFFFF\\uabCD\\uD83D\\uDE00\"]", "[s]."},
        {"[\"\\uD800\",\"\\uDC00\",\"\\uDC00\\uD800\",\"\\uD800x\"]", "[ssss]."},
        {"\"\x7f\xc2\x80\xe2\x82\xac\xed\x9f\xbf\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"",
         "s."},
        {"\"a much longer string, of more than a few words, with an \\n in it\"", "s."},
        {"\"// not /* a comment\"", "s."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char tokens[64];
        size_t pos;
        read_tokens(cases[i].text, strlen(cases[i].text), tokens, &pos);
        assert_string_equal(tokens, cases[i].tokens);
        assert_int_equal(pos, strlen(cases[i].text));
    }
}

static const struct {
    const char *text;
    const char *tokens;
    size_t pos;
} invalid[] = {
    {"", "!", 0},
    {"  ", "!", 2},
    {"\xef\xbb\xbf{}", "!", 0},
    {"\v[]", "!", 0},
    {"\xc2\xa0[]", "!", 0},
    {"[]\f", "[]!", 2},
    {"{", "{!", 1},
    {"[", "[!", 1},
    {"}", "!", 0},
    {"]", "!", 0},
    {",", "!", 0},
    {":", "!", 0},
    {"[}", "[!", 1},
    {"{]", "{!", 1},
    {"[1}", "[n!", 2},
    {"{\"a\":1]", "{kn!", 6},
    {"[1,]", "[n!", 3},
    {"[,1]", "[!", 1},
    {"[1,,2]", "[n!", 3},
    {"[1 2]", "[n!", 3},
    {"[1:2]", "[n!", 2},
    {"[1", "[n!", 2},
    {"[1,", "[n!", 3},
    {"{\"a\"}", "{!", 4},
    {"{\"a\",1}", "{!", 4},
    {"{\"a\":}", "{k!", 5},
    {"{\"a\"::1}", "{k!", 5},
    {"{\"a\" 1}", "{!", 5},
    {"{\"a\":1,}", "{kn!", 7},
    {"{,}", "{!", 1},
    {"{\"a\":1 \"b\":2}", "{kn!", 7},
    {"{\"a\":1,,\"b\":2}", "{kn!", 7},
    {"{a:1}", "{!", 1},
    {"{'a':1}", "{!", 1},
    {"{1:1}", "{!", 1},
    {"{null:1}", "{!", 1},
    {"{\"a\":1", "{kn!", 6},
    {"{\"a\":", "{k!", 5},
    {"{\"a\"", "{!", 4},
    {"{}{}", "{}!", 2},
    {"[] []", "[]!", 3},
    {"1 2", "n!", 2},
    {"{}}", "{}!", 2},
    {"[]]", "[]!", 2},
    {"{} // comment", "{}!", 3},
    {"[/**/]", "[!", 1},
    {"nul", "!", 3},
    {"nulL", "!", 3},
    {"nulll", "z!", 4},
    {"True", "!", 0},
    {"tru e", "!", 3},
    {"fals3", "!", 4},
    {"NaN", "!", 0},
    {"nan", "!", 1},
    {"Infinity", "!", 0},
    {"-Infinity", "!", 1},
    {"undefined", "!", 0},
    {"+1", "!", 0},
    {"-", "!", 1},
    {"--1", "!", 1},
    {"- 1", "!", 1},
    {".5", "!", 0},
    {"-.5", "!", 1},
    {"1.", "!", 2},
    {"1.e5", "!", 2},
    {"[1.]", "[!", 3},
    {"1e", "!", 2},
    {"1e+", "!", 3},
    {"1e-x", "!", 3},
    {"1ee5", "!", 2},
    {"1e5.5", "n!", 3},
    {"1.5.5", "n!", 3},
    {"01", "n!", 1},
    {"-01", "n!", 2},
    {"00", "n!", 1},
    {"0x10", "n!", 1},
    {"1_000", "n!", 1},
    {"1a", "n!", 1},
    {"\xef\xbc\x91", "!", 0},
    {"\"", "!", 1},
    {"\"abc", "!", 4},
    {"\"abcdefgh", "!", 9},
    {"'abc'", "!", 0},
    {"\"a\nb\"", "!", 2},
    {"\"a\tb\"", "!", 2},
    {"\"\x1f\"", "!", 1},
    {"\"\\", "!", 2},
    {"\"\\\"", "!", 3},
    {"\"\\x41\"", "!", 2},
    {"\"\\'\"", "!", 2},
    {"\"\\B\"", "!", 2},
    {"\"\\0\"", "!", 2},
    {"\"\\\n\"", "!", 2},
    {"\"\\u\"", "!", 3},
    {"\"\\u12\"", "!", 5},
    {"\"\\u123", "!", 6},
    {"\"\\u12G4\"", "!", 5},
    {"\"\\u 123\"", "!", 3},
    {"\"\\u+123\"", "!", 3},
    {"\"\\U0041\"", "!", 2},
    {"\"\\uD83D\\u\"", "!", 9},
    {"\"\x80\"", "!", 1},
    {"\"\xff\"", "!", 1},
    {"\"ab\xc3\"", "!", 3},
    {"\"\xc0\xaf\"", "!", 1},
    {"\"\xe2\x82\"", "!", 1},
    {"\"\xe2\x82", "!", 1},
    {"\"\xed\xa0\x80\"", "!", 1},
    {"\"\xf4\x90\x80\x80\"", "!", 1},
    {"\"\xf0\x9f\x98\"", "!", 1},
    {"{\"\xff\":1}", "{!", 2},
    {"[\"a\",\n4\n,1,\n\"\xe5\"]", "[snn!", 13},
};

static void invalid_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        char tokens[64];
        size_t pos;
        const char *error = read_tokens(invalid[i].text, strlen(invalid[i].text), tokens, &pos);
        if (strcmp(tokens, invalid[i].tokens) != 0 || pos != invalid[i].pos)
            fail_msg("%s: %s at %zu (%s), not %s at %zu", invalid[i].text, tokens, pos, error,
                     invalid[i].tokens, invalid[i].pos);
    }
}

static void nul_bytes_are_not_the_end(void **state)
{
    (void)state;
    char tokens[16];
    size_t pos;
    read_tokens("1\0", 2, tokens, &pos);
    assert_string_equal(tokens, "n!");
    assert_int_equal(pos, 1);
    read_tokens("\"a\0b\"", 5, tokens, &pos);
    assert_string_equal(tokens, "!");
    assert_int_equal(pos, 2);
    read_tokens("nul\0", 4, tokens, &pos);
    assert_int_equal(pos, 3);
}

static void errors_have_a_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"?", "value expected"},
        {"[1 2]", "',' or ']' expected"},
        {"{\"a\":1 2}", "',' or '}' expected"},
        {"{\"a\" 1}", "':' expected"},
        {"{1}", "key expected"},
        {"1 2", "end of text expected"},
        {"-", "digit expected"},
        {"\"a", "string is not closed"},
        {"\"\\", "string is not closed"},
        {"\"\n\"", "control character in a string"},
        {"\"\\q\"", "unknown escape"},
        {"\"\\u12\"", "\\u takes four hex digits"},
        {"\"\xff\"", "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char tokens[16];
        size_t pos;
        assert_string_equal(read_tokens(cases[i].text, strlen(cases[i].text), tokens, &pos),
                            cases[i].error);
    }
}

static void every_cut_of_a_text_is_an_error(void **state)
{
    (void)state;
    static const char text[] = "{\"k\\u00e9y\":[1.5e+3,true,\"\xe2\x82\xac\",null,{\"x\":false}]}";
    for (size_t len = 0; len < sizeof text - 1; len++) {
        char tokens[32];
        size_t pos;
        read_tokens(text, len, tokens, &pos);
        assert_int_equal(tokens[strlen(tokens) - 1], '!');
        assert_true(pos <= len);
    }
    char tokens[32];
    size_t pos;
    read_tokens(text, sizeof text - 1, tokens, &pos);
    assert_string_equal(tokens, "{k[ntsz{kf}]}.");
}

/* A byte that ends the fast scan is seen at every place of the words it looks at. */
static void special_bytes_at_every_offset(void **state)
{
    (void)state;
    for (size_t at = 1; at < 30; at++) {
        for (int c = 0; c < 256; c++) {
            char text[32];
            memset(text, 'k', sizeof text);
            text[0] = '"';
            text[31] = '"';
            text[at] = (char)c;
            char tokens[8];
            size_t pos;
            read_tokens(text, sizeof text, tokens, &pos);
            bool plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
            assert_string_equal(tokens, plain ? "s." : c == '"' ? "s!" : "!");
            if (!plain)
                assert_int_equal(pos, c == '"' || c == '\\' ? at + 1 : at);
        }
    }
}

static void depth_is_limited(void **state)
{
    (void)state;
    char text[2 * SONDE__JSON_READ_DEPTH_MAX + 2];
    char tokens[sizeof text + 2];
    size_t pos;
    memset(text, '[', SONDE__JSON_READ_DEPTH_MAX);
    memset(text + SONDE__JSON_READ_DEPTH_MAX, ']', SONDE__JSON_READ_DEPTH_MAX);
    assert_null(read_tokens(text, sizeof text - 2, tokens, &pos));

    memset(text, '[', SONDE__JSON_READ_DEPTH_MAX + 1);
    memset(text + SONDE__JSON_READ_DEPTH_MAX + 1, ']', SONDE__JSON_READ_DEPTH_MAX + 1);
    assert_string_equal(read_tokens(text, sizeof text, tokens, &pos), "nested too deeply");
    assert_int_equal(pos, SONDE__JSON_READ_DEPTH_MAX);
}

/* The level above is remembered as object or array through all levels. */
static void deep_levels_keep_their_kind(void **state)
{
    (void)state;
    char memory[SONDE__JSON_READ_DEPTH_MAX * 5];
    sonde__buf text;
    sonde__buf_init_fixed(&text, memory, sizeof memory);
    for (int i = 0; i < SONDE__JSON_READ_DEPTH_MAX; i++)
        sonde__buf_text(&text, i % 3 ? "[" : "{\"\":");
    sonde__buf_text(&text, "1");
    for (int i = SONDE__JSON_READ_DEPTH_MAX - 1; i >= 0; i--)
        sonde__buf_char(&text, i % 3 ? ']' : '}');
    char tokens[sizeof memory];
    size_t pos;
    assert_int_equal(text.status, SONDE_OK);
    assert_null(read_tokens(text.data, text.len, tokens, &pos));
    text.data[text.len - 2] = '}';
    assert_non_null(read_tokens(text.data, text.len, tokens, &pos));
    assert_int_equal(pos, text.len - 2);
}

static void size_is_limited(void **state)
{
    (void)state;
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, "1", (size_t)SONDE__JSON_READ_SIZE_MAX + 1);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_ERROR);
    assert_string_equal(reader.error, "text is too long");
    assert_int_equal(reader.pos, 0);
    assert_false(sonde__json_skip(&reader));
}

static void slices_are_the_text_as_written(void **state)
{
    (void)state;
    static const char text[] = "{\"ab\" : \"c\\nd\", \"\" : -1.5e3}";
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, text, sizeof text - 1);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_OBJECT_BEGIN);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_KEY);
    assert_ptr_equal(reader.slice, text + 2);
    assert_int_equal(reader.slice_len, 2);
    assert_false(reader.escaped);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_STRING);
    assert_int_equal(reader.slice_len, 4);
    assert_memory_equal(reader.slice, "c\\nd", 4);
    assert_true(reader.escaped);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_KEY);
    assert_int_equal(reader.slice_len, 0);
    assert_false(reader.escaped);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_NUMBER);
    assert_int_equal(reader.slice_len, 6);
    assert_memory_equal(reader.slice, "-1.5e3", 6);
}

static void escapes_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *decoded;
    } cases[] = {
        {"\"\"", ""},
        {"\"plain\"", "plain"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\\uFfFf\"", "A\xc3\xa9\xe2\x82\xac\xef\xbf\xbf"},
        {"\"\\uD83D\\uDE00!\"", "\xf0\x9f\x98\x80!"},
        {"\"\\uD800\\uDC00\\uDBFF\\uDFFF\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
        {"\"\\uD83D\"", "\xef\xbf\xbd"},
        {"\"\\uDE00\"", "\xef\xbf\xbd"},
        {"\"\\uD83Dx\"", "\xef\xbf\xbdx"},
        {"\"\\uD83D\\n\"", "\xef\xbf\xbd\n"},
        {"\"\\uD83D\\u0041\"", "\xef\xbf\xbd\x41"},
        {"\"\\uD83D\\uD83D\\uDE00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\"\\uDE00\\uD83D\"", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\\uDE00\\uDE00\"", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\\\\uD83D\"", "\\uD83D"},
        {"\"\xc3\xa9\\t\xe2\x82\xac\"", "\xc3\xa9\t\xe2\x82\xac"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len = strlen(cases[i].text);
        char *copy = exact_copy(cases[i].text, len);
        sonde__json_reader reader;
        sonde__json_reader_init(&reader, copy, len);
        assert_int_equal(sonde__json_next(&reader), SONDE__JSON_STRING);
        char *out = exact_copy(copy, reader.slice_len);
        assert_int_equal(sonde__json_unescape(&reader, out), strlen(cases[i].decoded));
        assert_memory_equal(out, cases[i].decoded, strlen(cases[i].decoded));
        assert_true(sonde__json_equals(&reader, cases[i].decoded));
        free(out);
        free(copy);
    }
}

static void escaped_nul_is_a_byte(void **state)
{
    (void)state;
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, "\"a\\u0000b\"", 10);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_STRING);
    char out[8];
    assert_int_equal(sonde__json_unescape(&reader, out), 3);
    assert_memory_equal(out, "a\0b", 3);
    assert_false(sonde__json_equals(&reader, "a"));
}

static void equality_is_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *other;
    } cases[] = {
        {"\"abc\"", "ab"},     {"\"abc\"", "abcd"},         {"\"abc\"", "abd"},     {"\"\"", "a"},
        {"\"a\\u0062\"", "a"}, {"\"a\\u0062\"", "abc"},     {"\"a\\u0062\"", "ac"}, {"\"\\n\"", ""},
        {"\"\\n\"", "n"},      {"\"\\u20ac\"", "\xe2\x82"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sonde__json_reader reader;
        sonde__json_reader_init(&reader, cases[i].text, strlen(cases[i].text));
        assert_int_equal(sonde__json_next(&reader), SONDE__JSON_STRING);
        assert_false(sonde__json_equals(&reader, cases[i].other));
    }
}

static void skip_passes_over_one_value(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,{\"x\":[]}],\"b\":7,\"c\":{},\"d\":[[]],\"e\":\"s\"}";
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, text, sizeof text - 1);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_OBJECT_BEGIN);
    static const char *const keys[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_int_equal(sonde__json_next(&reader), SONDE__JSON_KEY);
        assert_true(sonde__json_equals(&reader, keys[i]));
        assert_true(sonde__json_skip(&reader));
        assert_true(sonde__json_skip(&reader)); /* nothing left to skip */
    }
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_OBJECT_END);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_END);
}

static void skip_from_inside_a_level(void **state)
{
    (void)state;
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, "[[1,[2]],{\"a\":[]},3]", 20);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_ARRAY_BEGIN);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_ARRAY_BEGIN);
    assert_true(sonde__json_skip(&reader));
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_OBJECT_BEGIN);
    assert_true(sonde__json_skip(&reader));
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_NUMBER);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_ARRAY_END);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_END);
}

static void skip_validates(void **state)
{
    (void)state;
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, "{\"a\":[1,{\"x\":tru}]}", 19);
    assert_false(sonde__json_skip(&reader));
    assert_int_equal(reader.pos, 16);
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_ERROR);
    sonde__json_reader_init(&reader, " [{}] ", 6);
    assert_true(sonde__json_skip(&reader));
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_END);
}

static void numbers_are_read_in_each_type(void **state)
{
    (void)state;
    static const char text[] = "[-42,18446744073709551615,0.1,1e400]";
    int64_t as_int = 7;
    uint64_t as_uint = 7;
    double as_double = 7;
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, text, sizeof text - 1);
    sonde__json_next(&reader);
    sonde__json_next(&reader);
    assert_int_equal(sonde__json_get_uint(&reader, &as_uint), SONDE_ELIMIT);
    assert_true(as_uint == 7);
    assert_int_equal(sonde__json_get_int(&reader, &as_int), SONDE_OK);
    assert_true(as_int == -42);
    assert_int_equal(sonde__json_get_double(&reader, &as_double), SONDE_OK);
    assert_true(as_double == -42);
    sonde__json_next(&reader);
    assert_int_equal(sonde__json_get_uint(&reader, &as_uint), SONDE_OK);
    assert_true(as_uint == UINT64_MAX);
    assert_int_equal(sonde__json_get_int(&reader, &as_int), SONDE_ELIMIT);
    sonde__json_next(&reader);
    assert_int_equal(sonde__json_get_double(&reader, &as_double), SONDE_OK);
    assert_true(as_double == 0.1);
    assert_int_equal(sonde__json_get_int(&reader, &as_int), SONDE_EBADDATA);
    sonde__json_next(&reader);
    assert_int_equal(sonde__json_get_double(&reader, &as_double), SONDE_ELIMIT);
    assert_true(as_double == 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts),
        cmocka_unit_test(invalid_texts),
        cmocka_unit_test(nul_bytes_are_not_the_end),
        cmocka_unit_test(errors_have_a_text),
        cmocka_unit_test(every_cut_of_a_text_is_an_error),
        cmocka_unit_test(special_bytes_at_every_offset),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(deep_levels_keep_their_kind),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(slices_are_the_text_as_written),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(escaped_nul_is_a_byte),
        cmocka_unit_test(equality_is_exact),
        cmocka_unit_test(skip_passes_over_one_value),
        cmocka_unit_test(skip_from_inside_a_level),
        cmocka_unit_test(skip_validates),
        cmocka_unit_test(numbers_are_read_in_each_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
