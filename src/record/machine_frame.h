/* SPDX-License-Identifier: Apache-2.0 */
/* The description of the machine in the journal, once per run that says where it runs: a frame of
   its own type whose body is one JSON object. */
#ifndef SONDE_RECORD_MACHINE_FRAME_H
#define SONDE_RECORD_MACHINE_FRAME_H

#include "record/journal.h"
#include "sonde/machine.h"
#include "sonde/settings.h"

#include <stdbool.h>

/* What the thread that opens a session leaves for the drain's. */
typedef struct sonde__machine_note {
    bool wanted;
    sonde_environment environment;
    char **variables; /* a copy of environ, in one piece; NULL: none */
} sonde__machine_note;

/* In the thread that opens the session: what the settings want (NULL: the defaults), and the
   environment as it is now. Costs microseconds. */
void sonde__machine_note_take(sonde__machine_note *note, const sonde_settings *settings);

/* In the drain's thread: reads the machine, some milliseconds, and writes the frame; nothing when
   it is not wanted or written already. What fails to be written is tried again by the next call. */
void sonde__machine_frame_write(sonde__machine_note *note, sonde__journal *journal,
                                uint64_t session, uint64_t run);

void sonde__machine_note_free(sonde__machine_note *note);

#endif
