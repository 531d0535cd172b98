#ifndef LAYER_LSTM_CELL_H
#define LAYER_LSTM_CELL_H

#include "layer/weight.h"
#include "op/lstm.h"

/* A long short-term memory with its input's weights: W (4H, m) and b (4H); the rest of the step as in lstm_step. */
typedef struct lstm_cell {
    param *W, *b;
    lstm_weights step;
} lstm_cell;

/* context 0: no C. looped: whether the input and the context come step by step, not all at once. */
void lstm_cell_declare(lstm_cell *l, const weight_scope *scope, const char *prefix, int input, int context,
                       int width, sa_cell cell, bool looped);

/* What the input gives to steps, W x + b, and with a context + C context: x (N, m) -> (N, 4H), consumed. */
tensor *lstm_cell_input(tape *t, const lstm_cell *l, tensor *x, tensor *context);

/* States of every step, (n[j], H) each; h of all of them as one matrix. */
typedef struct lstm_run {
    tensor **h, **c, *all;
} lstm_run;

/* Runs the cell over whole sequences from `before` (NULLs: zeros); `reversed`: each from its last position to its
 * first. gates: what the input gives to the rows of all steps. NULLs once the tape has failed. */
lstm_run lstm_cell_run(tape *t, const lstm_cell *l, tensor *gates, const steps *over, bool reversed,
                       lstm_state before);

#endif
