/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/protobuf.h"
#include "view/native_buckets.h"

#include <math.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct seen {
    int index[16];
    uint64_t count[16];
    size_t n;
} seen;

static void see(void *user, int index, uint64_t count)
{
    seen *s = user;
    assert_true(s->n < 16 && count > 0);
    assert_true(s->n == 0 || index > s->index[s->n - 1]);
    s->index[s->n] = index;
    s->count[s->n++] = count;
}

/* Where the values are that have no bucket of their own: the buckets still add up. */
static void what_has_no_bucket_is_with_the_largest(void **state)
{
    (void)state;
    sonde_octave octave = {.exponent = 2, .count = 3};
    octave.bucket[0] = 1;  /* (4, 4.04] */
    octave.bucket[63] = 2; /* (7.91, 8] */
    sonde_distribution d = {
        .count = 5, .max = 0x1p70, .over = 2, .octave_count = 1, .octaves = &octave};
    seen s = {.n = 0};
    sonde__native_positive(&d, see, &s);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.index[0], 128);
    assert_int_equal(s.index[1], 191);
    assert_int_equal(s.index[2], 70 * 64 - 1); /* up to and with 2^70 */
    assert_int_equal(s.count[2], 2);

    d.over = 0;
    d.unplaced = 4;
    d.max = 8; /* in a bucket that is there */
    s.n = 0;
    sonde__native_positive(&d, see, &s);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.count[1], 6);

    d.max = 5; /* between two that are */
    s.n = 0;
    sonde__native_positive(&d, see, &s);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.count[1], 4);

    d.max = INFINITY;
    s.n = 0;
    sonde__native_positive(&d, see, &s);
    assert_int_equal(s.index[2], 1024 * 64 - 1);
}

static void negative_values_are_with_the_smallest(void **state)
{
    (void)state;
    sonde_distribution d = {.count = 3, .negative = 3, .min = -4, .max = -1};
    int index = 99;
    assert_int_equal(sonde__native_negative(&d, &index), 3);
    assert_int_equal(index, 127);
    d.negative = 0;
    assert_int_equal(sonde__native_negative(&d, &index), 0);
}

static size_t length_at(const sonde__buf *buf, size_t at, size_t *len)
{
    const uint8_t *from = (const uint8_t *)buf->data + at;
    uint64_t value = 0;
    assert_true(sonde__varint_get(&from, (const uint8_t *)buf->data + buf->len, &value));
    *len = (size_t)value;
    return (size_t)(from - (const uint8_t *)buf->data);
}

static void lengths_of_messages_are_right(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 127, 128, 16383, 16384, 3000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int is_short = 0; is_short < 2; is_short++) {
            sonde__buf buf;
            sonde__buf_init(&buf, 8 << 20);
            size_t begun = is_short ? sonde__pb_begin_short(&buf, 1) : sonde__pb_begin(&buf, 1);
            for (size_t k = 0; k < lengths[i]; k++)
                sonde__buf_char(&buf, (char)('a' + k % 26));
            if (is_short)
                sonde__pb_end_short(&buf, begun);
            else
                sonde__pb_end(&buf, begun);
            size_t len;
            size_t from = length_at(&buf, 1, &len);
            assert_int_equal(len, lengths[i]);
            assert_int_equal(buf.len, from + len);
            for (size_t k = 0; k < len; k++)
                assert_int_equal(buf.data[from + k], (char)('a' + k % 26));
            sonde__buf_free(&buf);
        }
}

/* A message that does not fit leaves the buffer's failure, not bytes out of place. */
static void a_full_buffer_is_told(void **state)
{
    (void)state;
    size_t fitted = 0;
    for (size_t room = 0; room < 64; room++) {
        char memory[64];
        sonde__buf buf;
        sonde__buf_init_fixed(&buf, memory, room);
        size_t begun = sonde__pb_begin_short(&buf, 1);
        sonde__pb_fixed64(&buf, 1, 7);
        sonde__pb_end_short(&buf, begun);
        assert_true(buf.len <= room);
        assert_int_equal(buf.status, room < 11 || buf.len != 11 ? SONDE_ELIMIT : SONDE_OK);
        fitted += buf.status == SONDE_OK;
    }
    assert_true(fitted > 10);
}

static void base64_is_padded(void **state)
{
    (void)state;
    static const char *const cases[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                        "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t len = 0; len < sizeof cases / sizeof *cases; len++) {
        sonde__buf buf;
        sonde__buf_init(&buf, 64);
        sonde__base64(&buf, "foobar", len);
        sonde__buf_char(&buf, '\0');
        assert_string_equal(buf.data, cases[len]);
        sonde__buf_free(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_bucket_is_with_the_largest),
        cmocka_unit_test(negative_values_are_with_the_smallest),
        cmocka_unit_test(lengths_of_messages_are_right),
        cmocka_unit_test(a_full_buffer_is_told),
        cmocka_unit_test(base64_is_padded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
