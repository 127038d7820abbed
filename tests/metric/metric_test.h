/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka, and what its tests of metrics share. cmocka's own comparison of doubles is one of floats.
 */
#ifndef SONDE_METRIC_TEST_H
#define SONDE_METRIC_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define assert_same(a, b) assert_true((a) == (b))

/* The full counts were asked for. */
static inline bool soak(void)
{
    return getenv("SONDE_SOAK") != NULL;
}

#endif
