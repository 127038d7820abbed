/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that a JSON string holds as they are, found eight at a time by reader and writer. */
#ifndef SONDE_BASE_JSON_SCAN_H
#define SONDE_BASE_JSON_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ASCII, not a control character (DEL is not one for JSON), not a quote, not a backslash. */
static inline bool sonde__json_is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* How many of the first len bytes of text are plain before the first that is not. */
static inline size_t sonde__json_plain_run(const char *text, size_t len)
{
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t tops = 0x8080808080808080u;
    size_t pos = 0;
    for (; len - pos >= 8; pos += 8) {
        uint64_t word;
        memcpy(&word, text + pos, sizeof word);
        word = le64toh(word);
        /* x - ones borrows into the top bit of each byte of x that is 0, and perhaps of bytes after
           one that is: the first hit is always true, and the first is all that is asked for */
        uint64_t quotes = (word ^ ones * '"') - ones;
        uint64_t backslashes = (word ^ ones * '\\') - ones;
        uint64_t controls = word - ones * 0x20;
        uint64_t hits = (quotes | backslashes | controls | word) & tops;
        if (hits)
            return pos + (size_t)__builtin_ctzll(hits) / 8;
    }
    while (pos < len && sonde__json_is_plain(text[pos]))
        pos++;
    return pos;
}

#endif
