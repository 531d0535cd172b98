#ifndef OP_ATTENTION_H
#define OP_ATTENTION_H

#include "tape/tape.h"

/* Annotations of a batch of sources, with what energies are made of and every target word needs again. The
 * positions of source k are rows at[k] ... at[k] + lengths[k] - 1. */
typedef struct annotations {
    tensor *values; /* h (N, D), N: the sum of all lengths */
    tensor *keys;   /* (N, A); may be the values; NULL where no energy reads them */
    const int *at, *lengths;
    int longest; /* S */
} annotations;

/* One query and the source it looks at. */
typedef struct attention_row {
    const real *q, *keys, *values, *v_a;
    int length, A, D;
} attention_row;

/* How energies e[j], from <= j < to, come from a query, and how their gradients de go back: dq, dkeys and dv are
 * added to. */
typedef struct attention_score {
    void (*energies)(const attention_row *r, int from, int to, real *e);
    /* What energies are made of, (length, A) each, for who wants to see it: q + keys[j] and its tanh; NULL:
     * nothing. */
    void (*parts)(const attention_row *r, int from, int to, real *sum, real *squashed);
    void (*backward)(const attention_row *r, int from, int to, const real *de, real *dq, real *dkeys, real *dv);
} attention_score;
/* e[j] = v_a . tanh(q + keys[j]): Bahdanau et al. 2015, A.1.2, with q = W_a s and keys = U_a h
 * e[j] = q . keys[j]: dot and general of Luong et al. 2015, 3.1, with keys = h or W_a h
 * e[j] = q[j]: location of the same, q = W_a s; positions beyond A get no weight */
extern const attention_score score_additive, score_dot, score_location;

/* Where a look goes. window 0: to the whole source. window D: to the 2 D + 1 positions around a centre, cut at the
 * ends of the source (Luong et al. 2015, 3.2), which is centre[i] of row i or, where `place` is given, floor(p_i)
 * with p_i = length * sigmoid(place_i) and weights are multiplied by exp(-(j - p_i)^2 / (2 (D/2)^2)) after the
 * softmax, not normalised again. */
typedef struct attention_form {
    const attention_score *score;
    param *v_a; /* of score_additive */
    int window;
    const int *centre; /* (rows), kept by the caller until tape_reset */
    tensor *place;     /* (rows, 1), consumed */
    /* Coverage C (rows, S d) of every position that a row may look at, and V_a (A, d): the key of position j is
     * keys[j] + V_a C[i,j] (Tu et al. 2016, 3.1). NULL: none. */
    tensor *coverage;
    param *V_a;
} attention_form;

/* What a pass does with the weights of all its looks, whatever model makes it: tape.attention, before the look;
 * NULL: nothing. Weights that are detached, uniform or given are constants of the pass: nothing flows back through
 * them into queries, keys, place and v_a. uniform   all positions that the form looks at alike given     (rows of
 * all steps of the loop, S; outside of loops rows, S): row by row these, wherever the form looks. Where given has
 * memory for a gradient, its rows get d/da[i,j] = dc[i] . h_j */
typedef struct attention_control {
    bool detached, uniform;
    tensor *given;
} attention_control;

/* Attention of rows of queries to annotations:
 *   a[i,:] = softmax(e[i,:]) over the positions looked at   c[i] = sum_j a[i,j] values[at_k + j]   k = source[i]
 * q (rows, A), consumed if it was made to be. source: row -> source, so that the hypotheses of a beam share
 * annotations; NULL: k = i. Returns c (rows, D) and, when weights is not NULL, a (rows, S), 0 where nobody looked,
 * which may be read by more operations. Energies are computed again in backward: a step keeps O(rows S) numbers.
 * Values without memory for a gradient are constants; then the weights must be constants too.
 *
 * Where the form scores, the tape's witness is shown, of v_a: "query" q; "keys" as in h; "energies" e (rows, S);
 * with scores that have parts "sum" and "tanh" (rows, S A). NaN where a row does not look. */
tensor *attention(tape *t, const attention_form *form, tensor *q, const annotations *h, const int *source,
                  tensor **weights);

/* The same for one query, additive and global, without a tape: a (length), c (D). length at least 1. */
void attention_additive_row(const attention_row *row, real *a, real *c);

#endif
