/* SPDX-License-Identifier: Apache-2.0 */
/* A log-linear histogram: each power of two is cut into 64 equal cells, so a cell is at most 1/64
   of its value wide and its middle at most 0.8 % off. Values below 64 ns have a cell each. */
#include "view/times.h"

#include <math.h>
#include <stdlib.h>

void sonde__times_init(sonde__times *times)
{
    *times = (sonde__times){.min_ns = UINT64_MAX};
}

void sonde__times_free(sonde__times *times)
{
    for (size_t i = 0; i < SONDE__TIMES_OCTAVES; i++)
        free(times->cells[i]);
    sonde__times_init(times);
}

static unsigned octave_of(uint64_t ns)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(ns | 1);
    return bits <= SONDE__TIMES_SUB_BITS ? 0 : bits - SONDE__TIMES_SUB_BITS;
}

static unsigned cell_of(uint64_t ns, unsigned octave)
{
    return (unsigned)(ns >> (octave > 0 ? octave - 1 : 0)) & (SONDE__TIMES_CELLS - 1);
}

void sonde__times_add(sonde__times *times, uint64_t ns)
{
    unsigned octave = octave_of(ns);
    times->count++;
    times->sum_ns += ns;
    if (ns < times->min_ns)
        times->min_ns = ns;
    if (ns > times->max_ns)
        times->max_ns = ns;
    if (!times->cells[octave])
        times->cells[octave] = calloc(SONDE__TIMES_CELLS, sizeof **times->cells);
    if (times->cells[octave])
        times->cells[octave][cell_of(ns, octave)]++;
    else
        times->uncounted++;
}

static uint64_t middle_of(unsigned octave, unsigned cell)
{
    if (octave == 0)
        return cell;
    uint64_t width = (uint64_t)1 << (octave - 1);
    return ((uint64_t)(SONDE__TIMES_CELLS | cell)) * width + width / 2;
}

static uint64_t clamp(const sonde__times *times, uint64_t ns)
{
    if (ns < times->min_ns)
        return times->min_ns;
    return ns > times->max_ns ? times->max_ns : ns;
}

uint64_t sonde__times_quantile(const sonde__times *times, double q)
{
    uint64_t counted = times->count - times->uncounted;
    if (counted == 0)
        return times->count ? times->max_ns : 0;
    uint64_t rank = (uint64_t)ceil(q * (double)counted);
    if (rank < 1)
        rank = 1;
    uint64_t below = 0;
    for (unsigned octave = 0; octave < SONDE__TIMES_OCTAVES; octave++) {
        for (unsigned cell = 0; times->cells[octave] && cell < SONDE__TIMES_CELLS; cell++) {
            below += times->cells[octave][cell];
            if (below >= rank)
                return clamp(times, middle_of(octave, cell));
        }
    }
    return times->max_ns;
}
