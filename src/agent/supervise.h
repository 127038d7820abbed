/* SPDX-License-Identifier: Apache-2.0 */
/* Running a command under observation, from before its start to its end. */
#ifndef SONDE_AGENT_SUPERVISE_H
#define SONDE_AGENT_SUPERVISE_H

#include "agent/family.h"
#include "agent/host_watch.h"
#include "agent/own_group.h"
#include "sonde/capture.h"
#include "sonde/status.h"
#include "view/session_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sonde__supervise_options {
    const char *session; /* NULL: by the time */
    const char *dir;     /* NULL: $SONDE_DIR, else telemetry */
    uint64_t sample_ns;
    bool host;  /* sample the machine, too */
    bool group; /* make a control group where that is possible */
    const sonde_capture_options *capture;
    char *const *argv; /* the command, ended by NULL */
    /* The session is open, the command about to start: where the files are. May be NULL. */
    void (*opened)(void *user, const char *journal);
    void *user;
} sonde__supervise_options;

/* What is known about the run, while it runs and after it. */
typedef struct sonde__run_report {
    char *const *argv;
    char session_name[256];
    char journal[4096];
    char csv[4096];
    char json[4096];
    uint64_t start_ns; /* since 1970 */
    uint64_t duration_ns;
    int exit_code; /* what to exit with: the command's, 128 + signal, 126, 127 or 125 */
    int signal;    /* that ended it; 0: none */
    bool ended;
    int launch_error; /* errno: it never ran; 0: it did */
    unsigned cpus;    /* that it was allowed to use */
    uint64_t user_ns; /* of all that was waited for, and of what still runs */
    uint64_t system_ns;
    uint64_t peak_rss_bytes;    /* of all processes together, or of the largest alone */
    uint64_t largest_rss_bytes; /* of one process */
    size_t peak_processes;
    uint64_t peak_threads;
    uint64_t read_bytes;
    uint64_t written_bytes;
    bool io_known;
    uint64_t samples;
    size_t still_running;
    sonde__family last;     /* at the end: who still runs */
    char group_reason[160]; /* empty: it had a control group of its own */
    sonde__own_group_use group;
    sonde__host_watch host;
    uint64_t own_cpu_ns; /* of the recorder itself */
    uint64_t own_rss_bytes;
    sonde__session_files_stats files;
    char error[300]; /* why nothing could be recorded; the command was then not started */
} sonde__run_report;

/* Runs the command to its end. The report is complete also when it fails; its exit_code says all.
 */
void sonde__supervise(const sonde__supervise_options *options, sonde__run_report *report);

/* The report as members of the summary: "run": {...}. */
void sonde__run_report_json(sonde__json *json, void *report);

/* The report as a few lines for a person. */
void sonde__run_report_text(const sonde__run_report *report, sonde__buf *out);

#endif
