/* SPDX-License-Identifier: Apache-2.0 */
#include "view/native_buckets.h"

#include <float.h>
#include <math.h>

static int index_of(double value)
{
    if (!(value < DBL_MAX))
        value = DBL_MAX;
    return (int)ceil(log2(value) * SONDE_OCTAVE_BUCKETS) - 1;
}

void sonde__native_positive(const sonde_distribution *d,
                            void (*each)(void *user, int index, uint64_t count), void *user)
{
    uint64_t rest = d->over + d->unplaced;
    int rest_at = rest > 0 && d->max > 0 ? index_of(d->max) : 0;
    for (size_t i = 0; i < d->octave_count; i++)
        for (int k = 0; k < SONDE_OCTAVE_BUCKETS; k++) {
            int index = d->octaves[i].exponent * SONDE_OCTAVE_BUCKETS + k;
            uint64_t count = d->octaves[i].bucket[k];
            if (rest > 0 && index >= rest_at) {
                count += index == rest_at ? rest : 0;
                if (index > rest_at)
                    each(user, rest_at, rest);
                rest = 0;
            }
            if (count > 0)
                each(user, index, count);
        }
    if (rest > 0)
        each(user, rest_at, rest);
}

typedef struct lowest {
    int index;
    bool found;
} lowest;

static void keep_first(void *user, int index, uint64_t count)
{
    (void)count;
    lowest *low = user;
    if (!low->found)
        *low = (lowest){index, true};
}

bool sonde__native_first(const sonde_distribution *d, int *index)
{
    lowest low = {0, false};
    sonde__native_positive(d, keep_first, &low);
    *index = low.index;
    return low.found;
}

uint64_t sonde__native_negative(const sonde_distribution *d, int *index)
{
    if (d->negative > 0)
        *index = index_of(-d->min);
    return d->negative;
}
