#ifndef LAYER_GRU_CELL_H
#define LAYER_GRU_CELL_H

#include "layer/weight.h"
#include "op/gru.h"

/* A gated recurrent unit with its input's weights W (3H, m), rows of z, r and candidate in that order; the rest of
 * the step as in gru_step. Only the candidate has a bias (Bahdanau et al. 2015). */
typedef struct gru_cell {
    param *W;
    gru_weights step;
} gru_cell;

/* context 0: no C. */
void gru_cell_declare(gru_cell *g, const weight_scope *scope, const char *prefix, int input, int context, int width,
                      sa_reset reset);

/* Runs the cell over a whole sequence from state 0. x (S, B, m): inputs; lengths (B): true positions. Rows beyond
 * their length keep their state; `reversed` runs from position S-1 down to 0. Returns S states (B, H) by position;
 * NULL once the tape has failed. */
tensor **gru_cell_run(tape *t, const gru_cell *g, tensor *x, const int *lengths, bool reversed);

#endif
