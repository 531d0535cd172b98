/* Operations that move rows. */
#ifndef OP_SHAPE_H
#define OP_SHAPE_H

#include "tape/tape.h"

/* y[i] = [a[index[i]]; b[index[i]]] for i < n, a (N, D_a), b (N, D_b) or NULL: a alone. index is kept by the caller
 * until tape_reset. Returns (n, D_a + D_b). */
tensor *op_gather(tape *t, tensor *a, tensor *b, int n, const int *index);

/* y[i] = [a[i]; b[i]] for as many rows as both have. */
tensor *op_join(tape *t, tensor *a, tensor *b);

/* (n, cols) of zeros. */
tensor *op_zeros(tape *t, int n, int cols);

/* y[i] += x[i], in place, for all rows of y, a consumed tensor that its reader has not seen yet (tape_consumed). x
 * may have more rows. Returns y. */
tensor *op_add_to(tape *t, tensor *y, tensor *x);

/* y[i] = the mean of rows at[i] ... at[i] + lengths[i] - 1 of x (N, c), i < n: (n, c). at and lengths are kept by
 * the caller until tape_reset. */
tensor *op_mean(tape *t, tensor *x, int n, const int *at, const int *lengths);

#endif
