/* SPDX-License-Identifier: Apache-2.0 */
/* Energy of the CPU packages over an interval, from the counters of powercap (RAPL). */
#ifndef SONDE_AGENT_JOULES_H
#define SONDE_AGENT_JOULES_H

#include <stdint.h>

enum { SONDE__PACKAGES_MAX = 8 };

typedef struct sonde__joules {
    unsigned packages;
    uint64_t start_uj[SONDE__PACKAGES_MAX]; /* at the last reading */
    uint64_t range_uj[SONDE__PACKAGES_MAX];
    double sum_uj;
    const char *reason; /* why there is nothing; NULL: there is */
} sonde__joules;

/* root: "/sys/class/powercap". */
void sonde__joules_start(sonde__joules *joules, const char *root);

/* Takes a reading. Joules since start; negative: not known, and joules->reason says why. */
double sonde__joules_since(sonde__joules *joules, const char *root);

#endif
