/* SPDX-License-Identifier: Apache-2.0 */
/* Eight bytes are a number; its text must read back as the same bits, by strtod and by our parser,
   and must not be longer than printf's shortest that does. */
#include "base/number_format.h"
#include "base/number_parse.h"
#include "fuzz.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static size_t significant_digits(const char *text)
{
    size_t count = 0;
    size_t zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text >= '1' && *text <= '9') {
            count += zeros + 1;
            zeros = 0;
        } else if (*text == '0' && count > 0) {
            zeros++;
        }
    }
    return count;
}

static void check_shortest(double value, const char *text)
{
    char other[40];
    int precision = 0;
    do
        snprintf(other, sizeof other, "%.*e", precision++, value);
    while (strtod(other, NULL) != value);
    require(significant_digits(text) <= significant_digits(other));
}

static void check_double(double value)
{
    char *text = malloc(SONDE__DOUBLE_TEXT_MAX);
    require(text != NULL);
    size_t len = sonde__format_double(value, text);
    require(len >= 3 && len <= SONDE__DOUBLE_TEXT_MAX);
    char copy[SONDE__DOUBLE_TEXT_MAX + 1];
    memcpy(copy, text, len);
    copy[len] = '\0';
    double back = strtod(copy, NULL);
    require(bits_of(back) == bits_of(value));
    require(sonde__parse_double(text, len, &back) == SONDE_OK);
    require(bits_of(back) == bits_of(value));
    check_shortest(value, copy);
    free(text);
}

static void check_integers(uint64_t bits)
{
    char expected[32];
    char text[SONDE__UINT_TEXT_MAX + 1];
    snprintf(expected, sizeof expected, "%" PRIu64, bits);
    text[sonde__format_uint(bits, text)] = '\0';
    require(strcmp(text, expected) == 0);
    snprintf(expected, sizeof expected, "%" PRId64, (int64_t)bits);
    text[sonde__format_int((int64_t)bits, text)] = '\0';
    require(strcmp(text, expected) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t bits;
    if (size < sizeof bits)
        return 0;
    memcpy(&bits, data, sizeof bits);
    check_integers(bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value))
        check_double(value);
    return 0;
}
