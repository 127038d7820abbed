/* SPDX-License-Identifier: Apache-2.0 */
/* CSV fields into a buffer: RFC 4180 with the least quoting that reads back the same. */
#ifndef SONDE_BASE_CSV_WRITE_H
#define SONDE_BASE_CSV_WRITE_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Text, quoted only where it holds a comma, a quote, CR or LF. */
void sonde__csv_text(sonde__buf *buf, const char *text, size_t len);

/* The same into out, which has room for twice the text and 2 bytes. Returns what it took. */
size_t sonde__csv_text_to(char *out, const char *text, size_t len);

#endif
