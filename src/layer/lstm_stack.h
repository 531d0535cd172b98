#ifndef LAYER_LSTM_STACK_H
#define LAYER_LSTM_STACK_H

#include "layer/lstm_cell.h"

/* Layers of long short-term memories, each over all steps before the next one begins; the input of a layer is the
 * output of the one below, with dropout in between (Zaremba et al. 2014). From layer `residual_from` on (counted
 * from 1; 0: nowhere) the output of a layer is its state plus its input (Wu et al. 2016). */
enum { LSTM_LAYERS_MAX = 16 };
typedef struct lstm_stack {
    int n, residual_from;
    lstm_cell cell[LSTM_LAYERS_MAX];
} lstm_stack;

/* Where and how much: layer i has the masks of site + i. number: sentence of each row. */
typedef struct stack_dropout {
    float rate;
    unsigned site;
    const int *number;
} stack_dropout;

typedef struct stack_input {
    tensor *x;       /* (N, m): of the lowest layer that runs, N: the rows of all steps */
    tensor *context; /* (N, D): input of all layers; NULL: none */
    const steps *over;
    bool reversed;
    const lstm_state *before; /* of each layer; NULL: zeros */
} stack_input;

/* Runs the layers from `from` (counted from 0) on, whose cells were declared. run, when not NULL, gets the states
 * of each. Returns the output of the highest, (N, H); NULL once the tape has failed. */
tensor *lstm_stack_run(tape *t, const lstm_stack *s, int from, const stack_input *in, stack_dropout dropout,
                       lstm_run *run);

/* Masks of the inputs of layers, drawn once for all steps of a loop; NULL: nothing is dropped there. */
typedef struct stack_masks {
    const real *mask[LSTM_LAYERS_MAX];
    const int *number; /* sentence of each row of the first step */
} stack_masks;
stack_masks lstm_stack_draw(tape *t, const lstm_stack *s, int sentences, stack_dropout dropout);

/* One step of all layers in a loop of the caller's. gates: what the input gives to the lowest, which alone has a
 * context (NULL: none). state: of each layer; changes. Returns the output of the highest. */
tensor *lstm_stack_step(tape *t, const lstm_stack *s, tensor *gates, tensor *context, const stack_masks *masks,
                        lstm_state *state);

#endif
