/* SPDX-License-Identifier: Apache-2.0 */
/* What the targets for capture's parsers share. */
#ifndef SONDE_TESTS_FUZZ_PARSER_H
#define SONDE_TESTS_FUZZ_PARSER_H

#include "capture/parsers.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static inline void require(bool condition)
{
    if (!condition)
        abort();
}

/* A scanner moves forward only, and never past the end. */
static inline void require_progress(const sonde__scan *before, const sonde__scan *after)
{
    require(after->at > before->at && after->at <= before->end && after->end == before->end);
}

static inline void require_inside(const sonde__scan *text, const char *part, size_t len)
{
    require(part >= text->at && part <= text->end && len <= (size_t)(text->end - part));
}

#endif
