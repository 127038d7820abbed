/* SPDX-License-Identifier: Apache-2.0 */
/* A small mixture-of-experts transformer with made weights: real arithmetic, no training. */
#ifndef EXAMPLE_MOE_H
#define EXAMPLE_MOE_H

enum {
    MOE_WIDTH = 192,
    MOE_LAYERS = 4,
    MOE_EXPERTS = 8,
    MOE_CHOSEN = 2, /* experts per token */
    MOE_HIDDEN = 512,
    MOE_VOCABULARY = 256,
    MOE_CONTEXT = 64, /* tokens that attention looks back on */
};

typedef struct moe_model moe_model;

/* The same seed gives the same weights. NULL: no memory. */
moe_model *moe_create(unsigned seed);
void moe_destroy(moe_model *model);

/* All vectors are MOE_WIDTH long unless said otherwise; in and out may not overlap. */
void moe_embedding(const moe_model *model, int token, float *out);
void moe_layernorm(const float *in, float *out);
/* Keys and values of the token are added to the layer's cache. */
void moe_attention(moe_model *model, int layer, const float *in, float *out);
/* out: MOE_EXPERTS scores. */
void moe_router(const moe_model *model, int layer, const float *in, float *out);
/* in: MOE_EXPERTS scores; out: MOE_CHOSEN pairs of expert number and weight. */
void moe_select(const float *in, float *out);
void moe_expert(const moe_model *model, int layer, int expert, const float *in, float *out);
/* out: MOE_VOCABULARY scores. */
void moe_lm_head(const moe_model *model, const float *in, float *out);

#endif
