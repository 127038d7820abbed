/* SPDX-License-Identifier: Apache-2.0 */
/* status (1 byte); then each GPU: label, vendor (1 byte), index, what it was read by, name, id;
   metrics that were asked for, each a tag (2 bytes) and a value as in telemetry_codec.c, ended by
   tag 0; processes: their number, then pid and bytes of each. */
#include "capture/gpu_codec.h"

#include "capture/gpu_device.h"
#include "capture/telemetry_codec.h"

#include <stdlib.h>

enum {
    METRIC_ROOM = 2 + SONDE__VALUE_ROOM,
    TEXTS_ROOM = 3 * SONDE__GPU_TEXT_BYTES, /* label, reader, name and id, with their lengths */
    GPU_ROOM = TEXTS_ROOM + SONDE_GPU_METRIC_COUNT * METRIC_ROOM + 32,
    PROCESS_ROOM = 16,
};

static const sonde__gpu_backend *const backends[] = {&sonde__gpu_nvml, &sonde__gpu_amdsmi,
                                                     &sonde__gpu_amdgpu, NULL};

/* By the metric's name, since the stacks of memory share a key. */
static uint16_t metric_tag(unsigned metric)
{
    static const char *const names[SONDE_GPU_METRIC_COUNT] = {
#define NAME(name, ...) "gpu." #name,
        SONDE_GPU_METRIC_MAP(NAME)
#undef NAME
    };
    return sonde__telemetry_tag(names[metric]);
}

static bool is_double(unsigned metric)
{
    return sonde_gpu_describe((sonde_gpu_metric)metric)->type == SONDE_FIELD_TYPE_DOUBLE;
}

static bool is_text(unsigned metric)
{
    return sonde_gpu_describe((sonde_gpu_metric)metric)->type == SONDE_FIELD_TYPE_TEXT;
}

static uint8_t *put_text(uint8_t *out, const char *text)
{
    out = sonde__varint_put(out, strlen(text));
    while (*text)
        *out++ = (uint8_t)*text++;
    return out;
}

static uint8_t *put_processes(uint8_t *out, const uint8_t *end, const sonde__gpu *gpu,
                              uint64_t *cut)
{
    size_t fit = (size_t)(end - out) / PROCESS_ROOM;
    size_t count = gpu->process_count < fit ? gpu->process_count : fit;
    *cut += gpu->process_count - count;
    out = sonde__varint_put(out, count);
    for (size_t i = 0; i < count; i++) {
        out = sonde__varint_put(out, gpu->process[i].pid);
        out = sonde__varint_put(out, gpu->process[i].used_bytes);
    }
    return out;
}

static uint8_t *put_gpu(uint8_t *out, const uint8_t *end, const sonde__gpu *gpu, uint64_t *cut)
{
    out = put_text(out, gpu->label);
    *out++ = (uint8_t)gpu->vendor;
    out = sonde__varint_put(out, gpu->index);
    out = put_text(out, gpu->backend ? gpu->backend->name : "");
    out = put_text(put_text(out, gpu->name), gpu->id);
    for (unsigned i = 0; i < SONDE_GPU_METRIC_COUNT; i++) {
        if (gpu->status[i] == SONDE_EOFF)
            continue;
        uint16_t tag = metric_tag(i);
        memcpy(out, &tag, sizeof tag);
        sonde__value value = is_text(i) ? (sonde__value){0} : gpu->value[i];
        out = sonde__value_put(out + sizeof tag, is_double(i), gpu->status[i], value);
    }
    memset(out, 0, sizeof(uint16_t));
    return put_processes(out + sizeof(uint16_t), end, gpu, cut);
}

uint8_t *sonde__gpus_encode(uint8_t *out, const uint8_t *end, const sonde_telemetry *t,
                            uint64_t *cut)
{
    *out++ = (uint8_t)t->gpu_status;
    for (size_t i = 0; i < t->gpu_count; i++) {
        if (end - out < GPU_ROOM) {
            *cut += t->gpu_count - i;
            break;
        }
        out = put_gpu(out, end, &t->gpu[i], cut);
    }
    return out;
}

/* --- and back --- */

static void get_text(sonde__bytes *in, char *out, size_t size)
{
    size_t len = (size_t)sonde__bytes_varint(in);
    const uint8_t *bytes = sonde__bytes_take(in, len);
    if (!bytes || len >= size) {
        in->good = false;
        return;
    }
    memcpy(out, bytes, len);
    out[len] = '\0';
}

static const sonde__gpu_backend *find_backend(const char *name)
{
    for (unsigned i = 0; backends[i]; i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    return NULL;
}

static void get_metric(sonde__bytes *in, sonde__gpu *gpu, uint16_t tag)
{
    for (unsigned i = 0; i < SONDE_GPU_METRIC_COUNT; i++)
        if (metric_tag(i) == tag) {
            gpu->status[i] = sonde__value_get(in, is_double(i), &gpu->value[i]);
            return;
        }
    sonde__value unknown;
    (void)sonde__value_get(in, false, &unknown);
}

static void get_processes(sonde__bytes *in, sonde__gpu *gpu)
{
    uint64_t count = sonde__bytes_varint(in);
    for (uint64_t i = 0; in->good && i < count; i++) {
        sonde__gpu_process process = {.pid = (uint32_t)sonde__bytes_varint(in)};
        process.used_bytes = sonde__bytes_varint(in);
        if (in->good && i < SONDE__GPU_PROCESSES_MAX)
            gpu->process[gpu->process_count++] = process;
    }
}

static void get_gpu(sonde__bytes *in, sonde__gpu *gpu)
{
    char reader[SONDE__GPU_TEXT_BYTES] = "";
    *gpu = (sonde__gpu){0};
    memset(gpu->status, SONDE_EOFF, sizeof gpu->status);
    get_text(in, gpu->label, sizeof gpu->label);
    gpu->vendor = (char)sonde__bytes_byte(in);
    gpu->index = (unsigned)sonde__bytes_varint(in);
    get_text(in, reader, sizeof reader);
    gpu->backend = find_backend(reader);
    get_text(in, gpu->name, sizeof gpu->name);
    get_text(in, gpu->id, sizeof gpu->id);
    for (;;) {
        uint16_t tag;
        const uint8_t *at = sonde__bytes_take(in, sizeof tag);
        if (!at)
            return;
        memcpy(&tag, at, sizeof tag);
        if (tag == 0)
            break;
        get_metric(in, gpu, tag);
    }
    get_processes(in, gpu);
}

void sonde__gpus_decode(sonde__bytes *in, sonde_telemetry *out)
{
    sonde__gpus_free(out);
    sonde__gpu *gpus = NULL;
    size_t count = 0;
    out->gpu_status = sonde__value_status(sonde__bytes_byte(in));
    while (in->good && in->at < in->end && count < SONDE__GPUS_MAX) {
        sonde__gpu *more = realloc(gpus, (count + 1) * sizeof *more);
        if (!more)
            break;
        gpus = more;
        get_gpu(in, &gpus[count]);
        count += in->good;
    }
    out->gpu = gpus;
    out->gpu_count = count;
}

void sonde__gpus_free(sonde_telemetry *t)
{
    void *owned; /* constant for everybody but its owner */
    memcpy(&owned, &t->gpu, sizeof owned);
    free(owned);
    t->gpu = NULL;
    t->gpu_count = 0;
}
