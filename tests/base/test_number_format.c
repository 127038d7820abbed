/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number_format.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t random_state = 20240229;

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

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The text of value, ended with a NUL; checks that nothing is written after the promised bytes. */
static const char *text_of(double value)
{
    static char text[SONDE__DOUBLE_TEXT_MAX + 8];
    memset(text, '#', sizeof text);
    size_t len = sonde__format_double(value, text);
    assert_in_range(len, 3, SONDE__DOUBLE_TEXT_MAX);
    for (size_t i = SONDE__DOUBLE_TEXT_MAX; i < sizeof text; i++)
        assert_int_equal(text[i], '#');
    text[len] = '\0';
    return text;
}

/* Python's form of digits (without point) * 10^exponent of the first digit. */
static void python_form(const char *digits, int exponent, char *out, size_t size)
{
    int count = (int)strlen(digits);
    if (exponent < -4 || exponent >= 16)
        snprintf(out, size, "%c%s%se%c%02d", digits[0], count > 1 ? "." : "", digits + 1,
                 exponent < 0 ? '-' : '+', abs(exponent));
    else if (exponent < 0)
        snprintf(out, size, "0.%.*s%s", -exponent - 1, "000", digits);
    else if (count > exponent + 1)
        snprintf(out, size, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    else
        snprintf(out, size, "%s%.*s.0", digits, exponent + 1 - count, "0000000000000000");
}

/* The shortest of printf's 1 to 17 digits that reads back as value (positive). */
static void brute_force(double value, char *out, size_t size)
{
    for (int precision = 0; precision < 17; precision++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", precision, value);
        if (strtod(text, NULL) == value) {
            char *mark = strchr(text, 'e');
            int exponent = atoi(mark + 1);
            *mark = '\0';
            if (precision > 0)
                memmove(text + 1, text + 2, strlen(text + 2) + 1);
            python_form(text, exponent, out, size);
            return;
        }
    }
    fail_msg("17 digits do not read back: %a", value);
}

static void assert_round_trip(double value)
{
    const char *text = text_of(value);
    if (bits_of(strtod(text, NULL)) != bits_of(value))
        fail_msg("%a became %s", value, text);
}

static void assert_shortest(double value)
{
    char expected[64];
    brute_force(value, expected, sizeof expected);
    const char *text = text_of(value);
    if (strcmp(text, expected) != 0)
        fail_msg("%a became %s, not %s", value, text, expected);
}

static void has_the_form_of_python(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {100.0, "100.0"},
        {123456.789, "123456.789"},
        {1e15, "1000000000000000.0"},
        {9007199254740991.0, "9007199254740991.0"},
        {9007199254740992.0, "9007199254740992.0"},
        {9999999999999998.0, "9999999999999998.0"},
        {1e16, "1e+16"},
        {12345678901234567890.0, "1.2345678901234567e+19"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {1e100, "1e+100"},
        {0.001, "0.001"},
        {0.0001, "0.0001"},
        {0.00012345678901234567, "0.00012345678901234567"},
        {0.0000999, "9.99e-05"},
        {1e-5, "1e-05"},
        {1.5e-7, "1.5e-07"},
        {1e-10, "1e-10"},
        {5e-324, "5e-324"},
        {-5e-324, "-5e-324"},
        {1e-323, "1e-323"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {-DBL_MIN, "-2.2250738585072014e-308"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_EPSILON, "2.220446049250313e-16"},
        {2e-44, "2e-44"},
        {9.5367431640625e-07, "9.5367431640625e-07"},
        {5.684341886080802e-14, "5.684341886080802e-14"},
        {9.5e-322, "9.5e-322"},
        {4.8726570057E288, "4.8726570057e+288"},
        {2.0522e150, "2.0522e+150"},
        {1.8014398509481984e16, "1.8014398509481984e+16"},
        {-1.2345678901234568e-300, "-1.2345678901234568e-300"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(text_of(cases[i].value), cases[i].text);
}

static void random_bits_are_shortest(void **state)
{
    (void)state;
    for (int i = 0; i < 60000; i++) {
        double value = fabs(double_of(next_random()));
        if (isfinite(value) && (bits_of(value) << 12) != 0)
            assert_shortest(value);
    }
}

static void random_bits_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < 500000; i++) {
        double value = double_of(next_random());
        if (isfinite(value))
            assert_round_trip(value);
    }
}

static void subnormals_are_shortest(void **state)
{
    (void)state;
    for (uint64_t bits = 1; bits < 3000; bits++)
        if ((bits & (bits - 1)) != 0)
            assert_shortest(double_of(bits));
    for (int i = 0; i < 20000; i++)
        assert_shortest(double_of(next_random() >> (12 + next_random() % 40) | 3));
}

static void measured_values_are_shortest(void **state)
{
    (void)state;
    for (int i = 0; i < 60000; i++) {
        double unit = (double)(next_random() >> 11) * 0x1p-53;
        double scale = pow(10, (double)(next_random() % 24) - 6);
        assert_shortest(unit * scale + DBL_MIN);
        assert_shortest(round(unit * 1e6) / 1000 + 0.001);
        assert_shortest(floor(unit * scale) + 1);
    }
}

/* At a power of two the gap below is half the gap above, so the nearest decimal of a length may
   fail where another one reads back: shorter than printf's is right, longer never. */
static void powers_of_two_and_their_neighbours(void **state)
{
    (void)state;
    for (int e = -1074; e <= 1023; e++) {
        double value = ldexp(1, e);
        char expected[64];
        assert_round_trip(value);
        brute_force(value, expected, sizeof expected);
        assert_true(strlen(text_of(value)) <= strlen(expected));
        assert_shortest(nextafter(value, INFINITY));
        if (e > -1074)
            assert_shortest(nextafter(value, 0));
    }
}

static void powers_of_ten_are_one_digit(void **state)
{
    (void)state;
    for (int e = -323; e <= 308; e++) {
        char source[16];
        snprintf(source, sizeof source, "1e%d", e);
        double value = strtod(source, NULL);
        char expected[64];
        python_form("1", e, expected, sizeof expected);
        assert_string_equal(text_of(value), expected);
        assert_shortest(nextafter(value, INFINITY));
        assert_shortest(nextafter(value, 0) + 5e-324);
    }
}

static void assert_uint(uint64_t value)
{
    char expected[32];
    char text[SONDE__UINT_TEXT_MAX + 1];
    snprintf(expected, sizeof expected, "%" PRIu64, value);
    text[sonde__format_uint(value, text)] = '\0';
    assert_string_equal(text, expected);
}

static void assert_int(int64_t value)
{
    char expected[32];
    char text[SONDE__INT_TEXT_MAX + 1];
    snprintf(expected, sizeof expected, "%" PRId64, value);
    text[sonde__format_int(value, text)] = '\0';
    assert_string_equal(text, expected);
}

static void integers_are_those_of_printf(void **state)
{
    (void)state;
    assert_uint(0);
    assert_uint(UINT64_MAX);
    assert_int(0);
    assert_int(INT64_MAX);
    assert_int(INT64_MIN);
    for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
        assert_uint(power - 1);
        assert_uint(power);
        assert_uint(power * 10 - 1);
        assert_int(-(int64_t)power);
        assert_int((int64_t)(power - 1));
    }
    assert_uint(10000000000000000000u);
    for (int i = 0; i < 100000; i++) {
        uint64_t value = next_random() >> (next_random() & 63);
        assert_uint(value);
        assert_int((int64_t)value);
        assert_int(-(int64_t)(value >> 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_form_of_python),
        cmocka_unit_test(random_bits_are_shortest),
        cmocka_unit_test(random_bits_read_back),
        cmocka_unit_test(subnormals_are_shortest),
        cmocka_unit_test(measured_values_are_shortest),
        cmocka_unit_test(powers_of_two_and_their_neighbours),
        cmocka_unit_test(powers_of_ten_are_one_digit),
        cmocka_unit_test(integers_are_those_of_printf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
