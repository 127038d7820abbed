/* SPDX-License-Identifier: Apache-2.0 */
/* A finished task as the split-inference logger sees it: a work packet, one row of the CSV log. */
#ifndef SONDE_VIEW_PACKET_H
#define SONDE_VIEW_PACKET_H

#include "base/word.h"
#include "sonde/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    SONDE__EXPERTS_MAX = 16,         /* experts of one packet that are counted */
    SONDE__WORKER_TEXT_MAX = 512,    /* bytes of a worker name made from operation and device */
    SONDE__NO_LAYER = -1,            /* "not in a layer", as the embedding has it */
    SONDE__PACKET_NUMBER_BYTES = 24, /* a packet number as text */
    SONDE__STAGES_KNOWN = 16,        /* operations whose stage is remembered */
    SONDE__STAGE_OPERATION_MAX = 47, /* bytes of a name that is */
};

typedef struct sonde__text {
    const char *data; /* not NUL-terminated */
    size_t len;
} sonde__text;

/* Which stage of the pipeline an operation was found to be. */
typedef struct sonde__stage_memo {
    unsigned char len;
    unsigned char stage;
    char operation[SONDE__STAGE_OPERATION_MAX];
} sonde__stage_memo;

/* Zeroed before its first use; then it may be filled again and again. */
typedef struct sonde__packet {
    uint64_t end_ns; /* since 1970 */
    uint64_t duration_ns;
    sonde__text device;
    sonde__text worker;
    sonde__text packet_id; /* any text; data NULL: id is its number */
    uint64_t id;
    sonde__text operation;
    sonde__text error;
    sonde__text target; /* the device that was asked for; empty: not known */
    int64_t layer;
    bool success;
    double memory_mb;
    unsigned experts;
    int64_t expert[SONDE__EXPERTS_MAX];
    char number[SONDE__PACKET_NUMBER_BYTES];  /* packet_id points here where it was made */
    char worker_text[SONDE__WORKER_TEXT_MAX]; /* and worker here */
    sonde__stage_memo memo[SONDE__STAGES_KNOWN];
} sonde__packet;

/* Names of the attributes that carry what the log has columns for. */
#define SONDE__ATTR_PACKET_ID     "packet_id"
#define SONDE__ATTR_DEVICE_TARGET "device_target"
#define SONDE__ATTR_MEMORY_MB     "memory_used_mb"
#define SONDE__ATTR_EXPERT        "expert"

/* Subtypes of tasks that describe the recording itself; they are no work packets. */
#define SONDE__SUBTYPE_PROCESS "sonde.process"
#define SONDE__SUBTYPE_SAMPLE  "sonde.sample"
#define SONDE__SUBTYPE_TOKENS  "sonde.tokens"

/* False when the record is not an ended task of the program. The packet borrows from the record and
   must not be copied: some of its texts point into itself. */
bool sonde__packet_of_record(const sonde_record *record, sonde__packet *out);

/* The name of the pipeline stage: DEVICE_embedding, DEVICE_router, DEVICE_expert_ffn_layer_N,
   DEVICE_attention_layer_N, DEVICE_layernorm_layer_N, DEVICE_lm_head, else DEVICE_OPERATION, by the
   first that the operation's name holds. At most SONDE__WORKER_TEXT_MAX bytes are written. */
size_t sonde__packet_worker(sonde__text operation, sonde__text device, int64_t layer, char *out);

/* The packet's worker by the rules above, for its operation, device and layer. */
void sonde__packet_name_worker(sonde__packet *packet);

/* The packet's number or text; out has room for SONDE__PACKET_NUMBER_BYTES and is used if needed.
 */
sonde__text sonde__packet_id_text(const sonde__packet *packet, char *out);

/* When it began; 0 when the log does not say when it ended. */
static inline uint64_t sonde__packet_start_ns(const sonde__packet *packet)
{
    return packet->end_ns > packet->duration_ns ? packet->end_ns - packet->duration_ns : 0;
}

/* Whether two texts are the same. Names are short: words are compared in place, the last one
   overlapping. */
static inline bool sonde__text_same(sonde__text a, sonde__text b)
{
    if (a.len != b.len)
        return false;
    size_t i = 0;
    for (; i + 8 < a.len; i += 8)
        if (sonde__word_at(a.data + i) != sonde__word_at(b.data + i))
            return false;
    if (a.len >= 8)
        return sonde__word_at(a.data + a.len - 8) == sonde__word_at(b.data + a.len - 8);
    for (; i < a.len; i++)
        if (a.data[i] != b.data[i])
            return false;
    return true;
}

static inline bool sonde__text_is(sonde__text text, const char *other)
{
    return text.len == strlen(other) && memcmp(text.data, other, text.len) == 0;
}

#endif
