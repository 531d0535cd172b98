#ifndef OP_GRU_H
#define OP_GRU_H

#include "tape/tape.h"

/* What one step of a gated recurrent unit is made of. U_zr (2H, H) holds the rows of the gates z and r, C (3H, D)
 * those of z, r and candidate; b (H) belongs to the candidate. C NULL: no context. */
typedef struct gru_weights {
    param *U_zr, *U, *C, *b;
    sa_reset reset;
} gru_weights;

/* One step (Cho et al. 2014; Bahdanau et al. 2015, A.1.1, A.2.2); z takes the new candidate:
 *   z = sigmoid(x_z + U_z s + C_z c)    r = sigmoid(x_r + U_r s + C_r c)
 *   s~ = tanh(x_h + U (r * s) + C_h c + b)   [reset before]   or   tanh(x_h + r * (U s) + C_h c + b)   [after]
 *   s' = (1 - z) * s + z * s~
 * x (B, 3H): the input's part of z, r and candidate side by side; c (B, D), NULL exactly when C is; s (B, H). Rows
 * with live[i] == false keep s (padding); live NULL: all live. Returns s' (B, H). A step keeps 6 H numbers a row:
 * in backward, gradients take the place of what they were computed from. */
tensor *gru_step(tape *t, const gru_weights *g, tensor *x, tensor *c, tensor *s, const bool *live);

#endif
