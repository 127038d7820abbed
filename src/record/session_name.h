/* SPDX-License-Identifier: Apache-2.0 */
/* Names of sessions and hosts, what is written for a child to join, and the first frame. */
#ifndef SONDE_RECORD_SESSION_NAME_H
#define SONDE_RECORD_SESSION_NAME_H

#include "record/names.h"
#include "record/recorder.h"

#include <stdbool.h>
#include <stddef.h>

/* Letters, digits, "._-", at most 199 bytes, no leading dot. */
bool sonde__session_name_valid(const char *name);

/* session_YYYY-MM-DD_HH-MM-SS, local time. */
void sonde__session_name_now(char *out, size_t size);

/* The host's name made fit for a file name. */
void sonde__host_name(char *out, size_t size);

/* Reads "SESSION:TRACE:/path/NAME.sonde" into id, trace, name, dir and path. False: not valid,
   nothing is changed. */
bool sonde__invitation_parse(const char *text, sonde_session *session);

/* Encodes RUN_BEGIN into the segment's header. Attributes that do not fit there are
   counted in it. */
sonde_status sonde__start_frame(sonde__segment *segment, const sonde_session *session,
                                const sonde_attr *attrs, size_t attr_count);

#endif
