#ifndef OP_ATTENTION_MULTIHEAD_H
#define OP_ATTENTION_MULTIHEAD_H

#include "tape/tape.h"

/* Which keys each query sees. Group g is queries query[query_at[g]] ... query[query_at[g + 1] - 1], rows of the
 * matrix of queries, and likewise keys, of which there is at least one where there are queries. A query is in one
 * group. The arrays are kept by the caller until tape_reset. */
typedef struct attention_groups {
    int n;
    const int *query, *query_at, *key, *key_at;
    bool causal; /* of Q queries and K >= Q keys, query r sees the first K - Q + r + 1 keys only */
} attention_groups;

/* The weights that an operation shows: of one head, counted from 1, or with 0 the mean of all, (rows, S). */
typedef struct shown_weights {
    int head, S;
    tensor *weights;
} shown_weights;

/* Multi-head scaled dot-product attention (Vaswani et al. 2017, 3.2), without the projections. Of every head, with
 * its own d/heads columns of q, keys and values,
 *   a[i,:] = softmax_j(q[i] . keys[j] / sqrt(d/heads))   c[i] = sum_j a[i,j] values[j]   over the keys that i sees
 * q (rows, d), consumed; kv (N, 2d): keys, then values; past (R, 2d), NULL: none: rows that stand before those of
 * kv: key row k is past[k] for k < R, else kv[k - R]; it has no gradient.
 * Returns c (rows, d), the heads side by side. shown, when not NULL, gets weights, 0 where a query sees nothing;
 * they may have readers. Of the size of rows times keys nothing but these is kept for backward. */
tensor *attention_multihead(tape *t, tensor *q, tensor *kv, const tensor *past, const attention_groups *groups,
                            int heads, shown_weights *shown);

#endif
