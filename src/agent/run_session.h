/* SPDX-License-Identifier: Apache-2.0 */
/* The session of a supervised run: its journal, its other files, the samples it gets. */
#ifndef SONDE_AGENT_RUN_SESSION_H
#define SONDE_AGENT_RUN_SESSION_H

#include "agent/supervise.h"
#include "sonde/session.h"
#include "sonde/task.h"
#include "view/session_files.h"

typedef struct sonde__run_session {
    sonde_session *session;
    sonde__session_files *files;
    sonde_task task;       /* the command */
    char invitation[4400]; /* SONDE_SESSION=... */
    char traceparent[80];  /* TRACEPARENT=... */
} sonde__run_session;

/* Opens everything. On failure report->error says what, in a sentence. */
sonde_status sonde__run_session_open(sonde__run_session *self,
                                     const sonde__supervise_options *options,
                                     sonde__run_report *report);

/* What the command's environment needs to join: up to two entries, borrowed; then NULL. */
void sonde__run_session_environment(sonde__run_session *self, char *out[3]);

/* Records where the run stands, with a reading of the host. */
void sonde__run_session_sample(sonde__run_report *report);

/* Brings the CSV log and the summary up to date. */
void sonde__run_session_pass(sonde__run_session *self);

/* Ends the command's task and the session; the last totals go to the report. */
void sonde__run_session_close(sonde__run_session *self, sonde__run_report *report);

#endif
