/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES: a list of numbers, UUIDs or MIG names. */
#ifndef SONDE_CAPTURE_GPU_VISIBLE_H
#define SONDE_CAPTURE_GPU_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum sonde__visible_kind {
    SONDE__VISIBLE_INDEX, /* "2" */
    SONDE__VISIBLE_ID,    /* "GPU-1f0a", or the beginning of one */
    SONDE__VISIBLE_MIG,   /* "MIG-..." */
} sonde__visible_kind;

typedef struct sonde__visible {
    sonde__visible_kind kind;
    unsigned index;
    const char *text; /* within the list */
    size_t len;
} sonde__visible;

/* Hands out the entries of a list from *at on. False at its end and, as the vendors have it, at the
   first entry that is none ("-1", "x", nothing between commas): what follows is not visible. */
bool sonde__visible_next(const char *list, size_t *at, sonde__visible *out);

/* Whether a device's id begins with an entry's, without regard to case, dashes and the "GPU-". */
bool sonde__visible_matches(const sonde__visible *visible, const char *id);

#endif
