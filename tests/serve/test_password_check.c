/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/password_check.h"

#include <crypt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static sonde__web_config config;
static char names[2][16] = {"alice", "bob"};
static char hashes[2][64];

static int make_users(void **state)
{
    (void)state;
    static const char *const passwords[] = {"wonderland", "builder"};
    for (int i = 0; i < 2; i++) {
        struct crypt_data data = {0};
        const char *made = crypt_r(passwords[i], "$2b$04$abcdefghijklmnopqrstuu", &data);
        if (!made)
            return -1;
        snprintf(hashes[i], sizeof hashes[i], "%s", made);
        config.users[i] = (sonde__web_user){names[i], hashes[i]};
    }
    config.user_count = 2;
    return 0;
}

static sonde__credentials credentials(const char *user, const char *password)
{
    sonde__credentials out = {"", ""};
    snprintf(out.user, sizeof out.user, "%s", user);
    snprintf(out.password, sizeof out.password, "%s", password);
    return out;
}

static void test_right_and_wrong(void **state)
{
    (void)state;
    static sonde__passwords all;
    assert_true(sonde__passwords_init(&all, &config));
    sonde__credentials right = credentials("alice", "wonderland");
    assert_true(sonde__passwords_verify(&all, &right));
    static const char *const wrong[][2] = {{"alice", "builder"},
                                           {"bob", "wonderland"},
                                           {"alice", ""},
                                           {"carol", "wonderland"},
                                           {"", ""},
                                           {"alice", "wonderlandX"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sonde__credentials one = credentials(wrong[i][0], wrong[i][1]);
        assert_false(sonde__passwords_verify(&all, &one));
        assert_false(sonde__passwords_known(&all, &one));
    }
}

static void test_what_is_remembered_is_that_and_nothing_else(void **state)
{
    (void)state;
    static sonde__passwords all;
    assert_true(sonde__passwords_init(&all, &config));
    sonde__credentials right = credentials("alice", "wonderland");
    assert_false(sonde__passwords_known(&all, &right));
    sonde__passwords_remember(&all, &right);
    assert_true(sonde__passwords_known(&all, &right));
    sonde__credentials other = credentials("bob", "wonderland");
    assert_false(sonde__passwords_known(&all, &other));
    other = credentials("alic", "ewonderland");
    assert_false(sonde__passwords_known(&all, &other));
    for (int i = 0; i < 2 * SONDE__SERVE_PASSWORDS_KNOWN; i++)
        sonde__passwords_remember(&all, &right); /* bounded */
    assert_int_equal(all.known_count, SONDE__SERVE_PASSWORDS_KNOWN);
    assert_true(sonde__passwords_known(&all, &right));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_and_wrong),
        cmocka_unit_test(test_what_is_remembered_is_that_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, make_users, NULL);
}
