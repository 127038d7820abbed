/* SPDX-License-Identifier: Apache-2.0 */
/* A 64-bit hash of text, sixteen bytes per multiplication (the scheme of wyhash). With a random
   seed an attacker who chooses names cannot choose which of them collide. */
#ifndef SONDE_ATTRIBUTES_TEXT_HASH_H
#define SONDE_ATTRIBUTES_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t sonde__hash_mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t sonde__hash_word(const char *text, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, text, size);
    return word;
}

static inline uint64_t sonde__hash_text(const char *text, size_t len, uint64_t seed)
{
    const uint64_t k0 = 0xa0761d6478bd642fu;
    const uint64_t k1 = 0xe7037ed1a0b428dbu;
    uint64_t hash = seed ^ sonde__hash_mix(len ^ k0, k1);
    while (len > 16) {
        hash =
            sonde__hash_mix(sonde__hash_word(text, 8) ^ k0, sonde__hash_word(text + 8, 8) ^ hash);
        text += 16;
        len -= 16;
    }
    uint64_t a = 0;
    uint64_t b = 0;
    if (len >= 8) {
        a = sonde__hash_word(text, 8);
        b = sonde__hash_word(text + len - 8, 8);
    } else if (len >= 4) {
        a = sonde__hash_word(text, 4);
        b = sonde__hash_word(text + len - 4, 4);
    } else if (len > 0) {
        a = (uint64_t)(unsigned char)text[0] << 16 | (uint64_t)(unsigned char)text[len / 2] << 8 |
            (unsigned char)text[len - 1];
    }
    return sonde__hash_mix(a ^ k1, b ^ hash);
}

#endif
