/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks are turned into nanoseconds when they are drained, so the base line of the calibration is
   always at least as long as the interval that is converted, and opening a session costs no
   calibration time. Invariant TSC is CPUID 80000007h, EDX bit 8. */
#include "base/ticks.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { ANCHOR_TRIES = 4 };

static bool tsc_is_invariant(void)
{
#if defined(__x86_64__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx))
        return (edx >> 8 & 1) != 0;
#endif
    return false;
}

bool sonde__ticks_have_tsc(void)
{
    if (!tsc_is_invariant())
        return false;
    char text[16] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof text);
    close(fd);
    return got == 4 && memcmp(text, "tsc\n", 4) == 0;
}

sonde__anchor sonde__anchor_read(bool tsc)
{
    sonde__anchor best = {0};
    uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < ANCHOR_TRIES; i++) {
        uint64_t before = sonde__ticks_now(tsc);
        uint64_t mono = sonde__clock_monotonic_ns();
        uint64_t after = sonde__ticks_now(tsc);
        if (after - before < best_width) {
            best_width = after - before;
            best.ticks = tsc ? before + (after - before) / 2 : mono;
            best.mono_ns = mono;
        }
    }
    uint64_t mono_before = sonde__clock_monotonic_ns();
    uint64_t wall = sonde__clock_wall_ns();
    uint64_t mono_after = sonde__clock_monotonic_ns();
    best.wall_offset_ns = (int64_t)(wall - (mono_before + (mono_after - mono_before) / 2));
    return best;
}

void sonde__rate_init(sonde__rate *rate, bool tsc, sonde__anchor first)
{
    *rate = (sonde__rate){.tsc = tsc, .first = first, .last = first};
    /* a guess for the case that no second reading differs from the first: 1 GHz */
    rate->ns_per_tick = (uint64_t)1 << 32;
}

static void measure(sonde__rate *rate, sonde__anchor now)
{
    uint64_t ticks = now.ticks - rate->first.ticks;
    uint64_t ns = now.mono_ns - rate->first.mono_ns;
    __extension__ typedef unsigned __int128 wide;
    if (ticks > 0)
        rate->ns_per_tick = (uint64_t)(((wide)ns << 32) / ticks);
    rate->last = now;
    rate->settled = ns >= SONDE__RATE_SETTLE_NS;
}

void sonde__rate_update(sonde__rate *rate, sonde__anchor now)
{
    int64_t wall_offset = now.wall_offset_ns;
    if (!rate->tsc || now.ticks <= rate->first.ticks || now.mono_ns <= rate->first.mono_ns) {
        rate->last.wall_offset_ns = wall_offset;
        return;
    }
    if (!rate->settled) {
        measure(rate, now);
        return;
    }
    int64_t error = (int64_t)(sonde__rate_mono_ns(rate, now.ticks) - now.mono_ns);
    if (error > SONDE__RATE_SLEW_NS || error < -SONDE__RATE_SLEW_NS) {
        /* Slewed by NTP: the mean rate since the start is still right to some ppm. Stopped by a
           suspend: only the anchor moves, the factor is the processor's. */
        int64_t gap = (int64_t)(now.mono_ns - rate->last.mono_ns);
        if (error < gap / 1000 && error > -(gap / 1000))
            measure(rate, now);
        else
            rate->first = rate->last = now;
    }
    rate->last.wall_offset_ns = wall_offset;
}
