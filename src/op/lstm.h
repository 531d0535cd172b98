#ifndef OP_LSTM_H
#define OP_LSTM_H

#include "tape/tape.h"

/* What one step of a long short-term memory is made of. U (4H, H) and C (4H, D) hold the rows of the gates i, f and
 * o and of the candidate g. C NULL: no context. */
typedef struct lstm_weights {
    param *U, *C;
    sa_cell cell;
} lstm_weights;

/* What it carries: (rows, H) each. */
typedef struct lstm_state {
    tensor *h, *c;
} lstm_state;

/* One step (Hochreiter and Schmidhuber 1997, with a forget gate, without peepholes):
 *   [i; f; o; g] = x + U h + C context      i, f, o = sigmoid   g = tanh
 *   c' = f * c + i * g      h' = o * tanh(c'),  or o * c' (SA_CELL_LSTM_LINEAR)
 * x (n, 4H): what the input gives, consumed: the step makes the gates in its place, and in backward their
 * gradients. context (n, D): NULL leaves C out. The state may have more rows than x: those sequences are over; or
 * fewer: the others begin here, from a state of zeros. Returns the new state (n, H) each, of NULLs once the tape
 * has failed. */
lstm_state lstm_step(tape *t, const lstm_weights *w, tensor *x, tensor *context, lstm_state s);

#endif
