/* SPDX-License-Identifier: Apache-2.0 */
/* Logs work packets that come as JSON objects, one a line, on stdin; prints the statistics.
     usage: log_packets DIR NAME TOKENS PROMPT_TOKENS   (NAME "": by the time) */
#include "base/json_read.h"
#include "sonde/sonde.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct packet {
    sonde_result result;
    char *operation, *target, *device, *error;
    int64_t experts[16];
} packet;

static char *take_text(const sonde__json_reader *reader)
{
    char *text = calloc(1, reader->slice_len + 1);
    if (text)
        sonde__json_unescape(reader, text);
    return text;
}

static void take_experts(sonde__json_reader *reader, packet *out)
{
    while (sonde__json_next(reader) == SONDE__JSON_NUMBER)
        (void)sonde__json_get_int(reader, &out->experts[out->result.expert_count++]);
    out->result.experts = out->experts;
}

static void take_member(sonde__json_reader *reader, packet *out)
{
    char key[32] = "";
    if (reader->slice_len < sizeof key)
        sonde__json_unescape(reader, key);
    sonde__json_token token = sonde__json_next(reader);
    if (token == SONDE__JSON_ARRAY_BEGIN)
        take_experts(reader, out);
    else if (strcmp(key, "packet_id") == 0)
        (void)sonde__json_get_int(reader, &out->result.packet_id);
    else if (strcmp(key, "layer_idx") == 0)
        (void)sonde__json_get_int(reader, &out->result.layer_idx);
    else if (strcmp(key, "operation") == 0)
        out->result.operation = out->operation = take_text(reader);
    else if (strcmp(key, "device_target") == 0)
        out->result.device_target = out->target = take_text(reader);
    else if (strcmp(key, "result_device") == 0)
        out->result.device = out->device = take_text(reader);
    else if (strcmp(key, "error_message") == 0)
        out->result.error_message = out->error = take_text(reader);
    else if (strcmp(key, "duration_ms") == 0)
        (void)sonde__json_get_double(reader, &out->result.duration_ms);
    else if (strcmp(key, "memory_used_mb") == 0)
        (void)sonde__json_get_double(reader, &out->result.memory_used_mb);
    else if (strcmp(key, "success") == 0)
        out->result.success = token == SONDE__JSON_TRUE;
}

static void log_line(sonde_logger *logger, const char *line, size_t len)
{
    packet one = {.result = SONDE_RESULT_DEFAULT};
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, line, len);
    if (sonde__json_next(&reader) == SONDE__JSON_OBJECT_BEGIN)
        while (sonde__json_next(&reader) == SONDE__JSON_KEY)
            take_member(&reader, &one);
    sonde_logger_log(logger, &one.result);
    free(one.operation);
    free(one.target);
    free(one.device);
    free(one.error);
}

int main(int argc, char **argv)
{
    sonde_logger *logger;
    if (argc != 5)
        return 2;
    sonde_status status = sonde_logger_open(argv[1], argv[2][0] ? argv[2] : NULL, &logger);
    if (status != SONDE_OK) {
        fprintf(stderr, "%s\n", sonde_status_text(status));
        return 1;
    }
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    while ((len = getline(&line, &size, stdin)) > 0)
        log_line(logger, line, (size_t)len);
    free(line);
    sonde_logger_stats stats;
    sonde_logger_stats_get(logger, &stats);
    printf("%llu %llu %llu %llu %.9f %.9f\n", (unsigned long long)stats.total_packets,
           (unsigned long long)stats.cpu_packets, (unsigned long long)stats.igpu_packets,
           (unsigned long long)stats.failed_packets, stats.avg_cpu_time_ms, stats.avg_igpu_time_ms);
    sonde_logger_finalize(logger, strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    return 0;
}
