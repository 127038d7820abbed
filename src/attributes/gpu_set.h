/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of one record, counted by name and by model. Memory is kept from record to record. */
#ifndef SONDE_ATTRIBUTES_GPU_SET_H
#define SONDE_ATTRIBUTES_GPU_SET_H

#include "attributes/record_data.h"
#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

typedef struct sonde__gpu_count {
    const char *text;
    uint32_t len;
    uint32_t count;
} sonde__gpu_count;

/* A name as it was last worked out: finding the model takes some twenty searches. */
enum { SONDE__GPU_NAMES_KEPT = 64, SONDE__GPU_NAME_BYTES = 64 };

typedef struct sonde__gpu_name {
    uint32_t len; /* 0: none */
    uint32_t upper_len;
    uint32_t type_len;
    char name[SONDE__GPU_NAME_BYTES];
    char upper[SONDE__GPU_NAME_BYTES];
    char type[2 * SONDE__GPU_NAME_BYTES];
} sonde__gpu_name;

typedef struct sonde__gpu_set {
    sonde__gpu_count *names; /* sanitised, upper case, in byte order */
    sonde__gpu_count *types; /* models, in byte order */
    size_t name_count;
    size_t type_count;
    size_t total;
    const sonde__gpu_count *primary; /* the model the job is filed under; NULL: no GPU */
    size_t cap;
    sonde__buf text;
    sonde__gpu_name kept[SONDE__GPU_NAMES_KEPT]; /* by hash: 17 KiB */
} sonde__gpu_set;

void sonde__gpu_set_init(sonde__gpu_set *set);
void sonde__gpu_set_free(sonde__gpu_set *set);

/* items: spans of text. ENOMEM, ELIMIT. */
sonde_status sonde__gpu_set_count(sonde__gpu_set *set, const char *text, const sonde__span *items,
                                  size_t count);

/* "2_NVIDIA_A100_2" */
void sonde__gpu_set_identifier(const sonde__gpu_set *set, sonde__buf *out);

#endif
