#ifndef OP_NORM_H
#define OP_NORM_H

#include "op/dropout.h"

/* Layer normalisation of a residual connection (Ba et al. 2016; Vaswani et al. 2017, 5.4):
 *   y[i] = gain * (z - mean(z)) / sqrt(variance(z) + 1e-5) + bias,   z = x[i] + dropout(f[i])
 * over the numbers of a row. x (N, d), f (N, d) consumed, gain (d), bias (d). Returns y (N, d). */
tensor *op_add_norm(tape *t, tensor *x, tensor *f, param *gain, param *bias, const unit_dropout *dropout);

/* The same without a residual connection: y[i] = gain * N(f[i]) + bias; bias NULL: without. The second returns a y
 * that its one reader consumes (tape_consumed). */
tensor *op_norm(tape *t, tensor *f, param *gain, param *bias);
tensor *op_norm_consumed(tape *t, tensor *f, param *gain, param *bias);

#endif
