/* SPDX-License-Identifier: Apache-2.0 */
/* Bucket i of an octave ends at 2^((i + 1) / 64); bound[i] is that, less 1, as a mantissa of 52
   bits, rounded. The smallest bucket is wider than 1/128 of the octave, so that a guess from 7 bits
   of the mantissa is at most one too low. The guesses follow from the bounds and are checked by a
   test. */
#include "record/histogram_table.h"

#include "sonde/metric.h"

#include <math.h>

const sonde_histogram_table sonde__histogram_table = {
    .guess =
        {
            0,  0,  1,  2,  2,  3,  4,  4,  5,  6,  6,  7,  8,  8,  9,  10, 10, 11, 12, 12, 13, 14,
            14, 15, 15, 16, 17, 17, 18, 18, 19, 20, 20, 21, 21, 22, 22, 23, 24, 24, 25, 25, 26, 26,
            27, 27, 28, 28, 29, 29, 30, 30, 31, 31, 32, 33, 33, 34, 34, 35, 35, 35, 36, 36, 37, 37,
            38, 38, 39, 39, 40, 40, 41, 41, 42, 42, 43, 43, 43, 44, 44, 45, 45, 46, 46, 47, 47, 47,
            48, 48, 49, 49, 50, 50, 50, 51, 51, 52, 52, 52, 53, 53, 54, 54, 54, 55, 55, 56, 56, 56,
            57, 57, 58, 58, 58, 59, 59, 59, 60, 60, 61, 61, 61, 62, 62, 62, 63, 63,
        },
    .bound =
        {
            0x02c9a3e778061, 0x059b0d3158574, 0x0874518759bc8, 0x0b5586cf9890f,  0x0e3ec32d3d1a2,
            0x11301d0125b51, 0x1429aaea92de0, 0x172b83c7d517b, 0x1a35beb6fcb75,  0x1d4873168b9aa,
            0x2063b88628cd6, 0x2387a6e756238, 0x26b4565e27cdd, 0x29e9df51fdee1,  0x2d285a6e4030b,
            0x306fe0a31b715, 0x33c08b26416ff, 0x371a7373aa9cb, 0x3a7db34e59ff7,  0x3dea64c123422,
            0x4160a21f72e2a, 0x44e086061892d, 0x486a2b5c13cd0, 0x4bfdad5362a27,  0x4f9b2769d2ca7,
            0x5342b569d4f82, 0x56f4736b527da, 0x5ab07dd485429, 0x5e76f15ad2148,  0x6247eb03a5585,
            0x6623882552225, 0x6a09e667f3bcd, 0x6dfb23c651a2f, 0x71f75e8ec5f74,  0x75feb564267c9,
            0x7a11473eb0187, 0x7e2f336cf4e62, 0x82589994cce13, 0x868d99b4492ed,  0x8ace5422aa0db,
            0x8f1ae99157736, 0x93737b0cdc5e5, 0x97d829fde4e50, 0x9c49182a3f090,  0xa0c667b5de565,
            0xa5503b23e255d, 0xa9e6b5579fdbf, 0xae89f995ad3ad, 0xb33a2b84f15fb,  0xb7f76f2fb5e47,
            0xbcc1e904bc1d2, 0xc199bdd85529c, 0xc67f12e57d14b, 0xcb720dcef9069,  0xd072d4a07897c,
            0xd5818dcfba487, 0xda9e603db3285, 0xdfc97337b9b5f, 0xe502ee78b3ff6,  0xea4afa2a490da,
            0xefa1bee615a27, 0xf50765b6e4540, 0xfa7c1819e90d8, 0x10000000000000,
        },
};

double sonde_bucket_bound(int exponent, unsigned bucket)
{
    uint64_t mantissa = sonde__histogram_table.bound[bucket % SONDE_OCTAVE_BUCKETS];
    return ldexp(1.0 + (double)mantissa * 0x1p-52, exponent);
}
