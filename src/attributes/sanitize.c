/* SPDX-License-Identifier: Apache-2.0 */
/* Values made fit for metric names: ASCII letters and digits stay, every other code point becomes
   one underscore. A byte that is no UTF-8 counts as a code point. */
#include "base/utf8.h"
#include "sonde/attributes.h"

/* By ASCII byte: what it becomes. */
static const char lower_map[] =
    "________________________________________________0123456789_______abcdefghijklmnopqrstuvwxyz"
    "______abcdefghijklmnopqrstuvwxyz_____";
static const char upper_map[] =
    "________________________________________________0123456789_______ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "______ABCDEFGHIJKLMNOPQRSTUVWXYZ_____";
_Static_assert(sizeof lower_map == 129 && sizeof upper_map == 129, "one for each ASCII byte");

size_t sonde_sanitize_field_value(const char *text, size_t len, int uppercase, char *out)
{
    const char *map = uppercase ? upper_map : lower_map;
    size_t written = 0;
    for (size_t at = 0; at < len;) {
        unsigned char c = (unsigned char)text[at];
        if (c < 0x80) {
            out[written++] = map[c];
            at++;
            continue;
        }
        size_t size = sonde__utf8_sequence(text + at, len - at);
        out[written++] = '_';
        at += size ? size : 1;
    }
    return written;
}
