#ifndef OP_GRU_H
#define OP_GRU_H

#include "tape/tape.h"

/* What layer normalisation adds to a step (op/gru_norm.h): gains of what the input gives, (2H) for the gates and
 * (H); NULL in a step without input; those of what the state gives; and biases. All NULL: nothing is normalised. */
typedef struct gru_norm {
    param *g_W_zr, *g_W, *g_U_zr, *g_U;
    param *b_zr, *b, *b_U;
} gru_norm;

/* What one step of a gated recurrent unit is made of. U_zr (2H, H) and C_zr (2H, D) hold the rows of the gates z
 * and r. C_zr and C NULL: no context. */
typedef struct gru_weights {
    param *U_zr, *U, *C_zr, *C;
    sa_reset reset; /* after, where the step is normalised */
    gru_norm norm;
} gru_weights;

/* What the input gives to a step: W_zr x (n, 2H) for the gates, W x + b (n, H) for the candidate. Both are
 * consumed: the step makes gates and candidate in their place, and in backward their gradients. */
typedef struct gru_input {
    tensor *gates, *candidate;
} gru_input;

/* One step (Cho et al. 2014; Bahdanau et al. 2015, A.1.1, A.2.2); z takes the new candidate:
 *   z = sigmoid(x_z + U_z s + C_z c)    r = sigmoid(x_r + U_r s + C_r c)
 *   s~ = tanh(x_h + U (r * s) + C c)   [reset before]   or   tanh(x_h + r * (U s) + C c)   [after]
 *   s' = (1 - z) * s + z * s~
 * c (n, D), NULL exactly when C is. s may have more rows than x: those sequences are over; or fewer: the others
 * begin here, from a state of zeros. Returns s' (n, H). A step keeps 6 H numbers a row, its input's included. Shows
 * to the tape's witness, of U: "gates" (n, 2H), z then r; "candidate" s~ and "state" s', (n, H). With layer
 * normalisation it is that of op/gru_norm.h. */
tensor *gru_step(tape *t, const gru_weights *g, gru_input x, tensor *c, tensor *s);

/* s' = s, in the place of a step of g in the first iteration of a loop that looks before it updates: it makes the
 * same allocations. */
tensor *gru_hold(tape *t, const gru_weights *g, tensor *s);

/* The context's part of a step, for steps of other forms: its share is added to x; backward, with the gradients in
 * the place of x. c NULL: nothing is done. False without memory. */
bool gru_context_add(tape *t, const gru_weights *g, gru_input x, const tensor *c);
bool gru_context_back(tape *t, const gru_weights *g, gru_input x, tensor *c);

#endif
