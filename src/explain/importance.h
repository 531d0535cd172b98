/* How much each source word matters to each target word, by four measures. All write (T, S). */
#ifndef EXPLAIN_IMPORTANCE_H
#define EXPLAIN_IMPORTANCE_H

#include "explain/forced.h"

/* The weights themselves. */
void importance_attention(const forced *f, float *out);
/* Attention times the norm of what it carries: a[i,j] |h_j| (Kobayashi et al. 2020). */
void importance_carried(const forced *f, float *out);
/* Gradient times input: |x_j . d log p(y_i | y_<i, x) / d x_j| with x_j the embedded word j and the weights of
 * attention held where they are (Jain and Wallace 2019), divided by the sum over j. As the sum divides a factor p
 * away, it is the same of p(y_i). False once the tape has failed. */
bool importance_gradient(const forced *f, float *out);
/* Leave one out: TVD(p(. | y_<i, x), p(. | y_<i, x without word j)). The end mark, which is left in, has NaN. False
 * once the tape has failed. */
bool importance_leave_one_out(const forced *f, float *out);

#endif
