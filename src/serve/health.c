/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/health.h"

#include <stddef.h>

static const uint64_t grace_ns = 2000000000u;

static bool is_old(const sonde__health *facts, uint64_t since_ns)
{
    uint64_t from = since_ns > facts->started_ns ? since_ns : facts->started_ns;
    return facts->now_ns > from && facts->now_ns - from > 3 * facts->interval_ns + grace_ns;
}

const char *sonde__health_problem(const sonde__health *facts)
{
    if (is_old(facts, facts->tick_ns))
        return "no snapshot was taken for several intervals";
    if (facts->host && is_old(facts, facts->host_ns))
        return "no reading of the machine was finished for several intervals";
    return NULL;
}
