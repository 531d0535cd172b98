#ifndef OP_ATTENTION_SUMS_H
#define OP_ATTENTION_SUMS_H

#include "tape/tape.h"

/* The doubly stochastic regulariser of Xu et al. 2015, 4.2.1: over all steps, each place should be looked at once.
 *   loss = factor sum_i 1/S_i sum_j (1 - sum_t a_tij)^2     of targets i, steps t, and the S_i places j of its
 * source The mean over places is that of the authors' code; the paper has their sum. weights (rows of all steps,
 * S), which has other readers; source: target -> source; lengths: of each source. When the tape records, weights
 * get scale times the gradient. Returns the loss. */
double attention_sums(tape *t, tensor *weights, const steps *over, const int *source, const int *lengths,
                      double factor, double scale);

#endif
