/* SPDX-License-Identifier: Apache-2.0 */
/* The original logger named every router cpu_router, and every expert network that did not run on
   the iGPU cpu_expert_ffn: both say the wrong device. Here the device is always the one that did
   the work; for those it ran on, the names are the same. */
#include "view/packet.h"

#include "base/json_read.h"
#include "base/number_format.h"

#include <string.h>

static bool contains(sonde__text text, const char *part)
{
    return text.len > 0 && memmem(text.data, text.len, part, strlen(part)) != NULL;
}

/* Appends within the limit. */
static size_t put(char *out, size_t len, const char *text, size_t text_len)
{
    size_t room = SONDE__WORKER_TEXT_MAX - len;
    if (text_len > room)
        text_len = room;
    if (text_len > 0)
        memcpy(out + len, text, text_len);
    return len + text_len;
}

static size_t put_stage(char *out, size_t len, const char *stage, bool with_layer, int64_t layer)
{
    len = put(out, len, stage, strlen(stage));
    if (!with_layer)
        return len;
    char number[SONDE__INT_TEXT_MAX];
    len = put(out, len, "_layer_", 7);
    return put(out, len, number, sonde__format_int(layer, number));
}

typedef struct stage {
    const char *part; /* of the operation's name */
    const char *name;
    bool with_layer;
} stage;

/* The first that fits; the last two are found in other ways. */
static const stage stages[] = {
    {"router", "router", false},        {"expert_selection", "router", false},
    {"expert_ffn", "expert_ffn", true}, {"attention", "attention", true},
    {"norm", "layernorm", true},        {"lm_head", "lm_head", false},
    {NULL, "embedding", false},         {NULL, NULL, false},
};
enum { STAGE_EMBEDDING = 6, STAGE_NONE = 7 };

static unsigned char find_stage(sonde__text operation)
{
    if (sonde__text_is(operation, "embedding"))
        return STAGE_EMBEDDING;
    for (unsigned i = 0; i < STAGE_EMBEDDING; i++)
        if (contains(operation, stages[i].part))
            return (unsigned char)i;
    return STAGE_NONE;
}

static size_t name_worker(unsigned char which, sonde__text operation, sonde__text device,
                          int64_t layer, char *out)
{
    size_t len = put(out, 0, device.data, device.len);
    len = put(out, len, "_", 1);
    if (which == STAGE_NONE)
        return put(out, len, operation.data, operation.len);
    return put_stage(out, len, stages[which].name, stages[which].with_layer, layer);
}

size_t sonde__packet_worker(sonde__text operation, sonde__text device, int64_t layer, char *out)
{
    return name_worker(find_stage(operation), operation, device, layer, out);
}

/* Looking for six words in a name costs more than the rest of a row; programs have few names. */
static unsigned char known_stage(sonde__packet *packet)
{
    sonde__text operation = packet->operation;
    if (operation.len == 0 || operation.len > SONDE__STAGE_OPERATION_MAX)
        return find_stage(operation);
    size_t at = (operation.len * 5 + (size_t)(unsigned char)operation.data[0] * 3 +
                 (unsigned char)operation.data[operation.len - 1]) %
                SONDE__STAGES_KNOWN;
    sonde__stage_memo *memo = &packet->memo[at];
    if (!sonde__text_same((sonde__text){memo->operation, memo->len}, operation)) {
        memo->len = (unsigned char)operation.len;
        memo->stage = find_stage(operation);
        memcpy(memo->operation, operation.data, operation.len);
    }
    return memo->stage;
}

void sonde__packet_name_worker(sonde__packet *packet)
{
    size_t len = name_worker(known_stage(packet), packet->operation, packet->device, packet->layer,
                             packet->worker_text);
    packet->worker = (sonde__text){packet->worker_text, len};
}

sonde__text sonde__packet_id_text(const sonde__packet *packet, char *out)
{
    if (packet->packet_id.data)
        return packet->packet_id;
    return (sonde__text){out, sonde__format_uint(packet->id, out)};
}

static sonde__text attr_text(const sonde_attr *attr)
{
    return (sonde__text){attr->value.s.data, attr->value.s.len};
}

static void add_expert(sonde__packet *out, int64_t expert)
{
    if (out->experts < SONDE__EXPERTS_MAX)
        out->expert[out->experts++] = expert;
}

/* A number, or the JSON list that a router with several choices gives. */
static void take_experts(const sonde_attr *attr, sonde__packet *out)
{
    if (attr->type == SONDE_ATTR_INT || attr->type == SONDE_ATTR_UINT)
        add_expert(out, attr->value.i);
    if (attr->type != SONDE_ATTR_JSON)
        return;
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, attr->value.s.data, attr->value.s.len);
    sonde__json_token token;
    while ((token = sonde__json_next(&reader)) != SONDE__JSON_END && token != SONDE__JSON_ERROR) {
        int64_t expert;
        if (token == SONDE__JSON_NUMBER && sonde__json_get_int(&reader, &expert) == SONDE_OK)
            add_expert(out, expert);
    }
}

static void take_packet_id(const sonde_attr *attr, sonde__packet *out)
{
    if (attr->type == SONDE_ATTR_STRING)
        out->packet_id = attr_text(attr);
    else if (attr->type == SONDE_ATTR_INT)
        out->packet_id = (sonde__text){out->number, sonde__format_int(attr->value.i, out->number)};
    else if (attr->type == SONDE_ATTR_UINT)
        out->id = attr->value.u;
}

static void take_memory(const sonde_attr *attr, sonde__packet *out)
{
    if (attr->type == SONDE_ATTR_DOUBLE)
        out->memory_mb = attr->value.d;
    else if (attr->type == SONDE_ATTR_INT)
        out->memory_mb = (double)attr->value.i;
    else if (attr->type == SONDE_ATTR_UINT)
        out->memory_mb = (double)attr->value.u;
}

static void take_attr(const sonde_attr *attr, sonde__packet *out)
{
    sonde__text key = {attr->key, attr->key_len};
    if (sonde__text_is(key, SONDE__ATTR_PACKET_ID))
        take_packet_id(attr, out);
    else if (sonde__text_is(key, SONDE__ATTR_MEMORY_MB))
        take_memory(attr, out);
    else if (sonde__text_is(key, SONDE__ATTR_EXPERT))
        take_experts(attr, out);
    else if (sonde__text_is(key, SONDE__ATTR_DEVICE_TARGET) && attr->type == SONDE_ATTR_STRING)
        out->target = attr_text(attr);
}

/* Tasks of the recorder itself have a subtype in its own name. */
static bool is_own(const sonde_record *record)
{
    return record->subtype_len >= 6 && memcmp(record->subtype, "sonde.", 6) == 0;
}

bool sonde__packet_of_record(const sonde_record *record, sonde__packet *out)
{
    if (record->kind != SONDE_RECORD_TASK || is_own(record))
        return false;
    out->end_ns = record->end_wall_ns;
    out->duration_ns = record->duration_ns;
    out->operation = (sonde__text){record->name, record->name_len};
    out->device = record->device_len ? (sonde__text){record->device, record->device_len}
                                     : (sonde__text){"cpu", 3};
    out->error = (sonde__text){record->error, record->error_len};
    out->layer = record->has_layer ? record->layer : SONDE__NO_LAYER;
    out->success = record->status != SONDE_ERROR;
    out->target = (sonde__text){NULL, 0};
    out->memory_mb = 0;
    out->experts = 0;
    out->packet_id = (sonde__text){NULL, 0};
    out->id = record->id;
    for (size_t i = 0; i < record->attr_count; i++)
        take_attr(&record->attrs[i], out);
    out->worker = (sonde__text){record->worker, record->worker_len};
    if (record->worker_len == 0)
        sonde__packet_name_worker(out);
    return true;
}
