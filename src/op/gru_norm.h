#ifndef OP_GRU_NORM_H
#define OP_GRU_NORM_H

#include "op/gru.h"

/* One step of a gated unit with layer normalisation (Ba et al. 2016, as Sennrich et al. 2017 have it): what input
 * and state give to the gates, and to the candidate, is normalised, each of the four by itself. With N(x) = (x -
 * mean(x)) / sqrt(variance(x) + 1e-5), over the 2H numbers of both gates or the H of the candidate, [z; r] =
 * sigmoid(g_W_zr * N(x_zr + C_zr c) + g_U_zr * N(U_zr s) + b_zr) s~ = tanh(g_W * N(x_h + C c) + r * (g_U * N(U s) +
 * b_U) + b) s' = (1 - z) * s + z * s~ Arguments and result are those of gru_step, but x may be of NULLs: a step
 * without input, of as many rows as s has. A step keeps 7 H + 4 numbers a row, its input's included: gates and
 * candidate are computed again in backward. */
tensor *gru_norm_step(tape *t, const gru_weights *g, gru_input x, tensor *c, tensor *s);

/* What the step keeps beside its result y: the normalised shares of the state and what all were divided by; NULLs
 * fail the tape. */
typedef struct gru_norm_kept {
    real *u_zr, *u; /* (n, 2H), (n, H) */
    real *scale;    /* (n, 4): 1 / sqrt(...) of x_zr, x_h, u_zr and u */
} gru_norm_kept;
gru_norm_kept gru_norm_allocate(tape *t, const tensor *y);

#endif
