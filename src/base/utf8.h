/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_BASE_UTF8_H
#define SONDE_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length in bytes (1 to 4) of the well-formed UTF-8 sequence at text, or 0 when the bytes there are
   not one (overlong, surrogate, above U+10FFFF, cut short). len is at least 1. */
size_t sonde__utf8_sequence(const char *text, size_t len);

/* Bytes at the start of text that are well-formed UTF-8; len when all of it is. Fast on ASCII. */
size_t sonde__utf8_valid_prefix(const char *text, size_t len);

/* Encodes a code point (not a surrogate, at most U+10FFFF) and returns its length in bytes. */
size_t sonde__utf8_encode(uint32_t code_point, char out[4]);

#endif
