/* SPDX-License-Identifier: Apache-2.0 */
/* Usage records through all four builders, against the least that counting them can cost: hashing
   the same names and adding to the cell of each, names composed beforehand. Records come from
   memory and from JSON Lines; the latter against the JSON reader alone. The original (Python) does
   15 000 records/s with four builders and 43 000 with three on the same kind of machine. */
#include "attributes/text_hash.h"
#include "attributes/usage_map.h"
#include "base/json_read.h"
#include "bench.h"
#include "sonde/processor.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A round is short, so that it is seldom interrupted; the next one goes on where it ended. */
enum { RECORDS = 4096, ROUND = 256, NAMES_PER_RECORD = 11, DISTINCT = 1000000 };

typedef struct job {
    const char *network, *action, *version;
    const char *gpus[8];
    size_t gpu_count;
    int success;
    int64_t time_s;
} job;

typedef struct workload {
    job jobs[RECORDS];
    char *lines; /* the same as JSON Lines */
    size_t lines_len;
    size_t line_at[RECORDS + 1];
    sonde_attributes *attributes;
    sonde_processor *processor;
    sonde_usage *usage;
    sonde_data *data;
    int version, action, network, success, time, gpus;
    sonde_build_context context;
    char names[RECORDS][256]; /* one name of each record's length, for the floor */
} workload;

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* 8 networks, 4 actions, 3 versions, pass and fail, 4 sets of GPUs: 768 combinations. */
static void make_jobs(workload *load)
{
    static const char *const networks[] = {"ResNet-50",    "YOLOv4",       "EfficientDet-D0",
                                           "BERT base",    "SegFormer-B5", "GroundingDINO",
                                           "DetectNet v2", "PointPillars"};
    static const char *const actions[] = {"train", "evaluate", "export", "inference"};
    static const char *const versions[] = {"5.3.0", "6.0.1", "6.26.3"};
    static const char *const gpus[] = {"NVIDIA A100", "NVIDIA H100 80GB HBM3", "Tesla T4",
                                       "NVIDIA GeForce RTX 4090"};
    uint64_t random = 1;
    for (size_t i = 0; i < RECORDS; i++) {
        random = sonde__hash_mix(random + i, 0x9e3779b97f4a7c15u);
        job *to = &load->jobs[i];
        *to = (job){
            networks[random % 8], actions[random / 8 % 4], versions[random / 32 % 3],      {NULL},
            1 + random / 128 % 2, random / 512 % 8 != 0,   (int64_t)(random / 4096 % 7200)};
        for (size_t gpu = 0; gpu < to->gpu_count; gpu++)
            to->gpus[gpu] = gpus[random / 96 % 4];
    }
}

static void make_lines(workload *load)
{
    size_t cap = RECORDS * 400;
    load->lines = malloc(cap);
    if (!load->lines)
        fail("no memory");
    for (size_t i = 0; i < RECORDS; i++) {
        const job *from = &load->jobs[i];
        load->line_at[i] = load->lines_len;
        load->lines_len += (size_t)snprintf(
            load->lines + load->lines_len, cap - load->lines_len,
            "{\"version\": \"%s\", \"action\": \"%s\", \"network\": \"%s\", \"success\": %s, "
            "\"gpu\": [\"%s\"%s%s%s], \"time_lapsed\": %lld, \"user_error\": false}\n",
            from->version, from->action, from->network, from->success ? "true" : "false",
            from->gpus[0], from->gpu_count > 1 ? ", \"" : "",
            from->gpu_count > 1 ? from->gpus[1] : "", from->gpu_count > 1 ? "\"" : "",
            (long long)from->time_s);
    }
    load->line_at[RECORDS] = load->lines_len;
}

static void open_load(workload *load)
{
    const sonde_builder *builders[] = {sonde_builder_get(0), sonde_builder_get(1),
                                       sonde_builder_get(2), sonde_builder_get(3), NULL};
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    options.builders = builders;
    if (sonde_attributes_create(0, &load->attributes) != SONDE_OK)
        fail("no attributes");
    options.attributes = load->attributes;
    if (sonde_processor_create(&options, &load->processor, NULL) != SONDE_OK ||
        sonde_usage_create(4 * DISTINCT, &load->usage) != SONDE_OK ||
        sonde_data_create(load->attributes, &load->data) != SONDE_OK)
        fail("no processor");
    load->version = sonde_attributes_find(load->attributes, "version");
    load->action = sonde_attributes_find(load->attributes, "action");
    load->network = sonde_attributes_find(load->attributes, "network");
    load->success = sonde_attributes_find(load->attributes, "success");
    load->time = sonde_attributes_find(load->attributes, "time_lapsed");
    load->gpus = sonde_attributes_find(load->attributes, "gpus");
    sonde_datetime_parse("2025-03-15T12:34:56", 19, &load->context.now);
}

static void count_job(workload *load, const job *from, const char *network)
{
    sonde_data *data = load->data;
    sonde_data_clear(data);
    sonde_data_set_text(data, load->version, from->version, strlen(from->version));
    sonde_data_set_text(data, load->action, from->action, strlen(from->action));
    sonde_data_set_text(data, load->network, network, strlen(network));
    sonde_data_set_bool(data, load->success, from->success);
    sonde_data_set_int(data, load->time, from->time_s);
    sonde_data_set_list(data, load->gpus, from->gpus, from->gpu_count);
    if (sonde_processor_process(load->processor, load->usage, data, &load->context, NULL) !=
        SONDE_OK)
        fail("a record was refused");
}

static void run_memory(void *arg, unsigned calls)
{
    workload *load = arg;
    static unsigned at;
    for (; calls > 0; calls--, at++)
        count_job(load, &load->jobs[at % RECORDS], load->jobs[at % RECORDS].network);
}

/* Every record has a network of its own, used again only in the next round: nothing is remembered,
   names are composed and looked up each time. */
static void run_unplanned(void *arg, unsigned calls)
{
    workload *load = arg;
    static unsigned serial;
    for (; calls > 0; calls--, serial++) {
        char network[32];
        snprintf(network, sizeof network, "net %u", serial % (3 * 16384));
        count_job(load, &load->jobs[serial % RECORDS], network);
    }
}

static void run_lines(void *arg, unsigned calls)
{
    workload *load = arg;
    static unsigned next;
    for (; calls > 0; calls--, next++) {
        size_t at = load->line_at[next % RECORDS];
        if (sonde_processor_process_json(load->processor, load->usage, load->lines + at,
                                         load->line_at[next % RECORDS + 1] - at, &load->context,
                                         NULL) != SONDE_OK)
            fail("a line was refused");
    }
}

static void run_reader(void *arg, unsigned calls)
{
    workload *load = arg;
    static unsigned next;
    for (; calls > 0; calls--, next++) {
        size_t at = load->line_at[next % RECORDS];
        sonde__json_reader reader;
        sonde__json_reader_init(&reader, load->lines + at, load->line_at[next % RECORDS + 1] - at);
        sonde__json_token token;
        while ((token = sonde__json_next(&reader)) != SONDE__JSON_END)
            if (token == SONDE__JSON_ERROR)
                fail("bad JSON");
    }
}

/* What counting cannot do without: the hash of as many names, of their usual length, and an
   addition to the cell found by it. */
static void run_floor(void *arg, unsigned calls)
{
    workload *load = arg;
    static unsigned at;
    for (; calls > 0; calls--, at++) {
        for (unsigned name = 0; name < NAMES_PER_RECORD; name++) {
            const char *text = load->names[(at + name * 61) % RECORDS];
            uint64_t hash = sonde__usage_hash(load->usage, text, 96);
            sonde__cell *cell = sonde__usage_find(load->usage, text, 96, hash);
            cell->value.integer++;
        }
    }
}

static void make_names(workload *load)
{
    for (size_t i = 0; i < RECORDS; i++) {
        snprintf(load->names[i], sizeof load->names[i],
                 "floor_%06zu_network_resnet_50_action_train_version_5_3_0_status_pass_gpu_2_"
                 "NVIDIA_H100_80GB_HBM3_2____________________",
                 i);
        uint64_t hash = sonde__usage_hash(load->usage, load->names[i], 96);
        sonde__cell *cell = sonde__usage_insert(load->usage, load->names[i], 96, hash);
        if (!cell)
            fail("no memory");
        sonde__cell_set(cell, (sonde__number){.is_real = false});
    }
}

static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Bytes per metric beside its name. */
static double bytes_per_metric(void)
{
    sonde_usage *usage;
    malloc_trim(0);
    size_t before = heap_bytes();
    size_t name_bytes = 0;
    if (sonde_usage_create(DISTINCT + 1, &usage) != SONDE_OK)
        fail("no memory");
    for (unsigned i = 0; i < DISTINCT; i++) {
        char name[64];
        size_t len = (size_t)snprintf(name, sizeof name, "network_%u_action_train", i);
        name_bytes += len;
        if (!sonde__usage_insert(usage, name, len, sonde__usage_hash(usage, name, len)))
            fail("no memory");
    }
    double bytes = (double)(heap_bytes() - before - name_bytes) / DISTINCT;
    sonde_usage_destroy(usage);
    return bytes;
}

int main(void)
{
    static workload load;
    static bench_case memory = {.name = "memory", .run = run_memory, .calls = ROUND},
                      lines = {.name = "lines", .run = run_lines, .calls = ROUND},
                      reader = {.name = "reader", .run = run_reader, .calls = ROUND},
                      floor = {.name = "floor", .run = run_floor, .calls = ROUND},
                      unplanned = {.name = "unplanned", .run = run_unplanned, .calls = ROUND};
    bench_case *cases[] = {&memory, &floor, &lines, &reader, &unplanned};
    make_jobs(&load);
    make_lines(&load);
    open_load(&load);
    make_names(&load);
    for (size_t i = 0; i < 5; i++)
        cases[i]->arg = &load;
    bench_title("attributes: usage records through all four builders");
    bench_run_judged(cases, 4, 1001, bench_judge_core);
    double line_bytes = (double)load.lines_len / RECORDS;
    bench_note("from memory (TAO: 0.015)", 1e3 / bench_median_ns(&memory), "M records/s");
    bench_note("from JSON Lines", 1e3 / bench_median_ns(&lines), "M records/s");
    bench_note("from JSON Lines", line_bytes / bench_median_ns(&lines) * 1e3, "MB/s");
    bench_note("JSON reader alone", line_bytes / bench_median_ns(&reader) * 1e3, "MB/s");
    bench_note("hashing and adding 11 names", bench_median_ns(&floor), "ns");
    bench_check("attributes.memory.by_floor", bench_ratio(&memory, &floor));
    bench_check("attributes.lines.by_reader", bench_ratio(&lines, &reader));
    bench_case *strange[] = {&unplanned, &floor};
    bench_run(strange, 2, 501);
    bench_note("each of its own kind", 1e3 / bench_median_ns(&unplanned), "M records/s");
    bench_check("attributes.unplanned.by_floor", bench_ratio(&unplanned, &floor));
    bench_check("attributes.bytes_per_metric", bytes_per_metric());
    sonde_data_destroy(load.data);
    sonde_usage_destroy(load.usage);
    sonde_processor_destroy(load.processor);
    sonde_attributes_destroy(load.attributes);
    free(load.lines);
    return bench_finish();
}
