/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static char shown[4096];

static const char *mask(const char *text)
{
    sonde__buf out;
    sonde__buf_init_fixed(&out, shown, sizeof shown - 1);
    sonde__mask_text(text, strlen(text), &out);
    assert_int_equal(out.status, SONDE_OK);
    shown[out.len] = '\0';
    return shown;
}

/* count arguments, joined by blanks */
static const char *mask_arguments(const char *arguments, size_t count)
{
    sonde__buf out;
    sonde__buf_init_fixed(&out, shown, sizeof shown - 1);
    sonde__mask_arguments(arguments, count, &out);
    assert_int_equal(out.status, SONDE_OK);
    size_t ends = 0;
    for (size_t i = 0; i < out.len; i++) {
        ends += shown[i] == '\0';
        shown[i] = shown[i] ? shown[i] : ' ';
    }
    assert_int_equal(ends, count);
    shown[out.len ? out.len - 1 : 0] = '\0';
    return shown;
}

static bool is_secret(const char *name, const char *value)
{
    return sonde__mask_is_secret(name, strlen(name), value, value ? strlen(value) : 0);
}

static void names_that_announce_a_secret(void **state)
{
    (void)state;
    static const char *const secret[] = {"API_TOKEN",      "GITHUB_TOKEN",
                                         "DB_PASSWORD",    "AWS_SECRET_ACCESS_KEY",
                                         "OPENAI_API_KEY", "--password",
                                         "--api-key",      "clientSecret",
                                         "apiKey",         "key",
                                         "X-Auth",         "passwd",
                                         "Authorization",  "TOKEN_V2",
                                         "MYSQL_PWD",      "apikey",
                                         "tokens",         "MAPI_Credentials"};
    static const char *const plain[] = {
        "PATH",       "PWD",           "OLDPWD",   "KEYBOARD",     "monkey",          "tokenizer",
        "--key-size", "SSH_AUTH_SOCK", "--author", "SLURM_JOB_ID", "OMP_NUM_THREADS", ""};
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        if (!is_secret(secret[i], "x"))
            fail_msg("%s is a secret", secret[i]);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (is_secret(plain[i], "x"))
            fail_msg("%s is none", plain[i]);
    assert_false(is_secret("--max-tokens", "4096"));
    assert_true(is_secret("--max-tokens", "4096abc"));
    assert_true(is_secret("--max-tokens", NULL));
    assert_true(is_secret("--password", "123456"));
}

static void urls_lose_their_userinfo(void **state)
{
    (void)state;
    assert_string_equal(mask("postgres://me:hunter2@db:5432/x"), "postgres://***@db:5432/x");
    assert_string_equal(mask("see https://a:b@h/p and https://c@h"),
                        "see https://***@h/p and https://***@h");
    assert_string_equal(mask("redis://:p@ss@host"), "redis://***@host");
    assert_string_equal(mask("https://host/@user"), "https://host/@user");
    assert_string_equal(mask("https://host?mail=a@b"), "https://host?mail=a@b");
}

static void forms_that_are_secrets(void **state)
{
    (void)state;
    assert_string_equal(mask("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_123"), "***");
    assert_string_equal(mask("x eyJhbGciOiJIUzI1NiJ9.eyJzdWIi y"), "x *** y");
    assert_string_equal(mask("AKIAIOSFODNN7EXAMPLE"), "***");
    assert_string_equal(mask("id=AKIAIOSFODNN7EXAMPLE,next"), "id=***,next");
    assert_string_equal(mask("ghp_abcdefghijklmnopqrstuvwx0123"), "***");
    assert_string_equal(
        mask("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nz"), "***\nz");
    assert_string_equal(mask("-----BEGIN PRIVATE KEY-----\nMIIE"), "***");
    assert_string_equal(mask("Bearer abcdefgh1234"), "Bearer ***");
    assert_string_equal(mask("basic training"), "basic ***");
}

static void assignments_in_text(void **state)
{
    (void)state;
    assert_string_equal(mask("--token=abc"), "--token=***");
    assert_string_equal(mask("token=abc&user=me"), "token=***&user=me");
    assert_string_equal(mask("{\"password\": \"a b\\\"c\", \"n\": 1}"),
                        "{\"password\": \"***\", \"n\": 1}");
    assert_string_equal(mask("Authorization: Basic dXNlcjpwYXNz"), "Authorization: ***");
    assert_string_equal(mask("A_SECRET='x y' B=1"), "A_SECRET='***' B=1");
    assert_string_equal(mask("key="), "key=");
}

static void plain_text_stays(void **state)
{
    (void)state;
    static const char *const plain[] = {"python3 train.py --epochs 10 --lr=0.001",
                                        "",
                                        "a",
                                        "://",
                                        "eyJ",
                                        "eyJhbGciOi",
                                        "AKIA",
                                        "http://[::1]:8080/x",
                                        "10.0.0.1:22",
                                        "--max-tokens=4096",
                                        "C:\\key\\file",
                                        "sk-learn"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_string_equal(mask(plain[i]), plain[i]);
}

static void options_hide_what_follows(void **state)
{
    (void)state;
    assert_string_equal(mask_arguments("prog\0--token\0abc\0x", 4), "prog --token *** x");
    assert_string_equal(mask_arguments("prog\0--token\0--verbose", 3), "prog --token --verbose");
    assert_string_equal(mask_arguments("prog\0--token", 2), "prog --token");
    assert_string_equal(mask_arguments("prog\0--token=abc\0x", 3), "prog --token=*** x");
    assert_string_equal(mask_arguments("curl\0-H\0Authorization: Bearer abc", 3),
                        "curl -H Authorization: ***");
    assert_string_equal(mask_arguments("prog\0--max-tokens\0"
                                       "100",
                                       3),
                        "prog --max-tokens 100");
    assert_string_equal(mask_arguments("", 0), "");
    assert_string_equal(mask_arguments("\0a", 2), " a");
}

static void values_by_the_name_of_their_variable(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *expected;
    } cases[] = {{"API_TOKEN", "x", "***"},
                 {"API_TOKEN", "", ""},
                 {"URL", "http://u:p@h", "http://***@h"},
                 {"HOME", "/root", "/root"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sonde__buf out;
        sonde__buf_init_fixed(&out, shown, sizeof shown - 1);
        sonde__mask_value(cases[i].name, cases[i].value, &out);
        shown[out.len] = '\0';
        assert_string_equal(shown, cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_announce_a_secret),
        cmocka_unit_test(urls_lose_their_userinfo),
        cmocka_unit_test(forms_that_are_secrets),
        cmocka_unit_test(assignments_in_text),
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(options_hide_what_follows),
        cmocka_unit_test(values_by_the_name_of_their_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
