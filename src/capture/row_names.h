/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a source's rows, kept between readings so that rows can point to them. */
#ifndef SONDE_CAPTURE_ROW_NAMES_H
#define SONDE_CAPTURE_ROW_NAMES_H

#include "capture/telemetry.h"

enum { SONDE__NAME_BYTES = 32 };

typedef struct sonde__names {
    char (*name)[SONDE__NAME_BYTES];
    size_t cap;
} sonde__names;

/* Stores the name of row index, cut to what fits. False without memory. */
bool sonde__names_put(sonde__names *names, size_t index, const char *text, size_t len);

/* Points every row to its name; once all are put, because putting may move them. */
void sonde__names_apply(const sonde__names *names, sonde__rows *rows);

void sonde__names_free(sonde__names *names);

#endif
