#ifndef LAYER_GRU_CELL_H
#define LAYER_GRU_CELL_H

#include "layer/weight.h"
#include "op/gru.h"

/* A gated recurrent unit with its input's weights: W_zr (2H, m) for the gates, W (H, m) and b (H) for the
 * candidate, which alone has a bias (Bahdanau et al. 2015); the rest of the step as in gru_step. */
typedef struct gru_cell {
    param *W_zr, *W, *b;
    gru_weights step;
} gru_cell;

/* context 0: no C. */
void gru_cell_declare(gru_cell *g, const weight_scope *scope, const char *prefix, int input, int context, int width,
                      sa_reset reset);

/* The input's part of all steps at once: x (N, m). */
gru_input gru_cell_input(tape *t, const gru_cell *g, tensor *x);

/* Runs the cell over whole sequences from states of zeros; `reversed`: each from its last position to its first. x
 * (rows of all steps, m), step by step. Returns the state of each step, (n[j], H); NULL once the tape has failed.
 */
tensor **gru_cell_run(tape *t, const gru_cell *g, tensor *x, const steps *over, bool reversed);

#endif
