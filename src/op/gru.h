/* The element-wise parts of a gated recurrent unit (Cho et al. 2014; Bahdanau et al. 2015, A.1.1):
 *   z = sigmoid(x_z + u_z)    r = sigmoid(x_r + u_r)
 *   s' = (1 - z) s + z tanh(x_c + u_c + b)
 * x (B, 3H) holds the input's part of z, r and candidate side by side; the products U s are the caller's, because
 * the reset gate stands before or after one of them. */
#ifndef OP_GRU_H
#define OP_GRU_H

#include "tape/tape.h"

/* u (B, 2H): U_z s and U_r s. Returns r (B, H), sets *z (B, H). */
tensor *gru_gates(tape *t, tensor *x, tensor *u, tensor **z);
/* u (B, H): the recurrent part of the candidate. b (H). Rows with live[i] == false keep s (padding); live NULL: all
 * live. Returns s' (B, H). */
tensor *gru_update(tape *t, tensor *x, tensor *u, tensor *z, tensor *s, param *b, const bool *live);

#endif
