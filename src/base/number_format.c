/* SPDX-License-Identifier: Apache-2.0 */
/* Doubles by Schubfach: Raffaello Giulietti, "The Schubfach way to render doubles", 2020. A value
   c * 2^q is scaled by a power of ten so that the decimals that read back as it form an interval in
   which at most a handful of whole numbers lie; the shortest of them, and of those the nearest, is
   the answer. Everything below is in quarters, because the interval ends half-way between two
   doubles, or a quarter of the way below a power of two. */
#include "base/number_format.h"

#include "base/pow10_table.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/* digits * 10^exponent */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

enum {
    FRACTION_BITS = 52,
    EXPONENT_MASK = 0x7ff,
    EXPONENT_BIAS = 1023 + FRACTION_BITS,
    FIXED_EXPONENT_MIN = -4, /* below 1e-4 and from 1e16 on the exponent is written */
    FIXED_EXPONENT_MAX = 15,
};

static size_t count_digits(uint64_t value)
{
    static const uint64_t powers[] = {
        0,
        10,
        100,
        1000,
        10000,
        100000,
        1000000,
        10000000,
        100000000,
        1000000000,
        10000000000,
        100000000000,
        1000000000000,
        10000000000000,
        100000000000000,
        1000000000000000,
        10000000000000000,
        100000000000000000,
        1000000000000000000,
        10000000000000000000u,
    };
    /* 1233 / 4096 is log10(2): the bit length tells the number of digits, or one less */
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    size_t guess = bits * 1233 >> 12;
    return guess + (value >= powers[guess]);
}

/* The eight digits of value, below 10^8, the first in the lowest byte: halves of four, then of two,
   then of one digit, all halves at once. The factors divide by 100 and by 10. */
static uint64_t eight_digits(uint32_t value)
{
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t high = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    uint64_t twos = high | (fours - high * 100) << 16;
    high = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return (high | (twos - high * 10) << 8) + UINT64_C(0x3030303030303030);
}

/* The last count (1 to 8) of eight digits. */
static void write_last(uint64_t digits, size_t count, char *out)
{
    digits >>= 8 * (8 - count);
    uint64_t bytes = htole64(digits);
    if (count & 8) {
        memcpy(out, &bytes, 8);
        return;
    }
    if (count & 4) {
        memcpy(out, &bytes, 4);
        out += 4;
        bytes = htole64(digits >>= 32);
    }
    if (count & 2) {
        memcpy(out, &bytes, 2);
        out += 2;
        digits >>= 16;
    }
    if (count & 1)
        *out = (char)digits;
}

/* Writes exactly count digits. */
static void write_digits(uint64_t value, size_t count, char *out)
{
    if (count <= 2) { /* layers, hundredths, whole milliseconds: no need for eight */
        unsigned tens = (unsigned)value / 10;
        out[0] = (char)('0' + tens);
        out[count - 1] = (char)('0' + ((unsigned)value - tens * 10));
        return;
    }
    while (count > 8) {
        count -= 8;
        write_last(eight_digits((uint32_t)(value % 100000000)), 8, out + count);
        value /= 100000000;
    }
    write_last(eight_digits((uint32_t)value), count, out);
}

size_t sonde__format_uint(uint64_t value, char *out)
{
    size_t count = count_digits(value);
    write_digits(value, count, out);
    return count;
}

size_t sonde__format_decimal(uint64_t value, unsigned decimals, char *out)
{
    static const uint32_t powers[] = {1,      10,      100,      1000,      10000,
                                      100000, 1000000, 10000000, 100000000, 1000000000};
    assert(decimals >= 1 && decimals <= 9);
    uint64_t whole = 0;
    if (value >= powers[decimals]) /* a division by a constant is a multiplication */
        whole = decimals == 6 ? value / 1000000 : value / powers[decimals];
    size_t len = sonde__format_uint(whole, out);
    out[len] = '.';
    write_digits(value - whole * powers[decimals], decimals, out + len + 1);
    return len + 1 + decimals;
}

size_t sonde__format_int(int64_t value, char *out)
{
    if (value >= 0)
        return sonde__format_uint((uint64_t)value, out);
    out[0] = '-';
    return 1 + sonde__format_uint(0 - (uint64_t)value, out + 1);
}

/* floor(power * factor / 2^128) with its last bit set when anything was cut off, so that later
   comparisons still see it. One unit is forgiven: the table is rounded up. */
static uint64_t multiply_round_odd(sonde__pow10 power, uint64_t factor)
{
    unsigned __int128 low = (unsigned __int128)power.lo * factor;
    unsigned __int128 sum = (unsigned __int128)power.hi * factor + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* floor(log10(2^q)), or floor(log10(3/4 * 2^q)) where the lower neighbour is nearer: fixed-point
   approximations, exact over the exponents of a double. */
static int decimal_exponent(int q, int lower_is_nearer)
{
    return (q * 1262611 - (lower_is_nearer ? 524031 : 0)) >> 22;
}

/* The shortest decimal for c * 2^q; it may end in zeros. */
static decimal shortest_decimal(uint64_t c, int q, int lower_is_nearer)
{
    int k = decimal_exponent(q, lower_is_nearer);
    int shift = q + sonde__floor_log2_pow10(-k) + 1;
    sonde__pow10 power = sonde__pow10_get(-k);
    uint64_t is_odd = c & 1; /* the ends of the interval read back as c only when c is even */
    uint64_t lower =
        multiply_round_odd(power, (4 * c - 2 + (uint64_t)lower_is_nearer) << shift) + is_odd;
    uint64_t value = multiply_round_odd(power, 4 * c << shift);
    uint64_t upper = multiply_round_odd(power, (4 * c + 2) << shift) - is_odd;

    uint64_t whole = value / 4;
    if (whole >= 10) {
        uint64_t tens = whole / 10;
        int below_fits = lower <= 40 * tens;
        int above_fits = 40 * tens + 40 <= upper;
        if (below_fits != above_fits)
            return (decimal){tens + (uint64_t)above_fits, k + 1};
    }
    int below_fits = lower <= 4 * whole;
    int above_fits = 4 * whole + 4 <= upper;
    if (below_fits != above_fits)
        return (decimal){whole + (uint64_t)above_fits, k};
    uint64_t middle = 4 * whole + 2;
    int round_up = value > middle || (value == middle && (whole & 1));
    return (decimal){whole + (uint64_t)round_up, k};
}

static decimal without_trailing_zeros(decimal d)
{
    while (d.digits % 100000000 == 0) {
        d.digits /= 100000000;
        d.exponent += 8;
    }
    while (d.digits % 100 == 0) {
        d.digits /= 100;
        d.exponent += 2;
    }
    if (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent += 1;
    }
    return d;
}

/* d.ddde+XX */
static size_t layout_exponent(decimal d, size_t count, int exponent, char *out)
{
    write_digits(d.digits, count, out + 1);
    out[0] = out[1];
    size_t len = 1;
    if (count > 1) {
        out[1] = '.';
        len = count + 1;
    }
    out[len++] = 'e';
    out[len++] = exponent < 0 ? '-' : '+';
    uint64_t magnitude = (uint64_t)(exponent < 0 ? -exponent : exponent);
    size_t width = magnitude < 100 ? 2 : 3;
    write_digits(magnitude, width, out + len);
    return len + width;
}

/* The decimal point, or the zeros before or after the digits, written out. */
static size_t layout_fixed(decimal d, size_t count, int exponent, char *out)
{
    if (exponent < 0) {
        size_t zeros = (size_t)-exponent;         /* of which one stands before the point */
        memset(out, '0', 1 - FIXED_EXPONENT_MIN); /* more than zeros: the digits come over them */
        out[1] = '.';
        write_digits(d.digits, count, out + 1 + zeros);
        return 1 + zeros + count;
    }
    size_t whole = (size_t)exponent + 1;
    if (count > whole) {
        write_digits(d.digits, count, out + 1);
        memmove(out, out + 1, whole);
        out[whole] = '.';
        return count + 1;
    }
    write_digits(d.digits, count, out);
    memset(out + count, '0', whole - count);
    out[whole] = '.';
    out[whole + 1] = '0';
    return whole + 2;
}

size_t sonde__format_double(double value, char *out)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    int biased = (int)(bits >> FRACTION_BITS) & EXPONENT_MASK;
    assert(biased != EXPONENT_MASK);

    size_t sign = bits >> 63;
    out[0] = '-'; /* overwritten when there is no sign */
    out += sign;
    double magnitude = sign ? -value : value;
    if (magnitude < 9007199254740992.0 && magnitude == (double)(uint64_t)magnitude) {
        size_t len = sonde__format_uint((uint64_t)magnitude, out);
        out[len] = '.';
        out[len + 1] = '0';
        return sign + len + 2;
    }
    uint64_t c = biased == 0 ? fraction : fraction | UINT64_C(1) << FRACTION_BITS;
    int q = (biased == 0 ? 1 : biased) - EXPONENT_BIAS;
    decimal d = without_trailing_zeros(shortest_decimal(c, q, fraction == 0 && biased > 1));
    size_t count = count_digits(d.digits);
    int exponent = d.exponent + (int)count - 1;
    if (exponent < FIXED_EXPONENT_MIN || exponent > FIXED_EXPONENT_MAX)
        return sign + layout_exponent(d, count, exponent, out);
    return sign + layout_fixed(d, count, exponent, out);
}
