/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of a session say about it as a whole. */
#ifndef SONDE_VIEW_SESSION_FACTS_H
#define SONDE_VIEW_SESSION_FACTS_H

#include "sonde/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sonde__session_facts {
    char session_name[256]; /* empty: not known */
    uint64_t start_ns;      /* of the first process, since 1970; 0: none has begun */
    uint64_t end_ns;        /* of the last one that ended; 0: none */
    uint64_t prompt_tokens;
    uint64_t tokens_generated;
    size_t processes;
    size_t running;
    size_t died; /* without saying so */
} sonde__session_facts;

void sonde__session_facts_read(const sonde_reader *reader, sonde__session_facts *out);

/* Names of the values that a workflow ends with. */
#define SONDE__ATTR_PROMPT_TOKENS    "prompt_tokens"
#define SONDE__ATTR_TOKENS_GENERATED "tokens_generated"

#endif
