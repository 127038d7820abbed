/* SPDX-License-Identifier: Apache-2.0 */
/* Scanning of the kernel's text files: no allocation, no locale, never past the end. */
#ifndef SONDE_CAPTURE_SCAN_H
#define SONDE_CAPTURE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct sonde__scan {
    const char *at;
    const char *end;
} sonde__scan;

static inline sonde__scan sonde__scan_of(const char *text, size_t len)
{
    return (sonde__scan){text, text + len};
}

static inline void sonde__scan_blanks(sonde__scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
        scan->at++;
}

/* Reads decimal digits that fit 64 bits, up to a byte that is none. Digits that the end of the text
   cuts off are not a number. */
static inline bool sonde__scan_digits(sonde__scan *scan, uint64_t *out)
{
    const char *at = scan->at;
    uint64_t value = 0;
    unsigned digit;
    while (at < scan->end && (digit = (unsigned)(unsigned char)*at - '0') <= 9) {
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
        at++;
    }
    if (at == scan->at || at == scan->end)
        return false;
    scan->at = at;
    *out = value;
    return true;
}

/* Reads blanks and a decimal number that fits 64 bits. Kernel files end every number with a blank
   or a newline; what ends otherwise is garbled. */
static inline bool sonde__scan_uint(sonde__scan *scan, uint64_t *out)
{
    sonde__scan_blanks(scan);
    sonde__scan ahead = *scan;
    uint64_t value;
    if (!sonde__scan_digits(&ahead, &value) ||
        (*ahead.at != ' ' && *ahead.at != '\n' && *ahead.at != '\t'))
        return false;
    scan->at = ahead.at;
    *out = value;
    return true;
}

/* Blanks, then a decimal number, whole or with a point and decimals, ended by a blank or a newline.
 */
static inline bool sonde__scan_decimal(sonde__scan *scan, double *out)
{
    uint64_t whole, decimals = 0;
    double scale = 1;
    sonde__scan_blanks(scan);
    if (!sonde__scan_digits(scan, &whole))
        return false;
    if (*scan->at == '.') {
        const char *start = ++scan->at;
        if (!sonde__scan_digits(scan, &decimals))
            return false;
        for (const char *at = start; at < scan->at; at++)
            scale *= 10;
    }
    *out = ((double)whole * scale + (double)decimals) / scale; /* rounded once */
    return *scan->at == ' ' || *scan->at == '\n';
}

/* Cuts the next line, without its newline, off scan. False at the end; a last line without a
   newline is cut short by somebody and is not returned. */
static inline bool sonde__scan_line(sonde__scan *scan, sonde__scan *line)
{
    const char *newline = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
    if (!newline)
        return false;
    *line = (sonde__scan){scan->at, newline + 1};
    scan->at = newline + 1;
    return true;
}

/* Skips text when it stands here. */
static inline bool sonde__scan_literal(sonde__scan *scan, const char *text, size_t len)
{
    if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, text, len) != 0)
        return false;
    scan->at += len;
    return true;
}

/* Blanks, then a word: up to the next blank or newline, which must be there. */
static inline bool sonde__scan_word(sonde__scan *scan, const char **word, size_t *len)
{
    sonde__scan_blanks(scan);
    const char *at = scan->at;
    while (at < scan->end && *at != ' ' && *at != '\t' && *at != '\n')
        at++;
    if (at == scan->at || at == scan->end)
        return false;
    *word = scan->at;
    *len = (size_t)(at - scan->at);
    scan->at = at;
    return true;
}

#endif
