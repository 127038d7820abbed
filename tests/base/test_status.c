/* SPDX-License-Identifier: Apache-2.0 */
#include "base/errno_status.h"
#include "sonde/status.h"

#include <errno.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void every_status_has_its_own_name_and_text(void **state)
{
    (void)state;
    static const sonde_status all[] = {
#define MEMBER(name, value, brief, text) SONDE_##name,
        SONDE_STATUS_MAP(MEMBER)
#undef MEMBER
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_string_not_equal(sonde_status_name(all[i]), "unknown");
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(all[i], all[j]);
            assert_string_not_equal(sonde_status_name(all[i]), sonde_status_name(all[j]));
        }
    }
    assert_string_equal(sonde_status_name(SONDE_EDENIED), "denied");
    assert_string_equal(sonde_status_text(SONDE_EDENIED), "present, but not readable by this user");
}

static void a_number_outside_the_list_is_unknown(void **state)
{
    (void)state;
    assert_string_equal(sonde_status_name((sonde_status)-1000), "unknown");
    assert_string_equal(sonde_status_text((sonde_status)7), "unknown status");
}

static void errno_tells_absent_denied_and_gone_apart(void **state)
{
    (void)state;
    assert_int_equal(sonde__status_of_errno(0), SONDE_OK);
    assert_int_equal(sonde__status_of_errno(ENOENT), SONDE_EABSENT);
    assert_int_equal(sonde__status_of_errno(EACCES), SONDE_EDENIED);
    assert_int_equal(sonde__status_of_errno(EPERM), SONDE_EDENIED);
    assert_int_equal(sonde__status_of_errno(ESRCH), SONDE_EGONE);
    assert_int_equal(sonde__status_of_errno(ENOSYS), SONDE_EUNSUPPORTED);
    assert_int_equal(sonde__status_of_errno(EMFILE), SONDE_ELIMIT);
    assert_int_equal(sonde__status_of_errno(EIO), SONDE_EIO);
    assert_int_equal(sonde__status_of_errno(EXDEV), SONDE_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_name_and_text),
        cmocka_unit_test(a_number_outside_the_list_is_unknown),
        cmocka_unit_test(errno_tells_absent_denied_and_gone_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
