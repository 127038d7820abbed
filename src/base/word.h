/* SPDX-License-Identifier: Apache-2.0 */
/* Eight bytes at once, from any address. */
#ifndef SONDE_BASE_WORD_H
#define SONDE_BASE_WORD_H

#include <stdint.h>
#include <string.h>

static inline uint64_t sonde__word_at(const void *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

#endif
