/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number_parse.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t random_state = 42;

static uint64_t next_random(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = random_state;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* strtod of the C library is correctly rounded, and the process is in the C locale. */
static void assert_like_strtod(const char *text)
{
    double expected = strtod(text, NULL);
    double value = 42;
    sonde_status status = sonde__parse_double(text, strlen(text), &value);
    if (isinf(expected)) {
        assert_int_equal(status, SONDE_ELIMIT);
        assert_true(value == 42);
    } else if (status != SONDE_OK || bits_of(value) != bits_of(expected)) {
        fail_msg("%.60s is %a, not %a", text, value, expected);
    }
}

static void known_hard_doubles(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "-0.0e5",
        "1",
        "0.1",
        "-123.456e-2",
        "1e22",
        "1e23",
        "8.5e22",
        "123456789012345678",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.00000000000000000000000000001",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
        "0.000000000000000000000000000000000000000000001",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "-1e309",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999999999999999999",
        "7.2057594037927933e16",
        "6250000000000000000000000000000000e-12",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_like_strtod(texts[i]);
}

static void random_digits_and_exponents(void **state)
{
    (void)state;
    for (int i = 0; i < 300000; i++) {
        char text[64];
        int count = 1 + (int)(next_random() % 24);
        size_t len = 0;
        text[len++] = (char)('1' + next_random() % 9);
        for (int n = 1; n < count; n++) {
            if (n == count / 2)
                text[len++] = '.';
            text[len++] = (char)('0' + next_random() % 10);
        }
        snprintf(text + len, sizeof text - len, "e%d", (int)(next_random() % 680) - 345);
        assert_like_strtod(text);
    }
}

/* Doubles as they are written: 17 digits, which the 128-bit product must settle almost always. */
static void random_doubles_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < 300000; i++) {
        uint64_t bits = next_random();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[40];
        snprintf(text, sizeof text, "%.17g", value);
        double out = 0;
        assert_int_equal(sonde__parse_double(text, strlen(text), &out), SONDE_OK);
        if (bits_of(out) != bits_of(value))
            fail_msg("%s is not %a", text, out);
    }
}

/* The exact half-way point between two doubles, up to 767 digits, and a digit far behind it. */
static void halfway_points_go_to_even(void **state)
{
    (void)state;
    static char text[4096];
    for (int i = 0; i < 2000; i++) {
        int e = (int)(next_random() % 2040) - 1074;
        long double mantissa = (long double)(next_random() >> 11 | UINT64_C(1) << 52) + 0.5L;
        int len = snprintf(text, 2048, "%.1100Lf", ldexpl(mantissa, e));
        assert_in_range(len, 1, 2047);
        assert_like_strtod(text);
        memset(text + len, '0', 1500);
        memcpy(text + len + 1500, "1", 2);
        assert_like_strtod(text);
    }
}

static void very_long_texts(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    char *text = malloc(LONG + 64);
    assert_non_null(text);
    memset(text, '0', LONG);
    memcpy(text, "0.", 2);
    snprintf(text + LONG, 64, "15e%d", LONG);
    assert_like_strtod(text);
    memset(text, '9', LONG);
    snprintf(text + LONG, 64, "e-%d", LONG);
    assert_like_strtod(text);
    memset(text, '9', LONG);
    text[LONG] = '\0';
    assert_like_strtod(text);
    free(text);
}

static void errno_is_left_alone(void **state)
{
    (void)state;
    double out;
    errno = 0;
    assert_int_equal(sonde__parse_double("1e-400", 6, &out), SONDE_OK);
    assert_int_equal(sonde__parse_double("1e400", 5, &out), SONDE_ELIMIT);
    assert_int_equal(errno, 0);
}

static void locale_does_not_matter(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    const char *chosen = NULL;
    for (size_t i = 0; !chosen && i < sizeof names / sizeof *names; i++)
        chosen = setlocale(LC_NUMERIC, names[i]);
    if (!chosen)
        skip();
    double slow = 0;
    sonde_status status = sonde__parse_double("2.2250738585072011e-308", 23, &slow);
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(status, SONDE_OK);
    assert_true(slow == 2.2250738585072011e-308);
}

static void integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        sonde_status as_int;
        sonde_status as_uint;
        int64_t int_value;
        uint64_t uint_value;
    } cases[] = {
        {"0", SONDE_OK, SONDE_OK, 0, 0},
        {"-0", SONDE_OK, SONDE_OK, 0, 0},
        {"42", SONDE_OK, SONDE_OK, 42, 42},
        {"-1", SONDE_OK, SONDE_ELIMIT, -1, 7},
        {"9223372036854775807", SONDE_OK, SONDE_OK, INT64_MAX, INT64_MAX},
        {"9223372036854775808", SONDE_ELIMIT, SONDE_OK, 7, UINT64_C(1) << 63},
        {"-9223372036854775808", SONDE_OK, SONDE_ELIMIT, INT64_MIN, 7},
        {"-9223372036854775809", SONDE_ELIMIT, SONDE_ELIMIT, 7, 7},
        {"18446744073709551615", SONDE_ELIMIT, SONDE_OK, 7, UINT64_MAX},
        {"18446744073709551616", SONDE_ELIMIT, SONDE_ELIMIT, 7, 7},
        {"99999999999999999999", SONDE_ELIMIT, SONDE_ELIMIT, 7, 7},
        {"36893488147419103232", SONDE_ELIMIT, SONDE_ELIMIT, 7, 7},
        {"1.0", SONDE_EBADDATA, SONDE_EBADDATA, 7, 7},
        {"1e3", SONDE_EBADDATA, SONDE_EBADDATA, 7, 7},
        {"99999999999999999999.5", SONDE_EBADDATA, SONDE_EBADDATA, 7, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len = strlen(cases[i].text);
        int64_t as_int = 7;
        uint64_t as_uint = 7;
        assert_int_equal(sonde__parse_int(cases[i].text, len, &as_int), cases[i].as_int);
        assert_true(as_int == cases[i].int_value);
        assert_int_equal(sonde__parse_uint(cases[i].text, len, &as_uint), cases[i].as_uint);
        assert_true(as_uint == cases[i].uint_value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hard_doubles),       cmocka_unit_test(random_digits_and_exponents),
        cmocka_unit_test(random_doubles_read_back), cmocka_unit_test(halfway_points_go_to_even),
        cmocka_unit_test(very_long_texts),          cmocka_unit_test(errno_is_left_alone),
        cmocka_unit_test(locale_does_not_matter),   cmocka_unit_test(integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
