/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static size_t edits(const char *a, const char *b)
{
    size_t one = sonde__edits(a, strlen(a), b, strlen(b));
    assert_int_equal(one, sonde__edits(b, strlen(b), a, strlen(a)));
    return one;
}

static void edits_are_counted(void **state)
{
    (void)state;
    enum { FAR = SONDE__NEAREST_EDITS_MAX + 1 };
    assert_int_equal(edits("", ""), 0);
    assert_int_equal(edits("", "ab"), 2);
    assert_int_equal(edits("network", "network"), 0);
    assert_int_equal(edits("NetWork", "network"), 0);
    assert_int_equal(edits("netwrk", "network"), 1);
    assert_int_equal(edits("netwokr", "network"), 1);
    assert_int_equal(edits("per-cpus", "per_cpu"), 2);
    assert_int_equal(edits("kitten", "sitting"), 3);
    assert_int_equal(edits("ca", "abc"), 3); /* no letter is edited twice */
    assert_int_equal(edits("abcdef", "uvwxyz"), FAR);
    assert_int_equal(edits("", "abcdefgh"), FAR);
}

static void long_names_are_near_nothing(void **state)
{
    (void)state;
    char name[SONDE__NEAREST_BYTES_MAX + 1];
    memset(name, 'x', sizeof name);
    assert_int_equal(sonde__edits(name, sizeof name - 1, name, sizeof name - 1), 0);
    assert_int_equal(sonde__edits(name, sizeof name, name, sizeof name - 1),
                     SONDE__NEAREST_EDITS_MAX + 1);
}

static const char *nearest(const char *text)
{
    static const char *const names[] = {"gpu",     "cpu",   "per_cpu", "process_info", "mem",
                                        "network", "level", "disk",    "disk_paths"};
    sonde__nearest near;
    sonde__nearest_init(&near, text, strlen(text));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        sonde__nearest_offer(&near, names[i], strlen(names[i]));
    assert_true(!near.best || strlen(near.best) == near.best_len);
    return near.best;
}

static void the_nearest_name_is_found(void **state)
{
    (void)state;
    assert_string_equal(nearest("cpus"), "cpu");
    assert_string_equal(nearest("percpu"), "per_cpu");
    assert_string_equal(nearest("NETWORK"), "network");
    assert_string_equal(nearest("lvel"), "level");
    assert_string_equal(nearest("disk_path"), "disk_paths");
    assert_string_equal(nearest("disks"), "disk");
    assert_string_equal(nearest("memory"), "mem");
    assert_string_equal(nearest("process"), "process_info");
    assert_string_equal(nearest("net"), "network");
    assert_string_equal(nearest("disk_p"), "disk_paths");
    assert_null(nearest("ne"));
    assert_null(nearest("foo"));
    assert_null(nearest(""));
    assert_null(nearest("something_else"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_are_counted),
        cmocka_unit_test(long_names_are_near_nothing),
        cmocka_unit_test(the_nearest_name_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
