/* SPDX-License-Identifier: Apache-2.0 */
/* What the settings file and the environment say about a session. */
#ifndef SONDE_RECORD_SESSION_SETTINGS_H
#define SONDE_RECORD_SESSION_SETTINGS_H

#include "sonde/session.h"

#include <stdbool.h>

/* True when the variable is set, and not to 0. */
bool sonde__env_is_on(const char *name);

/* Fills in what the session's options leave to the settings, and notes what its journal is to say
   about the machine. *disabled: recording is switched off from outside, by $SONDE_DISABLED or
   instrumentation.enabled. EINVAL: bytes_max is too small. */
sonde_status sonde__session_settings(sonde_session *session, bool *disabled);

#endif
