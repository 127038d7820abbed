/* SPDX-License-Identifier: Apache-2.0 */
/* What the two programs say to each other: one request, one reply, each a message of a
   SOCK_SEQPACKET socket. */
#ifndef EXAMPLE_WIRE_H
#define EXAMPLE_WIRE_H

#include "moe.h"

#include <stdint.h>

#define WIRE_SOCKET "split.sock" /* in the folder both are started in */

typedef enum wire_operation {
    WIRE_EMBEDDING,
    WIRE_ATTENTION_NORM,
    WIRE_ATTENTION,
    WIRE_ROUTER,
    WIRE_SELECTION,
    WIRE_EXPERT,
    WIRE_FINAL_NORM,
    WIRE_LM_HEAD,
    WIRE_OPERATIONS
} wire_operation;

enum { WIRE_CPU, WIRE_IGPU };

typedef struct wire_request {
    int64_t packet_id;
    int32_t operation;
    int32_t layer; /* -1: none */
    int32_t device;
    int32_t argument; /* token, or expert */
    float data[MOE_VOCABULARY];
} wire_request;

typedef struct wire_reply {
    int64_t packet_id;
    int32_t device; /* that did it */
    int32_t success;
    double duration_ms;
    double memory_mb;
    char error[64];
    float data[MOE_VOCABULARY];
} wire_reply;

static inline const char *wire_operation_name(wire_operation operation)
{
    static const char *const names[] = {
        "embedding",        "attention_layernorm", "attention_qkv_proj", "router_logits",
        "expert_selection", "expert_ffn",          "final_layernorm",    "lm_head"};
    return names[operation];
}

static inline const char *wire_device_name(int device)
{
    return device == WIRE_IGPU ? "igpu" : "cpu";
}

#endif
