/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: intervals of work with an identity, a parent, attributes and a status. A span of a trace,
   a work packet and a job are the same thing. All calls: any thread, no lock, no allocation, no
   failure to handle; what cannot be recorded is counted (see sonde_session_stats). */
#ifndef SONDE_TASK_H
#define SONDE_TASK_H

#include "sonde/attr.h"
#include "sonde/lane_abi.h"
#include "sonde/name.h"
#include "sonde/status.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A running task: a value, not a pointer. 0 is "not recorded" and may be passed to every call. One
   that has already ended is a counted no-op. */
typedef uint64_t sonde_task;

typedef enum sonde_task_status {
    SONDE_UNKNOWN = 0, /* closed by the end of a task below it, not by its own */
    SONDE_SUBMITTED = 1,
    SONDE_WAITING = 2,
    SONDE_RUNNING = 3,
    SONDE_FINISHED = 4,
    SONDE_ERROR = 5,
} sonde_task_status;

/* "FINISHED" and so on; "UNKNOWN" for a number that is not one. Static storage. */
SONDE_API const char *sonde_task_status_name(sonde_task_status status);

/* Where a task is known from outside: W3C trace context. All zero: none. */
typedef struct sonde_context {
    uint64_t trace_hi;
    uint64_t trace_lo;
    uint64_t span;
} sonde_context;

SONDE_API sonde_task sonde_task_begin_on(sonde_name *activity);
SONDE_API sonde_task sonde_task_begin_under(sonde_name *activity, sonde_context parent);
SONDE_API void sonde_task_end_on(sonde_task task, sonde_task_status status, const char *error,
                                 size_t error_len);

/* True when a task begun now by this thread would be recorded, as far as is known without asking
   the environment. An inlined load and compare. */
static inline int sonde_enabled(void)
{
    return (__atomic_load_n(&sonde__lane->state, __ATOMIC_RELAXED) & SONDE_LANE_OFF) == 0;
}

/* Begins a task whose parent is the innermost open task of this thread. */
static inline sonde_task sonde_task_begin(sonde_name *activity)
{
    return sonde_enabled() ? sonde_task_begin_on(activity) : 0;
}

/* Begins a task with the given parent, which may be in another thread or process. A context with a
   span only is taken to be in this workflow's trace; an empty one makes a root. The task is the
   innermost of this thread until it ends. */
static inline sonde_task sonde_task_begin_child(sonde_name *activity, sonde_context parent)
{
    return sonde_enabled() ? sonde_task_begin_under(activity, parent) : 0;
}

/* Ends a task as FINISHED. Tasks of its thread that were begun after it and are still open are
   closed as UNKNOWN. From another thread than the one that began it: the same, except that tasks
   above it stay open. When the call has returned, the record survives the death of the process. */
static inline void sonde_task_end(sonde_task task)
{
    if (task)
        sonde_task_end_on(task, SONDE_FINISHED, NULL, 0);
}

/* Ends a task with another status. error (may be NULL) is what Flowcept calls stderr. */
static inline void sonde_task_end_with(sonde_task task, sonde_task_status status, const char *error)
{
    if (task)
        sonde_task_end_on(task, status, error, error ? strlen(error) : 0);
}

/* The identity of a running task, to be handed to other threads or processes. */
SONDE_API sonde_context sonde_task_context(sonde_task task);

/* The innermost open task of this thread, 0 when there is none. */
SONDE_API sonde_task sonde_task_current(void);

/* The status an open task is shown with: WAITING while it waits for something, RUNNING again. */
SONDE_API void sonde_task_set_status(sonde_task task, sonde_task_status status);

/* Attributes. 448 bytes are kept with the open task, more go to the journal at once; a value is cut
   at 32 KiB less its overhead, with its length kept. The last value of a key counts. */
SONDE_API void sonde_task_int_on(sonde_task task, sonde_group group, sonde_name *key,
                                 int64_t value);
SONDE_API void sonde_task_uint_on(sonde_task task, sonde_group group, sonde_name *key,
                                  uint64_t value);
SONDE_API void sonde_task_double_on(sonde_task task, sonde_group group, sonde_name *key,
                                    double value);
SONDE_API void sonde_task_bool_on(sonde_task task, sonde_group group, sonde_name *key, int value);
SONDE_API void sonde_task_data_on(sonde_task task, sonde_group group, sonde_name *key,
                                  sonde_attr_type type, const void *data, size_t len);

static inline void sonde_task_int(sonde_task task, sonde_group group, sonde_name *key,
                                  int64_t value)
{
    if (task)
        sonde_task_int_on(task, group, key, value);
}

static inline void sonde_task_uint(sonde_task task, sonde_group group, sonde_name *key,
                                   uint64_t value)
{
    if (task)
        sonde_task_uint_on(task, group, key, value);
}

static inline void sonde_task_double(sonde_task task, sonde_group group, sonde_name *key,
                                     double value)
{
    if (task)
        sonde_task_double_on(task, group, key, value);
}

static inline void sonde_task_bool(sonde_task task, sonde_group group, sonde_name *key, int value)
{
    if (task)
        sonde_task_bool_on(task, group, key, value);
}

static inline void sonde_task_string_n(sonde_task task, sonde_group group, sonde_name *key,
                                       const char *text, size_t len)
{
    if (task)
        sonde_task_data_on(task, group, key, SONDE_ATTR_STRING, text, len);
}

/* text may be NULL: nothing is recorded. */
static inline void sonde_task_string(sonde_task task, sonde_group group, sonde_name *key,
                                     const char *text)
{
    if (task && text)
        sonde_task_data_on(task, group, key, SONDE_ATTR_STRING, text, strlen(text));
}

static inline void sonde_task_bytes(sonde_task task, sonde_group group, sonde_name *key,
                                    const void *data, size_t len)
{
    if (task)
        sonde_task_data_on(task, group, key, SONDE_ATTR_BYTES, data, len);
}

/* json is one JSON value as text. It is checked when it is shown, not here. */
static inline void sonde_task_json(sonde_task task, sonde_group group, sonde_name *key,
                                   const char *json, size_t len)
{
    if (task)
        sonde_task_data_on(task, group, key, SONDE_ATTR_JSON, json, len);
}

/* Attributes from a list, keys by text (each a lookup; for front ends and for small numbers). */
SONDE_API void sonde_task_attrs(sonde_task task, const sonde_attr *attrs, size_t count);

/* What kind of work it is, and where it runs. text is copied; NULL records nothing. */
SONDE_API void sonde_task_subtype(sonde_task task, const char *text);
SONDE_API void sonde_task_tag(sonde_task task, const char *text); /* may be given several times */
SONDE_API void sonde_task_device(sonde_task task, const char *text);
SONDE_API void sonde_task_worker(sonde_task task, const char *text);
SONDE_API void sonde_task_group(sonde_task task, const char *text);
SONDE_API void sonde_task_layer(sonde_task task, int64_t layer);

/* A moment inside a task, with an optional JSON value (NULL and 0 for none). */
SONDE_API void sonde_task_event(sonde_task task, sonde_name *event, const char *json, size_t len);

/* Says that the task has to do with another one that is not its parent. */
SONDE_API void sonde_task_link(sonde_task task, sonde_context other);

/* Queued work: submit where it is put into the queue, begin where it is taken out. The ticket is a
   value that travels with the work; between the two the task is shown as SUBMITTED, afterwards its
   queue time and its run time are separate. The parent is the submitter's innermost task. */
typedef struct sonde_ticket {
    sonde_context self;
    uint64_t parent;
    uint64_t submitted; /* ticks of the library's clock */
    sonde_name *activity;
} sonde_ticket;

SONDE_API sonde_ticket sonde_task_submit(sonde_name *activity);

/* A ticket whose submission was not recorded begins a plain task. */
SONDE_API sonde_task sonde_task_begin_ticket(const sonde_ticket *ticket);

/* Work measured elsewhere (a GPU, a log): one finished task, in one call. */
typedef struct sonde_task_info {
    sonde_name *activity;
    sonde_context parent;       /* empty: this thread's innermost task */
    uint64_t submitted_wall_ns; /* since 1970; 0: not known */
    uint64_t start_wall_ns;
    uint64_t duration_ns;
    sonde_task_status status;
    const char *error;   /* NULL: none */
    const char *subtype; /* NULL: none, here and below */
    const char *device;
    const char *worker;
    const char *group;
    const int64_t *layer;
    const sonde_attr *attrs;
    size_t attr_count;
} sonde_task_info;

/* Returns the identity that the task got; empty when it was not recorded. */
SONDE_API sonde_context sonde_task_record(const sonde_task_info *info);

/* W3C traceparent text, 55 characters and a NUL. */
enum { SONDE_TRACEPARENT_SIZE = 56 };
SONDE_API void sonde_context_format(sonde_context context, char out[SONDE_TRACEPARENT_SIZE]);

/* EBADDATA when text is not a valid traceparent; *out is untouched then. */
SONDE_API sonde_status sonde_context_parse(const char *text, sonde_context *out);

#ifdef __cplusplus
}
#endif

#endif
