/* The training pass of a model over a piece of a minibatch. */
#ifndef MODEL_LOSS_H
#define MODEL_LOSS_H

#include "model/model.h"
#include "op/xent.h"

typedef struct pass_result {
    xent_sums sums;
    long words;       /* target symbols that were scored, </s> counted */
    double *word_nll; /* -log p of each, in the order of the steps of the target */
    tensor *weights;  /* (words, S): the attention of each, in the same order; NULL without attention */
} pass_result;

/* Forward over all steps, up to the readout's hidden layer (N, width) and the weights of attention (N, S), NULL
 * without. False once the tape has failed. */
bool model_forward(const model *m, tape *t, const source_batch *source, const target_batch *target,
                   const regularisation *r, tensor **hidden, tensor **weights);

/* The same with the loss, that of guided attention included: summed into *result; when the tape records,
 * tape_backward then gives the gradient of scale * loss. Arrays in *result live in the arena. False once the tape
 * has failed. */
bool model_pass(const model *m, tape *t, const source_batch *source, const target_batch *target,
                const regularisation *r, double scale, pass_result *result);

#endif
