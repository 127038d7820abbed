/* SPDX-License-Identifier: Apache-2.0 */
/* A double is found in three steps, each tried when the one before cannot vouch for the last bit:
   exact arithmetic on small numbers (Clinger 1990); 128-bit multiplication by a power of ten whose
   error is bounded (after Lemire, "Number parsing at a gigabyte per second", 2021); strtod. */
#include "base/number_parse.h"

#include "base/number_format.h"
#include "base/pow10_table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_MAX = 19, /* as many as always fit 64 bits */

    /* No double and no half-way point between two has more than 767 significant digits. Beyond
       them, digits matter only by not being all zero. */
    STRTOD_DIGITS_MAX = 768,

    EXACT_POW10_MAX = 22, /* 10^22 is the largest power of ten that is a double */
};

/* Larger than any number of digits, so that a text cannot balance it. */
static const int64_t exponent_limit = INT64_C(1) << 40;

/* digits * 10^exponent: the first significant digits of a text. */
typedef struct decimal {
    uint64_t digits;
    int64_t exponent;
    bool negative;
    bool truncated; /* digits that are not 0 were left out */
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static sonde_status parse_magnitude(const char *text, size_t len, uint64_t *out)
{
    uint64_t value = 0;
    bool overflow = false;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(text[i]))
            return SONDE_EBADDATA;
        overflow |= __builtin_mul_overflow(value, 10u, &value);
        overflow |= __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value);
    }
    if (overflow)
        return SONDE_ELIMIT;
    *out = value;
    return SONDE_OK;
}

sonde_status sonde__parse_int(const char *text, size_t len, int64_t *out)
{
    bool negative = text[0] == '-';
    uint64_t magnitude;
    sonde_status status = parse_magnitude(text + negative, len - negative, &magnitude);
    if (status != SONDE_OK)
        return status;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return SONDE_ELIMIT;
    *out = (int64_t)(negative ? 0 - magnitude : magnitude);
    return SONDE_OK;
}

sonde_status sonde__parse_uint(const char *text, size_t len, uint64_t *out)
{
    bool negative = text[0] == '-';
    uint64_t magnitude;
    sonde_status status = parse_magnitude(text + negative, len - negative, &magnitude);
    if (status != SONDE_OK)
        return status;
    if (negative && magnitude != 0)
        return SONDE_ELIMIT;
    *out = magnitude;
    return SONDE_OK;
}

/* The number after 'e', held within the limit. */
static int64_t read_exponent(const char *text, const char *end)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    int64_t value = 0;
    for (; text < end; text++)
        if (value < exponent_limit)
            value = value * 10 + (*text - '0');
    return negative ? -value : value;
}

static decimal read_decimal(const char *text, size_t len)
{
    const char *end = text + len;
    decimal d = {.negative = *text == '-'};
    int kept = 0;
    bool fraction = false;
    for (text += d.negative; text < end; text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        if (!is_digit(*text)) {
            d.exponent += read_exponent(text + 1, end);
            break;
        }
        uint64_t digit = (uint64_t)(*text - '0');
        if (kept < DIGITS_MAX) {
            d.digits = d.digits * 10 + digit;
            kept += d.digits != 0; /* leading zeros do not count */
            d.exponent -= fraction;
        } else {
            d.truncated |= digit != 0;
            d.exponent += !fraction;
        }
    }
    return d;
}

/* One rounding, of the operation itself, when both operands are doubles exactly. */
static bool convert_exact(const decimal *d, double *out)
{
    static const double powers[EXACT_POW10_MAX + 1] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    };
    double value = (double)d->digits;
    if (d->exponent == 0) {
        *out = value;
        return true;
    }
    if (d->digits > UINT64_C(1) << 53 || d->exponent < -EXACT_POW10_MAX ||
        d->exponent > EXACT_POW10_MAX)
        return false;
    *out = d->exponent < 0 ? value / powers[-d->exponent] : value * powers[d->exponent];
    return true;
}

/* The first 128 bits of digits * 10^exponent are known within one unit, since the table is rounded
   up by less than one and the product down by less than one. False when that unit could change the
   rounding to 53 bits, which is near a half only (both sides of a whole number round to it), or
   when the result may not be a normal number. */
static bool convert_scaled(const decimal *d, double *out)
{
    if (d->exponent < SONDE__POW10_MIN || d->exponent > SONDE__POW10_MAX)
        return false;
    int exponent = (int)d->exponent;
    sonde__pow10 power = sonde__pow10_get(exponent);
    int lead = __builtin_clzll(d->digits);
    uint64_t factor = d->digits << lead;
    unsigned __int128 low = (unsigned __int128)power.lo * factor;
    unsigned __int128 product = (unsigned __int128)power.hi * factor + (uint64_t)(low >> 64);

    int drop = product >> 127 ? 75 : 74; /* leaves 53 bits */
    unsigned __int128 half = (unsigned __int128)1 << (drop - 1);
    unsigned __int128 rest = product & (2 * half - 1);
    bool near_half = rest >= half - 1 && rest <= half + 1;
    int biased = sonde__floor_log2_pow10(exponent) - 63 - lead + drop + 52 + 1023;
    if (near_half || biased < 1 || biased >= 2046)
        return false;

    /* the leading 1 of the mantissa adds one to the exponent, as does a carry of the rounding */
    uint64_t mantissa = (uint64_t)(product >> drop) + (rest > half);
    uint64_t bits = ((uint64_t)(biased - 1) << 52) + mantissa;
    memcpy(out, &bits, sizeof bits);
    return true;
}

/* strtod on the digits written without a decimal point, the one thing in them that depends on the
   locale. A text of any length becomes one of bounded length. */
static double convert_slowly(const char *text, size_t len)
{
    char copy[STRTOD_DIGITS_MAX + 1 + 1 + SONDE__INT_TEXT_MAX + 1];
    size_t kept = 0;
    bool sticky = false;
    bool fraction = false;
    int64_t exponent = 0;
    const char *end = text + len;
    for (text += *text == '-'; text < end; text++) {
        if (*text == '.') {
            fraction = true;
        } else if (!is_digit(*text)) {
            exponent += read_exponent(text + 1, end);
            break;
        } else if (kept < STRTOD_DIGITS_MAX) {
            if (kept > 0 || *text != '0')
                copy[kept++] = *text;
            exponent -= fraction;
        } else {
            sticky |= *text != '0';
            exponent += !fraction;
        }
    }
    if (sticky) {
        copy[kept++] = '1';
        exponent--;
    }
    copy[kept++] = 'e';
    kept += sonde__format_int(exponent, copy + kept);
    copy[kept] = '\0';
    int saved = errno;
    double value = strtod(copy, NULL);
    errno = saved;
    return value;
}

sonde_status sonde__parse_double(const char *text, size_t len, double *out)
{
    decimal d = read_decimal(text, len);
    double value = 0;
    if (d.truncated || (d.digits != 0 && !convert_exact(&d, &value) && !convert_scaled(&d, &value)))
        value = convert_slowly(text, len);
    if (isinf(value))
        return SONDE_ELIMIT;
    *out = d.negative ? -value : value;
    return SONDE_OK;
}
