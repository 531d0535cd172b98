#ifndef OP_XENT_H
#define OP_XENT_H

#include "tape/tape.h"

typedef struct xent_sums {
    double loss; /* with label smoothing and agreement */
    double nll;  /* sum of -log p(target) */
} xent_sums;

/* Rows whose probabilities are in memory together: many, because each chunk reads and writes the gradient of W
 * once; not all, because they take rows * V numbers. Measured best of 128 ... 400 at V = 10,000 and 30,000. */
enum { XENT_CHUNK_ROWS = 384 };

/* Output layer, softmax, cross-entropy and their gradients in one go, in chunks of rows: the (N, V) matrix of
 * probabilities never exists.
 *   x = W h + b   p = softmax(x)   loss_i = -sum_k q_k log p_k,  q = (1 - smoothing) onehot(target) + smoothing / V
 * With an agreement A above 0 rows come in pairs, 0 and 1, 2 and 3, ..., of one target under two dropout masks, and
 * a pair's loss is loss_i + loss_i+1 + A/2 (KL(p_i || p_i+1) + KL(p_i+1 || p_i)) (Liang et al. 2021, R-Drop, eq.
 * 4). h (N, l), W (V, l), b (V), targets N ids, N even with an agreement. Adds to *sums; row_nll, when not NULL,
 * gets each row's -log p(target). When the tape records, h->grad becomes scale * d(sum of loss)/dh and the
 * gradients of W and b are added up at once: this is the last operation of a pass and h must have no other reader.
 * False once the tape has failed. */
bool op_xent(tape *t, tensor *h, param *W, param *b, const int *targets, float smoothing, float agreement,
             double scale, xent_sums *sums, double *row_nll);

/* The backward of an output layer x = W h + b for a chunk of rows, at once: from dx to dh, and added to the
 * gradients of W and b. False without memory. */
bool output_gradients(tape *t, matrix h, matrix dh, matrix dx, param *W, param *b);

#endif
