/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Every scalar value encodes to what reads back as one sequence, and no shorter cut of it does. */
static void every_code_point_is_one_sequence(void **state)
{
    (void)state;
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        if (point >= 0xd800 && point <= 0xdfff)
            continue;
        char text[4];
        size_t len = sonde__utf8_encode(point, text);
        size_t expected = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        if (len != expected || sonde__utf8_sequence(text, len) != len ||
            sonde__utf8_sequence(text, 4) != len)
            fail_msg("U+%04X", point);
        for (size_t cut = 1; cut < len; cut++)
            if (sonde__utf8_sequence(text, cut) != 0)
                fail_msg("U+%04X cut to %zu", point, cut);
    }
}

/* The decoded value of bytes by the bit pattern alone, or a value no scalar has. */
static uint32_t decode_by_pattern(const unsigned char *b, size_t len)
{
    uint32_t point = len == 2 ? b[0] & 0x1fu : len == 3 ? b[0] & 0xfu : b[0] & 7u;
    for (size_t i = 1; i < len; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return UINT32_MAX;
        point = point << 6 | (b[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool scalar = point >= least[len] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return scalar ? point : UINT32_MAX;
}

/* Every start of three bytes, with a fourth of each kind, against the bit patterns. */
static void accepts_exactly_what_the_definition_does(void **state)
{
    (void)state;
    static const unsigned char fourths[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
    for (uint32_t i = 0; i < 1u << 24; i++) {
        unsigned char b[4] = {(unsigned char)(i >> 16), (unsigned char)(i >> 8), (unsigned char)i};
        size_t len = b[0] < 0x80             ? 1
                     : (b[0] & 0xe0) == 0xc0 ? 2
                     : (b[0] & 0xf0) == 0xe0 ? 3
                     : (b[0] & 0xf8) == 0xf0 ? 4
                                             : 0;
        for (size_t f = 0; f < (len == 4 ? sizeof fourths : 1); f++) {
            b[3] = fourths[f];
            bool valid = len == 1 || (len > 1 && decode_by_pattern(b, len) != UINT32_MAX);
            if (sonde__utf8_sequence((const char *)b, 4) != (valid ? len : 0))
                fail_msg("%02x %02x %02x %02x", b[0], b[1], b[2], b[3]);
        }
    }
}

static void prefix_ends_at_the_first_bad_byte(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t valid;
    } cases[] = {
        {"", 0},
        {"plain text, longer than a word", 30},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9},
        {"abcdefg\xc3\xa9hijklmnop", 18},
        {"abc\xff", 3},
        {"abcdefgh\x80ijklmnop", 8},
        {"abcdefghijklmnopq\xed\xa0\x80", 17},
        {"ab\xe2\x82", 2},
        {"\xc0\x80", 0},
        {"\xf4\x90\x80\x80", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(sonde__utf8_valid_prefix(cases[i].text, strlen(cases[i].text)),
                         cases[i].valid);
}

static void a_bad_byte_is_found_at_every_offset(void **state)
{
    (void)state;
    char text[40];
    for (size_t bad = 0; bad < sizeof text; bad++) {
        memset(text, 'a', sizeof text);
        text[bad] = '\x9f';
        assert_int_equal(sonde__utf8_valid_prefix(text, sizeof text), bad);
        assert_int_equal(sonde__utf8_valid_prefix(text, bad), bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_is_one_sequence),
        cmocka_unit_test(accepts_exactly_what_the_definition_does),
        cmocka_unit_test(prefix_ends_at_the_first_bad_byte),
        cmocka_unit_test(a_bad_byte_is_found_at_every_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
