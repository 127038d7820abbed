/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ids.h"

#include "base/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/random.h>
#include <unistd.h>

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection that spreads every bit. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The count tells apart calls within one tick of the clock, the pid processes started together (a
   forked child has its parent's count and addresses), the addresses hosts with equal clocks. */
static uint64_t fallback_random(void)
{
    static atomic_uint_fast64_t calls;
    uint64_t count = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    uint64_t seed = mix(sonde__clock_wall_ns() + count * 0x9e3779b97f4a7c15u);
    seed = mix(seed ^ ((uint64_t)getpid() << 32) ^ sonde__clock_monotonic_ns());
    return mix(seed ^ (uint64_t)(uintptr_t)&calls ^ ((uint64_t)(uintptr_t)&seed << 16));
}

uint64_t sonde__id_random(void)
{
    uint64_t id = 0;
    while (id == 0) {
        ssize_t got = getrandom(&id, sizeof id, GRND_NONBLOCK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)sizeof id)
            id = fallback_random();
    }
    return id;
}

void sonde__id_to_hex(uint64_t id, char out[16])
{
    for (int i = 15; i >= 0; i--, id >>= 4)
        out[i] = "0123456789abcdef"[id & 15];
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int sonde__id_from_hex(const char *text, size_t len, uint64_t *out)
{
    if (len != 16)
        return 0;
    uint64_t id = 0;
    for (size_t i = 0; i < len; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return 0;
        id = id << 4 | (uint64_t)digit;
    }
    *out = id;
    return 1;
}
