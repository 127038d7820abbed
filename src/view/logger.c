/* SPDX-License-Identifier: Apache-2.0 */
#include "sonde/logger.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "sonde/session.h"
#include "sonde/task.h"
#include "view/packet.h"
#include "view/session_facts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct sonde_logger {
    sonde_session *session;
    _Atomic uint64_t total;
    _Atomic uint64_t failed;
    _Atomic uint64_t cpu;
    _Atomic uint64_t cpu_ns;
    _Atomic uint64_t igpu;
    _Atomic uint64_t igpu_ns;
};

enum { ATTRS_MAX = 4, EXPERTS_BYTES = SONDE__EXPERTS_MAX * 24 };

sonde_status sonde_logger_open(const char *dir, const char *session_name, sonde_logger **out)
{
    sonde_logger *logger = calloc(1, sizeof *logger);
    if (!logger)
        return SONDE_ENOMEM;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    sonde_status status = sonde_open(session_name, &options, &logger->session);
    if (status != SONDE_OK) {
        free(logger);
        return status;
    }
    *out = logger;
    return SONDE_OK;
}

static uint64_t ns_of(double ms)
{
    if (!(ms > 0))
        return 0;
    return ms < 9e12 ? (uint64_t)(ms * 1e6 + 0.5) : (uint64_t)9e18;
}

static void count(sonde_logger *logger, const sonde_result *result, const char *device, uint64_t ns)
{
    atomic_fetch_add_explicit(&logger->total, 1, memory_order_relaxed);
    if (!result->success) {
        atomic_fetch_add_explicit(&logger->failed, 1, memory_order_relaxed);
    } else if (strcmp(device, "cpu") == 0) {
        atomic_fetch_add_explicit(&logger->cpu, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&logger->cpu_ns, ns, memory_order_relaxed);
    } else if (strcmp(device, "igpu") == 0) {
        atomic_fetch_add_explicit(&logger->igpu, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&logger->igpu_ns, ns, memory_order_relaxed);
    }
}

static void add_text(sonde_attr *attr, const char *key, sonde_attr_type type, const char *text,
                     size_t len)
{
    *attr = (sonde_attr){.group = SONDE_USED, .type = type, .key = key};
    attr->value.s.data = text;
    attr->value.s.len = attr->value.s.full_len = len;
}

/* The list of experts as JSON, into text. */
static size_t write_experts(const sonde_result *result, char *text)
{
    sonde__buf buf;
    sonde__json json;
    sonde__buf_init_fixed(&buf, text, EXPERTS_BYTES);
    sonde__json_init(&json, &buf);
    sonde__json_begin_array(&json);
    for (unsigned i = 0; i < result->expert_count && i < SONDE__EXPERTS_MAX; i++)
        sonde__json_int(&json, result->experts[i]);
    sonde__json_end_array(&json);
    return buf.len;
}

static size_t make_attrs(const sonde_result *result, sonde_attr *attrs, char *experts)
{
    size_t used = 0;
    attrs[used] =
        (sonde_attr){.group = SONDE_USED, .type = SONDE_ATTR_INT, .key = SONDE__ATTR_PACKET_ID};
    attrs[used++].value.i = result->packet_id;
    if (result->device_target)
        add_text(&attrs[used++], SONDE__ATTR_DEVICE_TARGET, SONDE_ATTR_STRING,
                 result->device_target, strlen(result->device_target));
    if (result->memory_used_mb > 0) {
        attrs[used] = (sonde_attr){
            .group = SONDE_GENERATED, .type = SONDE_ATTR_DOUBLE, .key = SONDE__ATTR_MEMORY_MB};
        attrs[used++].value.d = result->memory_used_mb;
    }
    if (result->experts && result->expert_count > 0)
        add_text(&attrs[used++], SONDE__ATTR_EXPERT, SONDE_ATTR_JSON, experts,
                 write_experts(result, experts));
    return used;
}

void sonde_logger_log(sonde_logger *logger, const sonde_result *result)
{
    if (!logger)
        return;
    sonde_attr attrs[ATTRS_MAX];
    char experts[EXPERTS_BYTES];
    const char *device = result->device ? result->device : "unknown";
    uint64_t ns = ns_of(result->duration_ms);
    uint64_t now_ns = sonde__clock_wall_ns();
    sonde_task_info info = {
        .activity = sonde_name_get(result->operation ? result->operation : ""),
        .start_wall_ns = now_ns > ns ? now_ns - ns : 0,
        .duration_ns = ns,
        .status = result->success ? SONDE_FINISHED : SONDE_ERROR,
        .error = result->error_message && *result->error_message ? result->error_message : NULL,
        .device = device,
        .worker = result->worker,
        .layer = &result->layer_idx,
        .attrs = attrs,
        .attr_count = make_attrs(result, attrs, experts),
    };
    count(logger, result, device, ns);
    sonde_task_record(&info);
}

static double average_ms(uint64_t ns, uint64_t packets)
{
    return packets ? (double)ns / 1e6 / (double)packets : 0;
}

void sonde_logger_stats_get(const sonde_logger *logger, sonde_logger_stats *out)
{
    *out = (sonde_logger_stats){
        .total_packets = atomic_load(&logger->total),
        .cpu_packets = atomic_load(&logger->cpu),
        .igpu_packets = atomic_load(&logger->igpu),
        .failed_packets = atomic_load(&logger->failed),
    };
    out->avg_cpu_time_ms = average_ms(atomic_load(&logger->cpu_ns), out->cpu_packets);
    out->avg_igpu_time_ms = average_ms(atomic_load(&logger->igpu_ns), out->igpu_packets);
}

void sonde_logger_finalize(sonde_logger *logger, uint64_t tokens_generated, uint64_t prompt_tokens)
{
    if (!logger)
        return;
    sonde_attr tokens[2] = {
        {.group = SONDE_GENERATED, .type = SONDE_ATTR_UINT, .key = SONDE__ATTR_TOKENS_GENERATED},
        {.group = SONDE_GENERATED, .type = SONDE_ATTR_UINT, .key = SONDE__ATTR_PROMPT_TOKENS},
    };
    tokens[0].value.u = tokens_generated;
    tokens[1].value.u = prompt_tokens;
    sonde_close_with(logger->session, SONDE_FINISHED, NULL, tokens, 2);
    free(logger);
}
