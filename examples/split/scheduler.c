/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler: takes work packets from a socket and runs each on the device it asks for, one
   thread per device. "igpu" is a thread as well: what is shown here is the logging, not a driver.
   The iGPU runs out of memory once, at packet FAILING_PACKET, so that there is a failure to find.
     usage: split_scheduler [--once]     serves one client after another, or just one */
#include "moe.h"
#include "wire.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { FAILING_PACKET = 57, DEVICES = 2 };

typedef struct device {
    int id;
    int client;
    moe_model *model;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int has_work;
    int stop;
    wire_request request;
} device;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void compute(moe_model *model, const wire_request *request, float *out)
{
    switch ((wire_operation)request->operation) {
    case WIRE_EMBEDDING:
        moe_embedding(model, request->argument, out);
        break;
    case WIRE_ATTENTION_NORM:
    case WIRE_FINAL_NORM:
        moe_layernorm(request->data, out);
        break;
    case WIRE_ATTENTION:
        moe_attention(model, request->layer, request->data, out);
        break;
    case WIRE_ROUTER:
        moe_router(model, request->layer, request->data, out);
        break;
    case WIRE_SELECTION:
        moe_select(request->data, out);
        break;
    case WIRE_EXPERT:
        moe_expert(model, request->layer, request->argument, request->data, out);
        break;
    case WIRE_LM_HEAD:
        moe_lm_head(model, request->data, out);
        break;
    case WIRE_OPERATIONS:
        break;
    }
}

/* The bytes of weights that an operation reads. */
static double memory_mb(const wire_request *request)
{
    static const int floats[WIRE_OPERATIONS] = {
        [WIRE_EMBEDDING] = MOE_WIDTH,
        [WIRE_ATTENTION_NORM] = MOE_WIDTH,
        [WIRE_ATTENTION] = 3 * MOE_WIDTH * MOE_WIDTH,
        [WIRE_ROUTER] = MOE_EXPERTS * MOE_WIDTH,
        [WIRE_SELECTION] = MOE_EXPERTS,
        [WIRE_EXPERT] = 2 * MOE_WIDTH * MOE_HIDDEN,
        [WIRE_FINAL_NORM] = MOE_WIDTH,
        [WIRE_LM_HEAD] = MOE_VOCABULARY * MOE_WIDTH,
    };
    return floats[request->operation] * (double)sizeof(float) / 1e6;
}

static void execute(device *self, const wire_request *request, wire_reply *reply)
{
    *reply = (wire_reply){.packet_id = request->packet_id, .device = self->id, .success = 1};
    double start = now_ms();
    if (self->id == WIRE_IGPU && request->packet_id == FAILING_PACKET) {
        reply->success = 0;
        strcpy(reply->error, "iGPU out of memory");
    } else {
        compute(self->model, request, reply->data);
        reply->memory_mb = memory_mb(request);
    }
    reply->duration_ms = now_ms() - start;
}

static void *serve_device(void *argument)
{
    device *self = argument;
    wire_reply reply;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (!self->has_work && !self->stop)
            pthread_cond_wait(&self->changed, &self->lock);
        if (!self->has_work)
            break;
        wire_request request = self->request;
        pthread_mutex_unlock(&self->lock);
        execute(self, &request, &reply);
        /* free for the next request before the client can send it */
        pthread_mutex_lock(&self->lock);
        self->has_work = 0;
        pthread_cond_signal(&self->changed);
        if (send(self->client, &reply, sizeof reply, MSG_NOSIGNAL) < 0)
            break;
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static void hand_over(device *to, const wire_request *request)
{
    pthread_mutex_lock(&to->lock);
    while (to->has_work)
        pthread_cond_wait(&to->changed, &to->lock);
    to->request = *request;
    to->has_work = 1;
    pthread_cond_signal(&to->changed);
    pthread_mutex_unlock(&to->lock);
}

static int is_valid(const wire_request *request)
{
    return request->operation >= 0 && request->operation < WIRE_OPERATIONS &&
           request->layer >= -1 && request->layer < MOE_LAYERS + 1 && request->argument >= 0 &&
           (request->operation != WIRE_EXPERT || request->argument < MOE_EXPERTS);
}

static void serve_client(int client)
{
    moe_model *model = moe_create(7);
    device devices[DEVICES];
    for (int i = 0; i < DEVICES; i++) {
        devices[i] = (device){.id = i, .client = client, .model = model};
        pthread_mutex_init(&devices[i].lock, NULL);
        pthread_cond_init(&devices[i].changed, NULL);
        pthread_create(&devices[i].thread, NULL, serve_device, &devices[i]);
    }
    wire_request request;
    while (model && recv(client, &request, sizeof request, 0) == (ssize_t)sizeof request)
        if (is_valid(&request))
            hand_over(&devices[request.device == WIRE_IGPU], &request);
    for (int i = 0; i < DEVICES; i++) {
        pthread_mutex_lock(&devices[i].lock);
        devices[i].stop = 1;
        pthread_cond_signal(&devices[i].changed);
        pthread_mutex_unlock(&devices[i].lock);
        pthread_join(devices[i].thread, NULL);
    }
    moe_destroy(model);
}

int main(int argc, char **argv)
{
    int once = argc > 1 && strcmp(argv[1], "--once") == 0;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = WIRE_SOCKET};
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    unlink(WIRE_SOCKET);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 4) != 0) {
        perror("split_scheduler: " WIRE_SOCKET);
        return 1;
    }
    printf("scheduler: waiting at %s\n", WIRE_SOCKET);
    fflush(stdout);
    do {
        int client = accept(listener, NULL, NULL);
        if (client < 0)
            break;
        serve_client(client);
        close(client);
    } while (!once);
    unlink(WIRE_SOCKET);
    return 0;
}
