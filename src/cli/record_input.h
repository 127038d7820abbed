/* SPDX-License-Identifier: Apache-2.0 */
/* Records out of a file or pipe: JSON Lines, as they come, or one JSON array. */
#ifndef SONDE_CLI_RECORD_INPUT_H
#define SONDE_CLI_RECORD_INPUT_H

#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SONDE__RECORD_LINE_MAX = 64 << 20 }; /* bytes of one line */

typedef struct sonde__record_sink {
    void *user;
    /* One record and the number of the line it begins in. False: no more are wanted. */
    bool (*record)(void *user, const char *text, size_t len, size_t line);
    /* What is no record, and why. False: no more is wanted. */
    bool (*bad)(void *user, size_t line, const char *reason);
    /* So many bytes have been read; called after each piece, also when nothing comes of it. */
    void (*progress)(void *user, uint64_t bytes);
} sonde__record_sink;

/* Reads to the end of fd. EIO and others when it cannot be read, ENOMEM. */
sonde_status sonde__records_read(int fd, const sonde__record_sink *sink);

#endif
