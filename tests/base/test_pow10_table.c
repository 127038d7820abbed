/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each entry of the table against its definition, with whole numbers of any length. */
#include "base/pow10_table.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WORDS = 48 }; /* of 32 bits; the largest number needed has 1100 bits */

typedef struct big {
    uint32_t words[WORDS]; /* lowest first */
} big;

static void multiply_small(big *number, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        carry += (uint64_t)number->words[i] * factor;
        number->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_true(carry == 0);
}

/* The number value * 10^tens * 2^twos. */
static big make(sonde__pow10 value, int tens, int twos)
{
    big number = {{(uint32_t)value.lo, (uint32_t)(value.lo >> 32), (uint32_t)value.hi,
                   (uint32_t)(value.hi >> 32)}};
    for (int i = 0; i < tens; i++)
        multiply_small(&number, 10);
    for (int i = 0; i < twos; i++)
        multiply_small(&number, 2);
    return number;
}

static int compare(const big *a, const big *b)
{
    for (int i = WORDS - 1; i >= 0; i--)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return 0;
}

static int positive_part(int value)
{
    return value > 0 ? value : 0;
}

/* g is the ceiling of 10^e * 2^shift when (g - 1) < 10^e * 2^shift <= g; negative exponents are
   moved to the other side. With g in [2^127, 2^128) that also proves the logarithm in the shift. */
static void each_entry_is_its_definition(void **state)
{
    (void)state;
    for (int e = SONDE__POW10_MIN; e <= SONDE__POW10_MAX; e++) {
        sonde__pow10 g = sonde__pow10_get(e);
        sonde__pow10 below = {g.hi - (g.lo == 0), g.lo - 1};
        int shift = 127 - sonde__floor_log2_pow10(e);
        int tens = positive_part(-e);
        int twos = positive_part(-shift);
        big exact = make((sonde__pow10){0, 1}, positive_part(e), positive_part(shift));
        big upper = make(g, tens, twos);
        big lower = make(below, tens, twos);
        if (g.hi >> 63 != 1 || compare(&lower, &exact) >= 0 || compare(&exact, &upper) > 0)
            fail_msg("entry of 10^%d", e);
    }
}

static void small_powers_are_exact(void **state)
{
    (void)state;
    for (int e = 0; e <= 55; e++) {
        int shift = 127 - sonde__floor_log2_pow10(e);
        big exact = make((sonde__pow10){0, 1}, e, positive_part(shift));
        big entry = make(sonde__pow10_get(e), 0, positive_part(-shift));
        assert_int_equal(compare(&exact, &entry), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_entry_is_its_definition),
        cmocka_unit_test(small_powers_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
