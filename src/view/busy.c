/* SPDX-License-Identifier: Apache-2.0 */
#include "view/busy.h"

#include <stdbool.h>
#include <string.h>

static void settle(sonde__busy *busy, sonde__span span)
{
    if (busy->settled_end != 0 && span.start_ns > busy->settled_end) {
        uint64_t gap = span.start_ns - busy->settled_end;
        busy->settled_gaps++;
        busy->settled_gap_ns += gap;
        if (gap > busy->settled_longest.end_ns - busy->settled_longest.start_ns)
            busy->settled_longest = (sonde__span){busy->settled_end, span.start_ns};
    }
    busy->settled_ns += span.end_ns - span.start_ns;
    busy->settled_end = span.end_ns;
}

/* Half of them at once, so that moving the rest costs little per span. */
static void settle_half(sonde__busy *busy)
{
    size_t half = SONDE__BUSY_KEPT / 2;
    for (size_t i = 0; i < half; i++)
        settle(busy, busy->kept[i]);
    memmove(busy->kept, busy->kept + half, (busy->count - half) * sizeof *busy->kept);
    busy->count -= half;
}

/* The usual case: a span behind all others, or one that makes the last longer. */
static bool add_last(sonde__busy *busy, uint64_t start_ns, uint64_t end_ns)
{
    sonde__span *last = &busy->kept[busy->count - 1];
    if (start_ns > last->end_ns && busy->count < SONDE__BUSY_KEPT)
        busy->kept[busy->count++] = (sonde__span){start_ns, end_ns};
    else if (start_ns >= last->start_ns && start_ns <= last->end_ns && end_ns >= last->end_ns)
        last->end_ns = end_ns;
    else
        return false;
    return true;
}

void sonde__busy_add(sonde__busy *busy, uint64_t start_ns, uint64_t end_ns)
{
    if (busy->count > 0 && add_last(busy, start_ns, end_ns))
        return;
    if (end_ns <= busy->settled_end)
        return; /* far too late: that time is accounted for */
    if (start_ns < busy->settled_end)
        start_ns = busy->settled_end;
    /* spans that end after the new one begins are joined with it or stand behind it */
    size_t first = busy->count;
    while (first > 0 && busy->kept[first - 1].end_ns >= start_ns)
        first--;
    size_t next = first;
    while (next < busy->count && busy->kept[next].start_ns <= end_ns) {
        if (busy->kept[next].start_ns < start_ns)
            start_ns = busy->kept[next].start_ns;
        if (busy->kept[next].end_ns > end_ns)
            end_ns = busy->kept[next].end_ns;
        next++;
    }
    if (next == first && busy->count == SONDE__BUSY_KEPT) {
        settle_half(busy);
        sonde__busy_add(busy, start_ns, end_ns);
        return;
    }
    memmove(busy->kept + first + 1, busy->kept + next, (busy->count - next) * sizeof *busy->kept);
    busy->kept[first] = (sonde__span){start_ns, end_ns};
    busy->count = busy->count - (next - first) + 1;
}

sonde__busy_total sonde__busy_sum(const sonde__busy *busy)
{
    sonde__busy all = *busy;
    for (size_t i = 0; i < busy->count; i++)
        settle(&all, busy->kept[i]);
    return (sonde__busy_total){all.settled_ns, all.settled_gaps, all.settled_gap_ns,
                               all.settled_longest};
}
