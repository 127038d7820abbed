/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about a settings file: always one line, FILE:LINE:COLUMN: what; what to do. */
#ifndef SONDE_SETTINGS_ERROR_H
#define SONDE_SETTINGS_ERROR_H

#include "settings/settings_limits.h"
#include "sonde/settings.h"
#include "sonde/status.h"

#include <stddef.h>

/* Both from 1, the column in characters. Line 0: the file as a whole. */
typedef struct sonde__place {
    size_t line;
    size_t column;
} sonde__place;

/* Where messages of one file go. */
typedef struct sonde__complaints {
    const char *name;            /* the file, as the user knows it */
    sonde_settings_error *error; /* may be NULL */
} sonde__complaints;

/* A text made fit for a message. */
typedef struct sonde__shown {
    char text[SONDE__SETTINGS_SHOWN_BYTES + 16];
} sonde__shown;

/* Text in double quotes; control characters and bytes that are not UTF-8 escaped, the end cut. */
sonde__shown sonde__show(const char *text, size_t len);

/* Writes the line, cut to what fits, and returns status. */
sonde_status sonde__complain(const sonde__complaints *to, sonde__place place, sonde_status status,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
