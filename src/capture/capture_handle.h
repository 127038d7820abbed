/* SPDX-License-Identifier: Apache-2.0 */
/* The handle behind sonde_capture, for the driver, the JSON writer and the doctor. */
#ifndef SONDE_CAPTURE_CAPTURE_HANDLE_H
#define SONDE_CAPTURE_CAPTURE_HANDLE_H

#include "capture/source.h"

typedef struct sonde__active_source {
    const sonde__source *source; /* the one in the table, or its fallback */
    sonde__kernel_file file;     /* source->file */
    void *state;
    sonde_status open_status; /* SONDE_EOFF: not wanted; otherwise why it could not be opened */
    sonde_status read_status; /* of the last reading */
    uint64_t cost_ns;         /* of the last reading */
    uint64_t failures;        /* readings that failed */
} sonde__active_source;

struct sonde_capture {
    sonde__host host;
    sonde_telemetry telemetry;
    int8_t initial_status[SONDE_FIELD_COUNT]; /* off, or absent until a source says otherwise */
    sonde__active_source source[SONDE__SOURCE_COUNT];
    uint64_t previous_ns; /* when the last reading was taken; 0: never */
    uint64_t recheck_ns;  /* when to look again at what hardly ever changes */
    int wanted_pid;       /* as in the options */
    unsigned char *alive; /* a page the kernel wipes in a child: 0 there, 1 here */
    sonde__buf json;
};

#endif
