#ifndef DECODE_TOP_H
#define DECODE_TOP_H

#include "math/real.h"

/* The best k of n scores, best first, ties to the smaller index; returns how many there are: min(k, n). */
typedef struct scored {
    double score;
    int index;
} scored;
int top_of(const real *x, int n, int k, scored *out);
/* log sum exp of a row; scratch has n places. */
double log_sum_exp(const real *x, int n, real *scratch);

#endif
