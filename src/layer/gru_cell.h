#ifndef LAYER_GRU_CELL_H
#define LAYER_GRU_CELL_H

#include "layer/weight.h"
#include "op/gru.h"

/* Gated recurrent unit (Cho et al. 2014; Bahdanau et al. 2015, A.1.1, A.2). z takes the new candidate:
 *   z = sigmoid(W_z x + U_z s + C_z c)    r = sigmoid(W_r x + U_r s + C_r c)
 *   s~ = tanh(W x + U (r * s) + C c + b)   [reset before]   or   tanh(W x + r * (U s) + C c + b)   [after]
 *   s' = (1 - z) * s + z * s~
 * W (3H, m) and C (3H, D) hold the rows of z, r and candidate in that order, U_zr (2H, H) those of z and r. Only
 * the candidate has a bias. */
typedef struct gru_cell {
    param *W, *U_zr, *U, *C, *b;
    sa_reset reset;
} gru_cell;

/* context 0: no C. */
void gru_cell_declare(gru_cell *g, const weight_scope *scope, const char *prefix, int input, int context, int width,
                      sa_reset reset);
/* x (B, 3H): W x, plus C c where there is a context. s (B, H). live as in gru_update. Returns s' (B, H). */
tensor *gru_cell_step(tape *t, const gru_cell *g, tensor *x, tensor *s, const bool *live);

/* Runs the cell over a whole sequence from state 0. x (S, B, m): inputs; lengths (B): true positions. Rows beyond
 * their length keep their state; `reversed` runs from position S-1 down to 0. Returns S states (B, H) by position;
 * NULL once the tape has failed. */
tensor **gru_cell_run(tape *t, const gru_cell *g, tensor *x, const int *lengths, bool reversed);

#endif
