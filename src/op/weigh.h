#ifndef OP_WEIGH_H
#define OP_WEIGH_H

#include "op/attention.h"

/* What a look finds in other values than those that it was scored by, with the same weights:
 *   y[i] = sum_j a[i,j] values[at_k + j]     k = source[i], j < lengths[k]
 * weights a (rows, S), which may have other readers; h: values (N, D), at, lengths and S, no keys. source: of each
 * row, kept by the caller until tape_reset. Returns (rows, D). Values without memory for a gradient are constants.
 */
tensor *op_weigh(tape *t, tensor *weights, const annotations *h, const int *source);

#endif
