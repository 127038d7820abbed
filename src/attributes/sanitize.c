/* SPDX-License-Identifier: Apache-2.0 */
/* Values made fit for metric names: ASCII letters and digits stay, every other code point becomes
   one underscore. A byte that is no UTF-8 counts as a code point. */
#include "base/utf8.h"
#include "sonde/attributes.h"

/* a: the letter that "a" and "A" become. */
static inline char map_ascii(unsigned char c, char a)
{
    if (c >= 'a' && c <= 'z')
        return (char)(c - 'a' + a);
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + a);
    return (char)(c >= '0' && c <= '9' ? c : '_');
}

size_t sonde_sanitize_field_value(const char *text, size_t len, int uppercase, char *out)
{
    char a = uppercase ? 'A' : 'a';
    size_t written = 0;
    for (size_t at = 0; at < len;) {
        unsigned char c = (unsigned char)text[at];
        size_t size = 1;
        if (c >= 0x80) {
            size = sonde__utf8_sequence(text + at, len - at);
            size = size ? size : 1;
        }
        out[written++] = map_ascii(c, a);
        at += size;
    }
    return written;
}
