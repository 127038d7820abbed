/* SPDX-License-Identifier: Apache-2.0 */
#include "parser_test.h"

static const char newer[] = "MemTotal:       24682416 kB\nMemFree:        23900072 kB\n"
                            "MemAvailable:   24125624 kB\nBuffers:            2980 kB\n"
                            "Cached:           402720 kB\nSwapCached:            9 kB\n"
                            "Active:           297520 kB\nInactive:         299840 kB\n"
                            "Active(anon):       1556 kB\nInactive(anon):   202880 kB\n"
                            "SwapTotal:       2097148 kB\nSwapFree:        2097000 kB\n"
                            "Shmem:             12776 kB\nKReclaimable:         7 kB\n"
                            "Slab:             104152 kB\nSReclaimable:      80540 kB\n"
                            "SUnreclaim:        23612 kB\nHugePages_Total:       0\n";

/* In the order of the enum, in kB. */
static const uint64_t newer_kb[SONDE__MEM_COUNT] = {24682416, 23900072, 24125624, 2980,
                                                    402720,   297520,   299840,   2097148,
                                                    2097000,  12776,    104152,   80540};

enum { ALL = (1 << SONDE__MEM_COUNT) - 1 };

static sonde__meminfo parse(const char *text, size_t len)
{
    sonde__meminfo info;
    char *copy = exact_copy(text, len);
    sonde__parse_meminfo(copy, len, &info);
    free(copy);
    return info;
}

static void reads_every_key(void **state)
{
    (void)state;
    sonde__meminfo info = parse(newer, sizeof newer - 1);
    assert_int_equal(info.known, ALL);
    assert_int_equal(info.garbled, 0);
    for (unsigned i = 0; i < SONDE__MEM_COUNT; i++)
        assert_true(info.bytes[i] == newer_kb[i] * 1024);
}

/* Linux before 3.14 has no MemAvailable, before 2.6.19 no SReclaimable. */
static void older_kernels_have_fewer_keys(void **state)
{
    (void)state;
    const char text[] = "MemTotal: 100 kB\nMemFree: 50 kB\nBuffers: 1 kB\nCached: 2 kB\n";
    sonde__meminfo info = parse(text, sizeof text - 1);
    assert_int_equal(info.known, 1 << SONDE__MEM_TOTAL | 1 << SONDE__MEM_FREE |
                                     1 << SONDE__MEM_BUFFERS | 1 << SONDE__MEM_CACHED);
    assert_int_equal(info.garbled, 0);
}

static void order_does_not_matter(void **state)
{
    (void)state;
    const char text[] = "Slab: 7 kB\nInactive: 6 kB\nMemTotal: 5 kB\nActive: 4 kB\nFoo: 3 kB\n";
    sonde__meminfo info = parse(text, sizeof text - 1);
    assert_true(info.bytes[SONDE__MEM_SLAB] == 7 * 1024);
    assert_true(info.bytes[SONDE__MEM_INACTIVE] == 6 * 1024);
    assert_true(info.bytes[SONDE__MEM_TOTAL] == 5 * 1024);
    assert_true(info.bytes[SONDE__MEM_ACTIVE] == 4 * 1024);
}

static void similar_keys_are_not_taken(void **state)
{
    (void)state;
    const char text[] = "Active(anon): 1 kB\nSwapCached: 1 kB\n MemFree: 1 kB\nMemTotalX: 1 kB\n"
                        "memtotal: 1 kB\nSlab 1 kB\nShmemHugePages: 1 kB\n";
    sonde__meminfo info = parse(text, sizeof text - 1);
    assert_int_equal(info.known, 0);
    assert_int_equal(info.garbled, 0);
}

static void garbled_numbers_are_told_apart_from_absent_ones(void **state)
{
    (void)state;
    static const char *const values[] = {
        "",          " kB",     " x kB",           " -5 kB",          " 5x kB",
        " 5\xff kB", " 0x5 kB", " " TOO_BIG " kB", " " BIGGEST " kB",
    };
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        char text[128];
        int len = snprintf(text, sizeof text, "MemTotal:%s\nMemFree: 4 kB\n", values[i]);
        sonde__meminfo info = parse(text, (size_t)len);
        assert_int_equal(info.known, 1 << SONDE__MEM_FREE);
        assert_int_equal(info.garbled, 1 << SONDE__MEM_TOTAL);
    }
}

static void empty_text_knows_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n", "\n\n\n", "M", "MemTotal:", "MemTotal: 5 kB"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        sonde__meminfo info = parse(texts[i], strlen(texts[i]));
        assert_int_equal(info.known | info.garbled, 0);
    }
}

static void cut_text_gives_whole_numbers_only(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof newer - 1; cut++) {
        sonde__meminfo info = parse(newer, cut);
        assert_int_equal(info.garbled, 0);
        for (unsigned i = 0; i < SONDE__MEM_COUNT; i++)
            if (info.known & 1u << i)
                assert_true(info.bytes[i] == newer_kb[i] * 1024);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_key),
        cmocka_unit_test(older_kernels_have_fewer_keys),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(similar_keys_are_not_taken),
        cmocka_unit_test(garbled_numbers_are_told_apart_from_absent_ones),
        cmocka_unit_test(empty_text_knows_nothing),
        cmocka_unit_test(cut_text_gives_whole_numbers_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
