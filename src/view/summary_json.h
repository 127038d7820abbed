/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a session as JSON: the split-inference logger's keys in its order, then what it
   did not have, under keys of its own. */
#ifndef SONDE_VIEW_SUMMARY_JSON_H
#define SONDE_VIEW_SUMMARY_JSON_H

#include "base/json_write.h"
#include "view/tally.h"

typedef struct sonde__summary {
    const char *session_name;
    uint64_t start_ns; /* since 1970; 0: not known, then the first packet's begin counts */
    uint64_t end_ns;   /* likewise the last packet's end */
    uint64_t prompt_tokens;
    uint64_t tokens_generated;
    const char *csv_log; /* NULL: there is none */
    const char *json_summary;
    const char *state;         /* "running", "finished", ...; NULL: not known */
    bool with_loss;            /* the next three are known */
    uint64_t lost;             /* records that were counted as lost */
    uint64_t missing;          /* neither stored nor counted */
    uint64_t open;             /* tasks that never ended */
    uint64_t csv_rows_missing; /* that could not be written; the journal has them */
    const char *csv_reason;    /* then: why */
    /* appends further keys to the object; may be NULL */
    void (*more)(sonde__json *json, void *user);
    void *user;
} sonde__summary;

/* From first to last, in seconds. */
double sonde__summary_seconds(const sonde__summary *summary, const sonde__tally *tally);
double sonde__summary_tokens_per_second(const sonde__summary *summary, const sonde__tally *tally);
double sonde__tally_success_rate(const sonde__tally *tally);

/* Writes one object. */
void sonde__summary_json(sonde__json *json, const sonde__summary *summary,
                         const sonde__tally *tally);

/* One group's figures as an object: count, failed_count, times, percentiles, memory. */
void sonde__group_json(sonde__json *json, const sonde__group *group);

/* Short ways to a member of an object. */
void sonde__json_member_uint(sonde__json *json, const char *key, uint64_t value);
void sonde__json_member_double(sonde__json *json, const char *key, double value);
void sonde__json_member_text(sonde__json *json, const char *key, const char *text); /* NULL: null */

#endif
