/* SPDX-License-Identifier: Apache-2.0 */
/* Number text against printf, and the JSON reader against touching every byte once. */
#include "base/ids.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "base/number_format.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLES = 4096, JSON_BYTES = 1 << 20 };

static double doubles[DOUBLES];

static void run_format(void *arg, unsigned calls)
{
    (void)arg;
    char text[64];
    for (unsigned i = 0; i < calls; i++) {
        sonde__format_double(doubles[i % DOUBLES], text);
        bench_keep(text);
    }
}

static void run_printf(void *arg, unsigned calls)
{
    (void)arg;
    char text[64];
    for (unsigned i = 0; i < calls; i++) {
        snprintf(text, sizeof text, "%.17g", doubles[i % DOUBLES]);
        bench_keep(text);
    }
}

static void run_reader(void *arg, unsigned calls)
{
    const sonde__buf *json = arg;
    while (calls-- > 0) {
        sonde__json_reader reader;
        sonde__json_reader_init(&reader, json->data, json->len);
        sonde__json_token token;
        while ((token = sonde__json_next(&reader)) != SONDE__JSON_END)
            if (token == SONDE__JSON_ERROR)
                abort();
    }
}

static void run_scan(void *arg, unsigned calls)
{
    const sonde__buf *json = arg;
    while (calls-- > 0) {
        uint64_t sum = 0, word;
        for (size_t i = 0; i + 8 <= json->len; i += 8) {
            memcpy(&word, json->data + i, 8);
            sum ^= word;
        }
        bench_keep(&sum);
    }
}

/* Records as a task log has them: short keys, numbers, a few strings. */
static void make_records(sonde__buf *buf)
{
    sonde__json json;
    sonde__json_init(&json, buf);
    sonde__json_begin_array(&json);
    for (unsigned i = 0; buf->len < JSON_BYTES; i++) {
        sonde__json_begin_object(&json);
        sonde__json_key(&json, "task_id");
        sonde__json_uint(&json, i);
        sonde__json_key(&json, "activity_id");
        sonde__json_string(&json, "forward_layer_attention");
        sonde__json_key(&json, "started_at");
        sonde__json_double(&json, 1794780920.25 + i * 0.001);
        sonde__json_key(&json, "status");
        sonde__json_string(&json, "FINISHED");
        sonde__json_end_object(&json);
    }
    sonde__json_end_array(&json);
}

int main(void)
{
    for (unsigned i = 0; i < DOUBLES; i++)
        doubles[i] = (double)sonde__id_random() / (double)(1u << (i % 31));
    static bench_case format = {.name = "shortest double", .run = run_format, .calls = DOUBLES},
                      print = {.name = "printf %.17g", .run = run_printf, .calls = DOUBLES},
                      reader = {.name = "JSON reader", .run = run_reader, .calls = 1},
                      scan = {.name = "memory scan", .run = run_scan, .calls = 1};
    sonde__buf json;
    sonde__buf_init(&json, 2 * JSON_BYTES);
    make_records(&json);
    reader.arg = scan.arg = &json;
    bench_case *cases[] = {&format, &print, &reader, &scan};
    bench_run(cases, 4, 101);
    bench_title("base: numbers as text, reading JSON");
    bench_note("shortest double", bench_median_ns(&format), "ns");
    bench_note("JSON reader", (double)json.len / bench_median_ns(&reader) * 1e3, "MB/s");
    bench_check("base.format_double.faster_than_printf", bench_ratio(&print, &format));
    bench_check("base.json_read.by_memory_scan", bench_ratio(&reader, &scan));
    sonde__buf_free(&json);
    return bench_finish();
}
