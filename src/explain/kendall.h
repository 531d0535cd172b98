/* Rank correlation (Kendall 1938, 1945). */
#ifndef EXPLAIN_KENDALL_H
#define EXPLAIN_KENDALL_H

#include <softalign/explanation.h>

/* tau-b of n pairs (x[i], y[i]): with P pairs of places in the same order in both, Q in opposite ones, and T and U
 * that are tied in x alone and in y alone, tau = (P - Q) / sqrt((P + Q + T) (P + Q + U)) and how likely a tau at
 * least as far from 0 is where all orders of y are: exact without ties for n up to 33, else by the normal
 * distribution with the variance that Kendall 1970 gives for ties. These are SciPy's kendalltau. Takes n^2 / 2
 * comparisons. tau and p are NaN where one side has no two different values, or a value is NaN. */
sa_correlation kendall_tau(const float *x, const float *y, int n);

#endif
