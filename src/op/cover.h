#ifndef OP_COVER_H
#define OP_COVER_H

#include "op/attention.h"

/* What a decoder has looked at so far, of every position of its source (Tu et al. 2016): a (rows, S) the weights of
 * a look, h the annotations, source: row -> source, NULL: k = i. Behind the end of a source there are zeros. */

/* y[i,j] = before[i,j] + a[i,j] / phi_j, phi_j = 2 sigmoid(fertility[at_k + j]). before (rows or more, S),
 * fertility (N, 1), NULL: phi = 1. Returns (rows, S). */
tensor *coverage_sum(tape *t, tensor *before, tensor *a, tensor *fertility, const annotations *h,
                     const int *source);

/* What goes into a gated unit at every position:
 *   y[i S + j] = a[i,j] w + p[at_k + j] + q[i]
 * w (W, 1), p (N, W), q (rows, W). Returns (rows S, W), consumed. */
tensor *coverage_input(tape *t, tensor *a, param *w, tensor *p, tensor *q, const annotations *h, const int *source);

#endif
