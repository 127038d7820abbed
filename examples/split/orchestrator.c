/* SPDX-License-Identifier: Apache-2.0 */
/* The orchestrator: runs a prompt through the model, packet by packet, and logs each result. The
   two experts of a token are asked for at once, one on each device; what the iGPU cannot do is done
   again on the CPU.
     usage: split_orchestrator [TOKENS]     (default 12, after a prompt of 5) */
#include "moe.h"
#include "wire.h"

#include <sonde/logger.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PROMPT_TOKENS = 5, DEFAULT_TOKENS = 12, CONNECT_TRIES = 200 };

typedef struct orchestrator {
    int socket;
    sonde_logger *logger;
    int64_t next_packet;
    int lost; /* the scheduler went away */
} orchestrator;

static void log_result(orchestrator *self, const wire_request *request, const wire_reply *reply)
{
    int64_t experts[MOE_CHOSEN];
    sonde_result result = SONDE_RESULT_DEFAULT;
    result.packet_id = request->packet_id;
    result.layer_idx = request->layer;
    result.operation = wire_operation_name((wire_operation)request->operation);
    result.device_target = wire_device_name(request->device);
    result.device = wire_device_name(reply->device);
    result.duration_ms = reply->duration_ms;
    result.success = reply->success;
    result.memory_used_mb = reply->memory_mb;
    result.error_message = reply->error;
    if (request->operation == WIRE_SELECTION) {
        for (int i = 0; i < MOE_CHOSEN; i++)
            experts[i] = (int64_t)reply->data[2 * i];
        result.experts = experts;
        result.expert_count = MOE_CHOSEN;
    }
    sonde_logger_log(self->logger, &result);
}

static wire_request make_request(orchestrator *self, wire_operation operation, int layer,
                                 int device, int argument, const float *data, int count)
{
    wire_request request = {
        .packet_id = ++self->next_packet,
        .operation = (int32_t)operation,
        .layer = layer,
        .device = device,
        .argument = argument,
    };
    if (data)
        memcpy(request.data, data, (size_t)count * sizeof *data);
    return request;
}

static void post(orchestrator *self, const wire_request *request)
{
    if (send(self->socket, request, sizeof *request, MSG_NOSIGNAL) != (ssize_t)sizeof *request)
        self->lost = 1;
}

/* The reply to one of count requests, which one it is to. */
static int receive(orchestrator *self, const wire_request *requests, int count, wire_reply *reply)
{
    if (self->lost || recv(self->socket, reply, sizeof *reply, 0) != (ssize_t)sizeof *reply) {
        self->lost = 1;
        return 0;
    }
    for (int i = 0; i < count; i++)
        if (requests[i].packet_id == reply->packet_id)
            return i;
    return 0;
}

/* Again on the CPU; the log tells by target and device that it is a second choice. */
static void retry(orchestrator *self, wire_request request, wire_reply *reply)
{
    request.packet_id = ++self->next_packet;
    wire_request on_cpu = request;
    on_cpu.device = WIRE_CPU;
    post(self, &on_cpu);
    receive(self, &on_cpu, 1, reply);
    if (!self->lost)
        log_result(self, &request, reply);
}

static void run_all(orchestrator *self, const wire_request *requests, int count,
                    wire_reply *replies)
{
    for (int i = 0; i < count; i++)
        post(self, &requests[i]);
    for (int i = 0; i < count && !self->lost; i++) {
        wire_reply reply;
        int which = receive(self, requests, count, &reply);
        if (self->lost)
            return;
        log_result(self, &requests[which], &reply);
        if (!reply.success)
            retry(self, requests[which], &reply);
        replies[which] = reply;
    }
}

static void run_one(orchestrator *self, wire_operation operation, int layer, int device,
                    int argument, const float *in, int count, wire_reply *reply)
{
    wire_request request = make_request(self, operation, layer, device, argument, in, count);
    memset(reply, 0, sizeof *reply);
    run_all(self, &request, 1, reply);
}

static void run_layer(orchestrator *self, int layer, float *state)
{
    static wire_reply reply, experts[MOE_CHOSEN];
    wire_request requests[MOE_CHOSEN];
    float chosen[2 * MOE_CHOSEN];
    run_one(self, WIRE_ATTENTION_NORM, layer, WIRE_IGPU, 0, state, MOE_WIDTH, &reply);
    run_one(self, WIRE_ATTENTION, layer, WIRE_IGPU, 0, reply.data, MOE_WIDTH, &reply);
    for (int i = 0; i < MOE_WIDTH; i++)
        state[i] += reply.data[i];
    run_one(self, WIRE_ROUTER, layer, WIRE_CPU, 0, state, MOE_WIDTH, &reply);
    run_one(self, WIRE_SELECTION, layer, WIRE_CPU, 0, reply.data, MOE_EXPERTS, &reply);
    memcpy(chosen, reply.data, sizeof chosen);
    for (int i = 0; i < MOE_CHOSEN; i++)
        requests[i] = make_request(self, WIRE_EXPERT, layer, i == 0 ? WIRE_IGPU : WIRE_CPU,
                                   (int)chosen[2 * i], state, MOE_WIDTH);
    memset(experts, 0, sizeof experts);
    run_all(self, requests, MOE_CHOSEN, experts);
    for (int i = 0; i < MOE_WIDTH; i++)
        state[i] += chosen[1] * experts[0].data[i] + chosen[3] * experts[1].data[i];
}

/* The most likely next token. */
static int run_token(orchestrator *self, int token)
{
    static wire_reply reply;
    float state[MOE_WIDTH];
    run_one(self, WIRE_EMBEDDING, -1, WIRE_CPU, token, NULL, 0, &reply);
    memcpy(state, reply.data, sizeof state);
    for (int layer = 0; layer < MOE_LAYERS && !self->lost; layer++)
        run_layer(self, layer, state);
    run_one(self, WIRE_FINAL_NORM, MOE_LAYERS, WIRE_CPU, 0, state, MOE_WIDTH, &reply);
    run_one(self, WIRE_LM_HEAD, MOE_LAYERS, WIRE_CPU, 0, reply.data, MOE_WIDTH, &reply);
    int best = 0;
    for (int i = 1; i < MOE_VOCABULARY; i++)
        if (reply.data[i] > reply.data[best])
            best = i;
    return best;
}

/* The scheduler may still be starting. */
static int connect_to_scheduler(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = WIRE_SOCKET};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    for (int i = 0; fd >= 0 && i < CONNECT_TRIES; i++) {
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        nanosleep(&(struct timespec){0, 25000000}, NULL);
    }
    return -1;
}

int main(int argc, char **argv)
{
    static const int prompt[PROMPT_TOKENS] = {83, 111, 110, 100, 101};
    int tokens = argc > 1 ? atoi(argv[1]) : DEFAULT_TOKENS;
    orchestrator self = {.socket = connect_to_scheduler()};
    if (self.socket < 0) {
        fprintf(stderr, "split_orchestrator: no scheduler at %s; start run_scheduler.sh first\n",
                WIRE_SOCKET);
        return 1;
    }
    sonde_status status = sonde_logger_open(NULL, NULL, &self.logger);
    if (status != SONDE_OK)
        fprintf(stderr, "split_orchestrator: nothing is logged: %s\n", sonde_status_text(status));
    int token = 0, generated = 0;
    for (int i = 0; i < PROMPT_TOKENS && !self.lost; i++)
        token = run_token(&self, prompt[i]);
    printf("tokens:");
    for (; generated < tokens && !self.lost; generated++) {
        printf(" %d", token);
        token = run_token(&self, token);
    }
    printf("\n");
    if (self.logger) {
        sonde_logger_stats stats;
        sonde_logger_stats_get(self.logger, &stats);
        printf("packets: %llu, on cpu %llu, on igpu %llu, failed %llu\n",
               (unsigned long long)stats.total_packets, (unsigned long long)stats.cpu_packets,
               (unsigned long long)stats.igpu_packets, (unsigned long long)stats.failed_packets);
    }
    sonde_logger_finalize(self.logger, (uint64_t)generated, PROMPT_TOKENS);
    close(self.socket);
    return self.lost;
}
