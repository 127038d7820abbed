/* SPDX-License-Identifier: Apache-2.0 */
/* Logging of work packets, for programs that want just that: a CSV row for each, a JSON summary at
   the end. Underneath it is the recorder: a packet is a task, the files are a session's.

     sonde_logger *logger;
     if (sonde_logger_open(NULL, NULL, &logger) == SONDE_OK) {
         sonde_result result = SONDE_RESULT_DEFAULT;
         result.packet_id = 42;
         result.operation = "expert_ffn";
         result.device_target = result.device = "igpu";
         result.duration_ms = 5.2;
         sonde_logger_log(logger, &result);
         sonde_logger_finalize(logger, tokens_generated, prompt_tokens);
     } */
#ifndef SONDE_LOGGER_H
#define SONDE_LOGGER_H

#include "sonde/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_logger sonde_logger;

/* One finished packet. Texts are copied; NULL where there is none. */
typedef struct sonde_result {
    int64_t packet_id;
    int64_t layer_idx;         /* -1: not in a layer */
    const char *operation;     /* "attention_qkv_proj" */
    const char *device_target; /* what was asked for; "auto": any */
    const char *device;        /* what it ran on; NULL: "unknown" */
    const char *worker;        /* NULL: named after operation, device and layer */
    double duration_ms;        /* kept to the nanosecond; negative or not a number: 0 */
    int success;
    double memory_used_mb;
    const char *error_message;
    const int64_t *experts; /* those that were chosen or used; NULL: none */
    unsigned expert_count;
} sonde_result;

#define SONDE_RESULT_DEFAULT                                 \
    {                                                        \
        0, -1, "", NULL, "cpu", NULL, 0, 1, 0, NULL, NULL, 0 \
    }

typedef struct sonde_logger_stats {
    uint64_t total_packets;
    uint64_t cpu_packets; /* successes, here and below */
    uint64_t igpu_packets;
    uint64_t failed_packets;
    double avg_cpu_time_ms; /* 0 while there are none */
    double avg_igpu_time_ms;
} sonde_logger_stats;

/* Opens dir/session_name.{csv,json,sonde}. dir NULL: $SONDE_DIR, else "telemetry"; session_name
   NULL: session_YYYY-MM-DD_HH-MM-SS. An existing session is never touched: a suffix is added. Under
   `sonde run` the packets join its session. Fails as sonde_open does; EBUSY: the process has a
   session already. */
SONDE_API sonde_status sonde_logger_open(const char *dir, const char *session_name,
                                         sonde_logger **out);

/* Logs a packet that ends now. Any thread. The row is in the file within a quarter of a second; it
   survives the process at once. NULL logger: nothing happens. */
SONDE_API void sonde_logger_log(sonde_logger *logger, const sonde_result *result);

/* What was logged so far. Any thread. */
SONDE_API void sonde_logger_stats_get(const sonde_logger *logger, sonde_logger_stats *out);

/* Writes what is left and the final summary, and frees the logger. NULL is allowed. */
SONDE_API void sonde_logger_finalize(sonde_logger *logger, uint64_t tokens_generated,
                                     uint64_t prompt_tokens);

#ifdef __cplusplus
}
#endif

#endif
