/* SPDX-License-Identifier: Apache-2.0 */
#include "moe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct layer {
    float query[MOE_WIDTH * MOE_WIDTH];
    float key[MOE_WIDTH * MOE_WIDTH];
    float value[MOE_WIDTH * MOE_WIDTH];
    float router[MOE_EXPERTS * MOE_WIDTH];
    float up[MOE_EXPERTS][MOE_HIDDEN * MOE_WIDTH];
    float down[MOE_EXPERTS][MOE_WIDTH * MOE_HIDDEN];
    float keys[MOE_CONTEXT][MOE_WIDTH];
    float values[MOE_CONTEXT][MOE_WIDTH];
    int tokens; /* ever seen; the cache keeps the last MOE_CONTEXT */
} layer;

struct moe_model {
    float embedding[MOE_VOCABULARY * MOE_WIDTH];
    layer layers[MOE_LAYERS];
};

static float noise(unsigned *state, float scale)
{
    *state = *state * 1664525u + 1013904223u;
    return ((float)(*state >> 8) / 8388608.0f - 1.0f) * scale;
}

static void fill(float *weights, size_t count, unsigned *state, float scale)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = noise(state, scale);
}

moe_model *moe_create(unsigned seed)
{
    moe_model *model = calloc(1, sizeof *model);
    if (!model)
        return NULL;
    float scale = 1.0f / sqrtf(MOE_WIDTH);
    fill(model->embedding, MOE_VOCABULARY * MOE_WIDTH, &seed, 0.1f);
    for (int i = 0; i < MOE_LAYERS; i++) {
        layer *at = &model->layers[i];
        fill(at->query, MOE_WIDTH * MOE_WIDTH, &seed, scale);
        fill(at->key, MOE_WIDTH * MOE_WIDTH, &seed, scale);
        fill(at->value, MOE_WIDTH * MOE_WIDTH, &seed, scale);
        fill(at->router, MOE_EXPERTS * MOE_WIDTH, &seed, scale);
        fill(&at->up[0][0], MOE_EXPERTS * MOE_HIDDEN * MOE_WIDTH, &seed, scale);
        fill(&at->down[0][0], MOE_EXPERTS * MOE_WIDTH * MOE_HIDDEN, &seed, scale);
    }
    return model;
}

void moe_destroy(moe_model *model)
{
    free(model);
}

static float dot(const float *a, const float *b, int count)
{
    float sum = 0;
    for (int i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void multiply(const float *matrix, const float *in, int rows, int columns, float *out)
{
    for (int i = 0; i < rows; i++)
        out[i] = dot(matrix + (size_t)i * (size_t)columns, in, columns);
}

void moe_embedding(const moe_model *model, int token, float *out)
{
    memcpy(out, model->embedding + (size_t)(token % MOE_VOCABULARY) * MOE_WIDTH,
           MOE_WIDTH * sizeof *out);
}

void moe_layernorm(const float *in, float *out)
{
    float mean = 0, variance = 0;
    for (int i = 0; i < MOE_WIDTH; i++)
        mean += in[i] / MOE_WIDTH;
    for (int i = 0; i < MOE_WIDTH; i++)
        variance += (in[i] - mean) * (in[i] - mean) / MOE_WIDTH;
    for (int i = 0; i < MOE_WIDTH; i++)
        out[i] = (in[i] - mean) / sqrtf(variance + 1e-5f);
}

void moe_attention(moe_model *model, int which, const float *in, float *out)
{
    layer *at = &model->layers[which];
    float query[MOE_WIDTH], weight[MOE_CONTEXT], sum = 0;
    int slot = at->tokens % MOE_CONTEXT;
    at->tokens++;
    int seen = at->tokens < MOE_CONTEXT ? at->tokens : MOE_CONTEXT;
    multiply(at->query, in, MOE_WIDTH, MOE_WIDTH, query);
    multiply(at->key, in, MOE_WIDTH, MOE_WIDTH, at->keys[slot]);
    multiply(at->value, in, MOE_WIDTH, MOE_WIDTH, at->values[slot]);
    for (int i = 0; i < seen; i++) {
        weight[i] = expf(dot(query, at->keys[i], MOE_WIDTH) / sqrtf(MOE_WIDTH));
        sum += weight[i];
    }
    memset(out, 0, MOE_WIDTH * sizeof *out);
    for (int i = 0; i < seen; i++)
        for (int n = 0; n < MOE_WIDTH; n++)
            out[n] += weight[i] / sum * at->values[i][n];
}

void moe_router(const moe_model *model, int which, const float *in, float *out)
{
    multiply(model->layers[which].router, in, MOE_EXPERTS, MOE_WIDTH, out);
}

void moe_select(const float *in, float *out)
{
    int best = 0, second = -1;
    for (int i = 1; i < MOE_EXPERTS; i++)
        if (in[i] > in[best])
            best = i;
    for (int i = 0; i < MOE_EXPERTS; i++)
        if (i != best && (second < 0 || in[i] > in[second]))
            second = i;
    float share = 1.0f / (1.0f + expf(in[second] - in[best]));
    out[0] = (float)best;
    out[1] = share;
    out[2] = (float)second;
    out[3] = 1.0f - share;
}

void moe_expert(const moe_model *model, int which, int expert, const float *in, float *out)
{
    const layer *at = &model->layers[which];
    float hidden[MOE_HIDDEN];
    multiply(at->up[expert], in, MOE_HIDDEN, MOE_WIDTH, hidden);
    for (int i = 0; i < MOE_HIDDEN; i++)
        hidden[i] = hidden[i] / (1.0f + expf(-hidden[i]));
    multiply(at->down[expert], hidden, MOE_WIDTH, MOE_HIDDEN, out);
}

void moe_lm_head(const moe_model *model, const float *in, float *out)
{
    multiply(model->embedding, in, MOE_VOCABULARY, MOE_WIDTH, out);
}
