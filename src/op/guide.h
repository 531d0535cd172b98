#ifndef OP_GUIDE_H
#define OP_GUIDE_H

#include "tape/tape.h"

/* Where rows of attention ought to look: row i at columns column[at[i]] ... column[at[i + 1] - 1], at each alike;
 * at none where the range is empty. Kept by the caller until tape_reset. */
typedef struct guide_rows {
    const int *at; /* NULL: no row is guided */
    const int *column;
} guide_rows;

/* The cross-entropy of weights a (rows, S) with where they ought to look (Chen et al. 2016),
 *   D = -sum over guided rows i of (1 / n_i) sum over its n_i columns j of log(a[i,j] + 1e-6)
 * When the tape records, scale * dD/da is added to the gradient of the weights at once: they need have no other
 * reader, and may have some. 0 when the tape has failed. */
double op_guide(tape *t, tensor *weights, const guide_rows *rows, double scale);

#endif
