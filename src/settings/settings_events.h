/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML text as a bounded stream of events. What a settings file has no use for (anchors, aliases,
   tags, a second document) and what is beyond the limits is refused here, so that readers above see
   only plain scalars, lists and blocks, properly nested. */
#ifndef SONDE_SETTINGS_EVENTS_H
#define SONDE_SETTINGS_EVENTS_H

#include "settings/settings_error.h"
#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

typedef enum sonde__event_kind {
    SONDE__EVENT_SCALAR,
    SONDE__EVENT_LIST,      /* followed by its elements and CLOSE */
    SONDE__EVENT_BLOCK,     /* followed by keys and values in turn and CLOSE */
    SONDE__EVENT_CLOSE,     /* of the innermost list or block */
    SONDE__EVENT_EXHAUSTED, /* the text has no more */
} sonde__event_kind;

typedef struct sonde__event {
    sonde__event_kind kind;
    sonde__place place; /* where it starts */
    const char *text;   /* SCALAR: borrowed until the next event; may hold NUL bytes */
    size_t len;
    bool plain; /* SCALAR: written without quotes */
} sonde__event;

typedef struct sonde__events {
    const sonde__complaints *complaints;
    const char *text;
    size_t len;
    yaml_parser_t parser;
    yaml_event_t current; /* owns what the last event borrowed */
    size_t depth;
    size_t nodes;
    size_t documents;
} sonde__events;

/* Text is borrowed until close. EBADDATA for UTF-16, ELIMIT when larger than a file may be, ENOMEM;
   each with its message. close only after success. */
sonde_status sonde__events_open(sonde__events *events, const char *text, size_t len,
                                const sonde__complaints *complaints);
void sonde__events_close(sonde__events *events);

/* EBADDATA, ELIMIT or ENOMEM with their message; after a failure only close is allowed. */
sonde_status sonde__events_next(sonde__events *events, sonde__event *out);

/* Passes over the rest of the list or block that opened starts; a scalar has no rest. */
sonde_status sonde__events_skip(sonde__events *events, const sonde__event *opened);

#endif
