/* Losses against another model: to write the same, and to look elsewhere (Wiegreffe and Pinter 2019, 5.1). */
#ifndef OP_DIVERGENCE_H
#define OP_DIVERGENCE_H

#include "tape/tape.h"

/* An output layer: p = softmax(W h + b) for rows of h. */
typedef struct output_rows {
    tensor *h;
    param *W, *b;
} output_rows;

/* Total variation distance of two models' probabilities, summed over rows: sum_i sum_v |p_iv - q_iv| / 2. Both have
 * as many rows and outputs; q, of whatever tape, is constant. Adds to *sum. When the tape of p records, p.h->grad
 * becomes scale * d(sum)/dh and the gradients of W and b are added up at once: this is the last operation of a pass
 * and p.h must have no other reader. False once the tape has failed. */
bool op_tvd(tape *t, output_rows p, tape *other, output_rows q, double scale, double *sum);

/* How far weights of attention are from others, KL(a || b) summed over rows: sum_ij a_ij log((a_ij + e) / (b_ij +
 * e)) with e = 1e-10. a, b (N, S), b constant. Adds to *sum and, when the tape records, scale * d(sum)/da to
 * a->grad. */
void op_kl(tape *t, tensor *a, const tensor *b, double scale, double *sum);

#endif
