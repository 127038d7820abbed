/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc and /sys that are read once and closed. */
#ifndef SONDE_CAPTURE_SMALL_FILE_H
#define SONDE_CAPTURE_SMALL_FILE_H

#include "capture/source.h"

enum { SONDE__SMALL_PATH_BYTES = 768 }; /* below the root; longer ones are not opened */

/* Reads the file at root + printf-style path into host->text. */
sonde_status sonde__small_read(sonde__host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The number in it; EABSENT for "max". */
sonde_status sonde__small_number(sonde__host *host, uint64_t *out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Its first line, without the newline, cut to what fits. */
sonde_status sonde__small_line(sonde__host *host, char *out, size_t cap, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Opens root + printf-style path to be kept. */
sonde_status sonde__small_open(const sonde__host *host, sonde__kernel_file *file,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
