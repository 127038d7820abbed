/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of parsers share. Include once per test program. */
#ifndef SONDE_TESTS_PARSER_H
#define SONDE_TESTS_PARSER_H

#include "capture/parsers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define BIGGEST         "18446744073709551615" /* UINT64_MAX */
#define TOO_BIG         "18446744073709551616"

/* len bytes in a block of exactly that size, so that a sanitizer sees any read past the end. */
static inline char *exact_copy(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

static inline void assert_numbers(const uint64_t *value, const uint64_t *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (value[i] != expected[i])
            fail_msg("number %zu is %llu, expected %llu", i, (unsigned long long)value[i],
                     (unsigned long long)expected[i]);
}

#endif
