/* SPDX-License-Identifier: Apache-2.0 */
/* Optimal string alignment distance (Levenshtein with swaps of neighbours, no letter edited twice),
   three rows of the matrix at a time. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { FAR = SONDE__NEAREST_EDITS_MAX + 1, PREFIX_BYTES_MIN = 3 };

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t sonde__edits(const char *a, size_t a_len, const char *b, size_t b_len)
{
    if (a_len > SONDE__NEAREST_BYTES_MAX || b_len > SONDE__NEAREST_BYTES_MAX)
        return FAR;
    size_t rows[3][SONDE__NEAREST_BYTES_MAX + 1];
    size_t *before = rows[0];
    size_t *above = rows[1];
    size_t *row = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        above[j] = before[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return least(above[b_len], FAR);
}

/* How many edits still make two names of which the longer has len bytes look alike. */
static size_t allowed_edits(size_t len)
{
    size_t third = len / 3;
    return third == 0 ? 1 : least(third, SONDE__NEAREST_EDITS_MAX);
}

void sonde__nearest_init(sonde__nearest *near, const char *text, size_t len)
{
    *near = (sonde__nearest){.text = text, .len = len, .edits = FAR};
}

/* How far a name is when it or the typed text begins the other one: what was cut short is near,
   what was written out ("memory" for "mem") less so. */
static size_t prefix_edits(const sonde__nearest *near, const char *name, size_t len)
{
    size_t shorter = least(near->len, len);
    if (shorter < PREFIX_BYTES_MIN || sonde__edits(near->text, shorter, name, shorter) > 0)
        return FAR;
    return near->len < len ? 1 : SONDE__NEAREST_EDITS_MAX;
}

void sonde__nearest_offer(sonde__nearest *near, const char *name, size_t len)
{
    size_t longer = near->len > len ? near->len : len;
    if (longer > SONDE__NEAREST_BYTES_MAX)
        return;
    size_t edits = sonde__edits(near->text, near->len, name, len);
    if (edits > allowed_edits(longer))
        edits = FAR;
    edits = least(edits, prefix_edits(near, name, len));
    if (edits >= near->edits)
        return;
    near->best = name;
    near->best_len = len;
    near->edits = edits;
}
