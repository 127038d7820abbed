/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of outcomes: what calls return, and why a value is missing. */
#ifndef SONDE_STATUS_H
#define SONDE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SONDE_API __attribute__((visibility("default")))
#else
#define SONDE_API
#endif

/* X(name, value, short name, text). Values are ABI: append, never renumber. */
#define SONDE_STATUS_MAP(X)                                                     \
    X(OK, 0, "ok", "ok")                                                        \
    X(EABSENT, -1, "absent", "not present on this machine")                     \
    X(EDENIED, -2, "denied", "present, but not readable by this user")          \
    X(EBADDATA, -3, "bad data", "present, but not understood")                  \
    X(EUNSUPPORTED, -4, "unsupported", "this kernel or this build cannot tell") \
    X(EOFF, -5, "off", "switched off")                                          \
    X(EEARLY, -6, "early", "needs an earlier reading to compare with")          \
    X(EGONE, -7, "gone", "the process has ended")                               \
    X(EINVAL, -8, "invalid", "an argument is not valid")                        \
    X(ENOMEM, -9, "no memory", "out of memory")                                 \
    X(ELIMIT, -10, "limit", "larger than the named limit")                      \
    X(EIO, -11, "i/o error", "the system reported an input or output error")    \
    X(EEND, -12, "end", "nothing more to read")                                 \
    X(EBUSY, -13, "busy", "in use by another session or process")

typedef enum sonde_status {
#define SONDE_STATUS_ENUM(name, value, brief, text) SONDE_##name = (value),
    SONDE_STATUS_MAP(SONDE_STATUS_ENUM)
#undef SONDE_STATUS_ENUM
} sonde_status;

/* One or two words ("denied"). Static storage; "unknown" for a number not in the list. Any thread.
 */
SONDE_API const char *sonde_status_name(sonde_status status);

/* A sentence without full stop. Static storage. Any thread. */
SONDE_API const char *sonde_status_text(sonde_status status);

/* The library's version, "0.1.0". Static storage. Any thread. */
SONDE_API const char *sonde_version(void);

#ifdef __cplusplus
}
#endif

#endif
