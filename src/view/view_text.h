/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the text formats. */
#ifndef SONDE_VIEW_VIEW_TEXT_H
#define SONDE_VIEW_VIEW_TEXT_H

#include "base/buf.h"
#include "sonde/encode.h"

#include <stdbool.h>
#include <stdint.h>

/* Backslash, line feed and, where quotes, the quotation mark escaped; bytes that are not UTF-8
   become U+FFFD. */
void sonde__text_escape(sonde__buf *out, const char *text, bool quotes);

/* As Python writes it; NaN, +Inf, -Inf. */
void sonde__text_number(sonde__buf *out, double value);
void sonde__text_uint(sonde__buf *out, uint64_t value);

/* The snapshot's families in the names of PyVeda's guide. open: as OpenMetrics wants them. */
void sonde__text_pyveda(sonde_view *view, bool open, sonde__buf *out);

#endif
