/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_holds(const sonde__buf *buf, const char *text)
{
    assert_int_equal(buf->len, strlen(text));
    assert_memory_equal(buf->data, text, buf->len);
}

static void starts_empty_without_memory(void **state)
{
    (void)state;
    sonde__buf buf;
    sonde__buf_init(&buf, 1000);
    assert_null(buf.data);
    assert_int_equal(buf.len, 0);
    sonde__buf_append(&buf, NULL, 0);
    sonde__buf_text(&buf, "");
    assert_null(buf.data);
    assert_int_equal(buf.status, SONDE_OK);
    sonde__buf_free(&buf);
}

static void appends_in_order_across_growth(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    sonde__buf buf;
    sonde__buf_init(&buf, 1 << 20);
    for (int i = 0; i < COUNT; i++)
        sonde__buf_char(&buf, (char)('a' + i % 26));
    assert_int_equal(buf.status, SONDE_OK);
    assert_int_equal(buf.len, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(buf.data[i], 'a' + i % 26);
    sonde__buf_free(&buf);
    assert_null(buf.data);
}

/* A limit below the first capacity used to be overrun up to that capacity. */
static void holds_exactly_its_limit(void **state)
{
    (void)state;
    static const size_t limits[] = {1, 10, 255, 256, 257, 1000, 4096};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        sonde__buf buf;
        sonde__buf_init(&buf, limits[i]);
        for (size_t n = 0; n < limits[i]; n++)
            sonde__buf_char(&buf, 'x');
        assert_int_equal(buf.status, SONDE_OK);
        assert_true(buf.cap <= limits[i]);
        sonde__buf_char(&buf, 'y');
        assert_int_equal(buf.status, SONDE_ELIMIT);
        assert_int_equal(buf.len, limits[i]);
        sonde__buf_free(&buf);
    }
}

static void failure_sticks_and_leaves_a_clean_prefix(void **state)
{
    (void)state;
    char memory[8];
    sonde__buf buf;
    sonde__buf_init_fixed(&buf, memory, sizeof memory);
    sonde__buf_text(&buf, "abcde");
    sonde__buf_text(&buf, "fghi");
    assert_int_equal(buf.status, SONDE_ELIMIT);
    sonde__buf_char(&buf, 'j');
    sonde__buf_printf(&buf, "%d", 1);
    assert_holds(&buf, "abcde");
    sonde__buf_clear(&buf);
    assert_int_equal(buf.status, SONDE_OK);
    sonde__buf_text(&buf, "12345678");
    assert_int_equal(buf.status, SONDE_OK);
    assert_holds(&buf, "12345678");
}

static void huge_request_does_not_overflow(void **state)
{
    (void)state;
    sonde__buf buf;
    sonde__buf_init(&buf, SIZE_MAX);
    sonde__buf_text(&buf, "abc");
    assert_false(sonde__buf_reserve(&buf, SIZE_MAX - 1));
    assert_int_equal(buf.status, SONDE_ELIMIT);
    assert_holds(&buf, "abc");
    sonde__buf_free(&buf);
}

static void printf_formats_and_grows(void **state)
{
    (void)state;
    sonde__buf buf;
    sonde__buf_init(&buf, 1000);
    sonde__buf_printf(&buf, "%s=%d", "key", 42);
    sonde__buf_printf(&buf, ";%300d", 7);
    assert_int_equal(buf.status, SONDE_OK);
    assert_int_equal(buf.len, 307);
    assert_memory_equal(buf.data, "key=42; ", 8);
    assert_int_equal(buf.data[306], '7');
    sonde__buf_free(&buf);
}

static void fixed_memory_stays_the_callers(void **state)
{
    (void)state;
    char memory[4] = "old";
    sonde__buf buf;
    sonde__buf_init_fixed(&buf, memory, sizeof memory);
    sonde__buf_text(&buf, "new");
    sonde__buf_free(&buf); /* would abort if it freed the stack */
    assert_memory_equal(memory, "new", 3);
    assert_null(buf.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_empty_without_memory),
        cmocka_unit_test(appends_in_order_across_growth),
        cmocka_unit_test(holds_exactly_its_limit),
        cmocka_unit_test(failure_sticks_and_leaves_a_clean_prefix),
        cmocka_unit_test(huge_request_does_not_overflow),
        cmocka_unit_test(printf_formats_and_grows),
        cmocka_unit_test(fixed_memory_stays_the_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
