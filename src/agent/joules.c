/* SPDX-License-Identifier: Apache-2.0 */
/* Counters wrap at max_energy_range_uj, under full load in about twenty minutes. One wrap between
   two readings is put right; who samples more often than that misses none. */
#include "agent/joules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool read_number(const char *root, unsigned package, const char *name, uint64_t *out)
{
    char path[256], text[32];
    snprintf(path, sizeof path, "%s/intel-rapl:%u/%s", root, package, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof text - 1);
    int error = errno;
    close(fd);
    if (got <= 0) {
        errno = error;
        return false;
    }
    text[got] = '\0';
    *out = strtoull(text, NULL, 10);
    return true;
}

void sonde__joules_start(sonde__joules *joules, const char *root)
{
    *joules = (sonde__joules){0};
    for (unsigned i = 0; i < SONDE__PACKAGES_MAX; i++) {
        errno = 0;
        if (!read_number(root, i, "energy_uj", &joules->start_uj[i]))
            break;
        if (!read_number(root, i, "max_energy_range_uj", &joules->range_uj[i]))
            joules->range_uj[i] = 0;
        joules->packages++;
    }
    if (joules->packages == 0)
        joules->reason = errno == EACCES ? "energy counters are readable by root only"
                                         : "this machine has no energy counters";
}

double sonde__joules_since(sonde__joules *joules, const char *root)
{
    for (unsigned i = 0; i < joules->packages; i++) {
        uint64_t now;
        if (!read_number(root, i, "energy_uj", &now)) {
            joules->reason = "an energy counter went away";
            return -1;
        }
        uint64_t used = now >= joules->start_uj[i]
                            ? now - joules->start_uj[i]
                            : now + joules->range_uj[i] - joules->start_uj[i];
        joules->sum_uj += (double)used;
        joules->start_uj[i] = now;
    }
    return joules->packages ? joules->sum_uj / 1e6 : -1;
}
