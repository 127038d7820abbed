/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_VIEW_VIEW_UTF8_H
#define SONDE_VIEW_VIEW_UTF8_H

#include "base/protobuf.h"
#include "base/utf8.h"

/* Appends text with each byte that is not part of well-formed UTF-8 as U+FFFD. */
static inline void sonde__utf8_append(sonde__buf *out, const char *text, size_t len)
{
    while (len > 0) {
        size_t good = sonde__utf8_valid_prefix(text, len);
        sonde__buf_append(out, text, good);
        text += good;
        len -= good;
        if (len > 0) {
            sonde__buf_append(out, "\xef\xbf\xbd", 3);
            text++;
            len--;
        }
    }
}

/* A string field: protobuf decoders refuse strings that are not UTF-8. */
static inline void sonde__pb_text(sonde__buf *out, unsigned field, const char *text, size_t len)
{
    if (sonde__utf8_valid_prefix(text, len) == len) {
        sonde__pb_bytes(out, field, text, len);
        return;
    }
    size_t begun = sonde__pb_begin(out, field);
    sonde__utf8_append(out, text, len);
    sonde__pb_end(out, begun);
}

#endif
