/* SPDX-License-Identifier: Apache-2.0 */
/* The model in a GPU's name ("NVIDIA H100 80GB HBM3" is an H100), and which of several models a job
   is filed under. */
#ifndef SONDE_ATTRIBUTES_GPU_TYPE_H
#define SONDE_ATTRIBUTES_GPU_TYPE_H

#include <stddef.h>

/* Writes at most 2 * len + 8 bytes and returns how many. */
size_t sonde__gpu_type(const char *name, size_t len, char *out);

/* The rank of a model: 0 is preferred to 1; SONDE__GPU_UNRANKED for those not in the list. */
enum { SONDE__GPU_UNRANKED = 1000 };
unsigned sonde__gpu_rank(const char *type, size_t len);

#endif
