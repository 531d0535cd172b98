/* Operations that move numbers between layouts. */
#ifndef OP_SHAPE_H
#define OP_SHAPE_H

#include "tape/tape.h"

/* Steps of a loop, a[j] and b[j] (B, D_a) and (B, D_b), to one row per sentence and position:
 * y[i][j] = [a[j][i]; b[j][i]]. b NULL: a alone. Returns (B, S, D_a + D_b). */
tensor *op_join_steps(tape *t, int S, tensor *const *a, tensor *const *b);

/* The true positions of steps x[0..T-1], each (B, D), without padding: rows in order of step, then sentence, of
 * those with step < lengths[sentence]. Returns (sum of lengths, D). */
tensor *op_pack_steps(tape *t, int T, tensor *const *x, const int *lengths);

#endif
