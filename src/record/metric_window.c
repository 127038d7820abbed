/* SPDX-License-Identifier: Apache-2.0 */
#include "record/metric_window.h"

#include <sched.h>
#include <stdlib.h>

sonde__window *sonde__window_create(size_t size)
{
    sonde__window *window = calloc(1, sizeof *window + size * sizeof(double));
    if (window)
        window->size = size;
    return window;
}

/* A spin lock: held for one store or one copy, and a signal handler can see that it is held. */
static bool lock(sonde__window *window, bool may_wait)
{
    while (atomic_exchange_explicit(&window->lock, 1, memory_order_acquire) != 0) {
        if (!may_wait)
            return false;
        sched_yield();
    }
    return true;
}

static void unlock(sonde__window *window)
{
    atomic_store_explicit(&window->lock, 0, memory_order_release);
}

bool sonde__window_put(sonde__window *window, double value, bool may_wait)
{
    if (!lock(window, may_wait))
        return false;
    window->values[window->put++ % window->size] = value;
    unlock(window);
    return true;
}

size_t sonde__window_copy(sonde__window *window, double *out)
{
    lock(window, true);
    size_t count = window->put < window->size ? (size_t)window->put : window->size;
    size_t first = window->put < window->size ? 0 : (size_t)(window->put % window->size);
    for (size_t i = 0; i < count; i++)
        out[i] = window->values[(first + i) % window->size];
    unlock(window);
    return count;
}

/* n * (p / 100) and not n * p / 100: the products differ in their last bit, and truncation makes
   that a whole element. */
size_t sonde__percentile_index(size_t n, double percent)
{
    if (!(percent > 0))
        return 0;
    double index = (double)n * (percent / 100.0);
    return index < (double)(n - 1) ? (size_t)index : n - 1;
}
