#ifndef OP_POSITION_H
#define OP_POSITION_H

#include "tape/tape.h"

/* y[i] = scale x[i] + P[position[i]], with waves of all lengths (Vaswani et al. 2017, 3.5):
 *   P[p][2k] = sin(p / 10000^(2k/d))    P[p][2k+1] = cos(p / 10000^(2k/d))
 * x (N, d), position (N), from 0. Returns (N, d). */
tensor *op_position(tape *t, tensor *x, double scale, const int *position);

#endif
