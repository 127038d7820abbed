/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C against its published vectors (RFC 3720, B.4), varints at their edges, ticks against the
   kernel's clock. */
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/ticks.h"
#include "base/varint.h"

/* cmocka wants these before itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void crc32c_vectors(void **state)
{
    (void)state;
    uint8_t bytes[32];
    assert_int_equal(sonde__crc32c(0, "123456789", 9), 0xe3069283u);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(sonde__crc32c(0, bytes, sizeof bytes), 0x8a9136aau);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(sonde__crc32c(0, bytes, sizeof bytes), 0x62a8ab43u);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(sonde__crc32c(0, bytes, sizeof bytes), 0x46dd794eu);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        uint32_t first = sonde__crc32c(0, bytes, cut);
        assert_int_equal(sonde__crc32c(first, bytes + cut, sizeof bytes - cut), 0x46dd794eu);
        assert_int_equal(sonde__crc32c_portable(0, bytes, cut), first);
    }
}

static void varints_at_their_edges(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++)
        for (int step = -1; step <= 1; step++) {
            uint64_t value = ((uint64_t)1 << bit) + (uint64_t)(int64_t)step;
            uint8_t bytes[SONDE__VARINT_MAX];
            const uint8_t *end = sonde__varint_put(bytes, value);
            const uint8_t *at = bytes;
            uint64_t back = 0;
            assert_true(sonde__varint_get(&at, end, &back));
            assert_true(at == end && back == value);
            assert_true(sonde__unzigzag(sonde__zigzag((int64_t)value)) == (int64_t)value);
            at = bytes;
            assert_false(sonde__varint_get(&at, end - 1, &back));
        }
    const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    const uint8_t *at = too_long;
    uint64_t value;
    assert_false(sonde__varint_get(&at, too_long + sizeof too_long, &value));
}

static void ticks_agree_with_the_kernel(void **state)
{
    (void)state;
    bool tsc = sonde__ticks_have_tsc();
    sonde__rate rate;
    sonde__rate_init(&rate, tsc, sonde__anchor_read(tsc));
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    uint64_t mono = sonde__clock_monotonic_ns();
    uint64_t ticks = sonde__ticks_now(tsc);
    sonde__rate_update(&rate, sonde__anchor_read(tsc));
    int64_t error = (int64_t)(sonde__rate_mono_ns(&rate, ticks) - mono);
    assert_in_range(error + 20000, 0, 60000); /* two readings in a row, on a busy machine */
}

/* A clock that ticks at 2.5 GHz, by hand. */
static sonde__anchor anchor_at(uint64_t ns, int64_t wall_offset)
{
    return (sonde__anchor){
        .ticks = 1000 + ns * 5 / 2, .mono_ns = ns, .wall_offset_ns = wall_offset};
}

static void steps_of_the_wall_clock_do_not_touch_durations(void **state)
{
    (void)state;
    sonde__rate rate;
    sonde__rate_init(&rate, true, anchor_at(5000000000u, 100));
    sonde__rate_update(&rate, anchor_at(7000000000u, 100));
    uint64_t a = sonde__rate_mono_ns(&rate, anchor_at(6000000000u, 0).ticks);
    sonde__rate_update(&rate, anchor_at(8000000000u, -86400000000000)); /* a day back */
    uint64_t b = sonde__rate_mono_ns(&rate, anchor_at(8000000000u, 0).ticks);
    assert_in_range(b - a, 1999999990, 2000000010);
    assert_true(rate.last.wall_offset_ns == -86400000000000);
    assert_true(rate.settled);
}

static void a_suspend_moves_the_anchor_only(void **state)
{
    (void)state;
    sonde__rate rate;
    sonde__rate_init(&rate, true, anchor_at(1000000000u, 0));
    sonde__rate_update(&rate, anchor_at(3000000000u, 0));
    uint64_t factor = rate.ns_per_tick;
    sonde__anchor after = anchor_at(3000000000u, 0);
    after.ticks += 9000000000u * 5 / 2; /* the TSC ran on for 9 s, the monotonic clock stood */
    after.mono_ns += 100000000;
    sonde__rate_update(&rate, after);
    assert_true(rate.ns_per_tick == factor);
    assert_true(sonde__rate_mono_ns(&rate, after.ticks) == after.mono_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32c_vectors),
        cmocka_unit_test(varints_at_their_edges),
        cmocka_unit_test(ticks_agree_with_the_kernel),
        cmocka_unit_test(steps_of_the_wall_clock_do_not_touch_durations),
        cmocka_unit_test(a_suspend_moves_the_anchor_only),
    };
    return cmocka_run_group_tests_name("ticks", tests, NULL, NULL);
}
