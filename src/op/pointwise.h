#ifndef OP_POINTWISE_H
#define OP_POINTWISE_H

#include "tape/tape.h"

/* y = tanh(x) */
tensor *op_tanh(tape *t, tensor *x);
/* x = max(x, 0), where it lies: x has had no reader yet, and its maker needs its values no more. Returns x. */
tensor *op_relu(tape *t, tensor *x);
/* y = a + b, of equal shape. */
tensor *op_add(tape *t, tensor *a, tensor *b);
/* y[i] = sigmoid(s[i]) x[i]: x (N, D), and s (N, 1), consumed. */
tensor *op_gate(tape *t, tensor *x, tensor *s);
/* y_k = max(x_{2k}, x_{2k+1}): maxout over adjacent pairs (Goodfellow et al. 2013). x (N, 2l), consumed -> (N, l).
 * At a tie the gradient goes to the first of the pair. Shows x to the tape's witness as "maxout". */
tensor *op_maxout(tape *t, tensor *x);

#endif
