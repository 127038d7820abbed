/* SPDX-License-Identifier: Apache-2.0 */
/* The stamp of the hot path: TSC ticks where the kernel itself trusts the TSC, nanoseconds of
   CLOCK_MONOTONIC elsewhere; and the rate that turns ticks into nanoseconds afterwards, when
   records are written, not when they are made. */
#ifndef SONDE_BASE_TICKS_H
#define SONDE_BASE_TICKS_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* True when the clock source is "tsc" and the processor's TSC is invariant. Reads a file. */
bool sonde__ticks_have_tsc(void);

/* Now. tsc is what sonde__ticks_have_tsc said. Async-signal-safe. */
static inline uint64_t sonde__ticks_now(bool tsc)
{
#if defined(__x86_64__)
    if (__builtin_expect(tsc, 1))
        return __rdtsc();
#endif
    (void)tsc;
    return sonde__clock_monotonic_ns();
}

/* A moment of waiting in a loop that looks at memory. */
static inline void sonde__relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* The same moment on three clocks. */
typedef struct sonde__anchor {
    uint64_t ticks;
    uint64_t mono_ns;
    int64_t wall_offset_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC */
} sonde__anchor;

/* The closest of a few readings. */
sonde__anchor sonde__anchor_read(bool tsc);

typedef struct sonde__rate {
    bool tsc;
    bool settled;         /* the factor is good to 0.1 ppm and kept */
    sonde__anchor first;  /* the base line's begin */
    sonde__anchor last;   /* where ticks are counted from */
    uint64_t ns_per_tick; /* 2^-32 ns */
} sonde__rate;

enum {
    SONDE__RATE_SETTLE_NS = 1000000000, /* base line after which the factor is kept */
    SONDE__RATE_SLEW_NS = 1000,         /* deviation that makes a new base line */
};

/* Starts a base line at first (of this boot). The rate is not usable before an update. */
void sonde__rate_init(sonde__rate *rate, bool tsc, sonde__anchor first);

/* Takes a newer reading into account: refines the factor while the base line is short, follows the
   kernel's clock where it was slewed, starts again after a suspend. */
void sonde__rate_update(sonde__rate *rate, sonde__anchor now);

/* CLOCK_MONOTONIC at the moment of ticks. */
static inline uint64_t sonde__rate_mono_ns(const sonde__rate *rate, uint64_t ticks)
{
    if (!rate->tsc)
        return ticks;
    int64_t delta = (int64_t)(ticks - rate->last.ticks);
    __extension__ typedef __int128 wide;
    return rate->last.mono_ns + (uint64_t)(int64_t)(((wide)delta * (wide)rate->ns_per_tick) >> 32);
}

#endif
