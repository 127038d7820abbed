/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?": the known name that is nearest to what a user typed. Offer every known name,
   then look at best. No allocation; cost is bounded by the square of
   SONDE__NEAREST_BYTES_MAX per name.

     sonde__nearest near;
     sonde__nearest_init(&near, typed, strlen(typed));
     for (...) sonde__nearest_offer(&near, name, strlen(name));
     if (near.best) ...                                                                          */
#ifndef SONDE_BASE_NEAREST_H
#define SONDE_BASE_NEAREST_H

#include <stddef.h>

enum {
    SONDE__NEAREST_BYTES_MAX = 64, /* longer names are near nothing */
    SONDE__NEAREST_EDITS_MAX = 3,  /* farther names would be guesses */
};

typedef struct sonde__nearest {
    const char *text; /* what was typed; borrowed, not NUL-terminated */
    size_t len;
    const char *best; /* the nearest name offered so far, as it was offered; NULL: none is near */
    size_t best_len;
    size_t edits; /* how far best is */
} sonde__nearest;

void sonde__nearest_init(sonde__nearest *near, const char *text, size_t len);

/* Keeps name when it is nearer than all before it. A third of the longer name may differ, at most
   EDITS_MAX edits. A text that begins the name (three letters or more) counts as one edit, a name
   that begins the text as EDITS_MAX. */
void sonde__nearest_offer(sonde__nearest *near, const char *name, size_t len);

/* Inserted, deleted, replaced or swapped neighbouring letters that turn a into b, without regard to
   ASCII case; SONDE__NEAREST_EDITS_MAX + 1 when that many or more. */
size_t sonde__edits(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
