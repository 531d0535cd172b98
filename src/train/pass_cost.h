/* What a model's pass takes of an arena, for any size of minibatch.
 *
 * A tensor's bytes are a product of dimensions, and a loop makes as many as it has steps: what a pass over B
 * sentences of S and T symbols takes is a sum of products of B, S and T, each at most once. Eight small passes, two
 * values of each, thus tell it for all sizes, whatever the model is made of. They run on a model of the same
 * dimensions with a tiny vocabulary, before anything of the real one is allocated; what a vocabulary adds is known
 * (op/xent.h). */
#ifndef TRAIN_PASS_COST_H
#define TRAIN_PASS_COST_H

#include "model/loss.h"

enum { PASS_COST_CORNERS = 8 };

typedef struct pass_cost {
    double bytes[2][PASS_COST_CORNERS]; /* [recording][corner]: bit 0, 1, 2 of the corner is set where B, S, T is
                                           large */
    double vocabulary; /* of gradients that a recording pass keeps per symbol of the target vocabulary */
    int symbols;       /* of the target vocabulary */
} pass_cost;

/* Takes about as long as a small update. SA_MEMORY when not even the model's parameters fit. */
sa_status pass_cost_measure(pass_cost *out, const sa_model_config *config, const regularisation *r,
                            sa_error *error);
/* Bytes of the arena of a pass. B may be a fraction: the mean of several passes. */
double pass_cost_of(const pass_cost *c, bool recording, double B, double S, double T);
/* Bytes that the worker lends to a pass for its output layer: the scores of a chunk of rows, and when recording in
 * bf16 the same rounded. */
double pass_scratch_of(const pass_cost *c, bool recording, sa_precision precision, double B, double T);

#endif
