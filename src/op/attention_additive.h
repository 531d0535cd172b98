#ifndef OP_ATTENTION_ADDITIVE_H
#define OP_ATTENTION_ADDITIVE_H

#include "tape/tape.h"

/* Annotations of a batch of sources, with their part of the alignment model's hidden layer, which is the same for
 * every target word. The positions of source k are rows at[k] ... at[k] + lengths[k] - 1. */
typedef struct annotations {
    tensor *values; /* h (N, D), N: the sum of all lengths */
    tensor *keys;   /* U_a h (N, A) */
    const int *at, *lengths;
    int longest; /* S */
} annotations;

/* Additive attention (Bahdanau et al. 2015, A.1.2).
 *   e[i,j] = v_a . tanh(q[i] + keys[at_k + j])   a[i,:] = softmax(e[i,:]) over j < lengths[k]   k = source[i]
 *   c[i]   = sum_j a[i,j] values[at_k + j]
 * q (rows, A): W_a s, consumed. source: row -> source, so that the hypotheses of a beam share annotations; NULL: k
 * = i. Returns c (rows, D) and, when weights is not NULL, a (rows, S), 0 beyond the source's length. tanh is
 * computed again in backward: a step keeps O(rows S) numbers. */
tensor *attention_additive(tape *t, tensor *q, const annotations *h, param *v_a, const int *source,
                           tensor **weights);

/* The same for one query, without a tape: q (A), keys (length, A), values (length, D), v_a (A) -> a (length), c
 * (D). length at least 1. */
typedef struct attention_row {
    const real *q, *keys, *values, *v_a;
    int length, A, D;
} attention_row;
void attention_additive_row(attention_row row, real *a, real *c);

#endif
