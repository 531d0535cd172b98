#include "op/attention_additive.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct attention_record {
    op_record record;
    tensor *q, *weights, *context;
    annotations h;
    param *v_a;
    const int *source;
} attention_record;

/* de_j = a_j (da_j - sum_k a_k da_k) with da_j = dc . h_j; then the chain through tanh, position by position. de
 * (S) and dq (A) are for use inside; dq ends in q's place. */
static void backward_row(attention_record *r, int i, real *dv, real *de, real *dq) {
    int S = r->h.longest, D = tensor_cols(r->h.values), A = tensor_cols(r->h.keys);
    int k = r->source ? r->source[i] : i, length = r->h.lengths[k];
    long at = r->h.at[k];
    const real *a = r->weights->data + (long)i * S, *dc = r->context->grad + (long)i * D;
    const real *h = r->h.values->data + at * D, *keys = r->h.keys->data + at * A;
    real *dh = r->h.values->grad + at * D, *dkeys = r->h.keys->grad + at * A, *q = r->q->data + (long)i * A;
    real mean = 0;
    for (int j = 0; j < length; j++) {
        de[j] = vec_dot(dc, h + (long)j * D, D);
        mean += a[j] * de[j];
        vec_axpy(dh + (long)j * D, a[j], dc, D);
    }
    memset(dq, 0, (size_t)A * sizeof *dq);
    for (int j = 0; j < length; j++)
        vec_tanh_dot_backward(a[j] * (de[j] - mean), r->v_a->value, q, keys + (long)j * A, dv, dq,
                              dkeys + (long)j * A, A);
    memcpy(q, dq, (size_t)A * sizeof *q);
}

static void attention_backward(tape *t, op_record *record) {
    attention_record *r = (attention_record *)record;
    if (!tensor_has_grad(r->context)) {
        memset(r->q->data, 0, (size_t)tensor_count(r->q) * sizeof(real));
        return;
    }
    int S = r->h.longest, A = tensor_cols(r->q);
    real *dv = tape_direct_grad(t, r->v_a), *inside = tape_scratch(t, (long)S + A);
    if (!dv || !inside)
        return;
    tensor_grad_clear_once(r->h.values);
    tensor_grad_clear_once(r->h.keys);
    for (int i = 0; i < (int)tensor_rows(r->q); i++)
        backward_row(r, i, dv, inside, inside + S);
}

void attention_additive_row(attention_row r, real *a, real *c) {
    for (int j = 0; j < r.length; j++)
        a[j] = vec_tanh_dot(r.v_a, r.q, r.keys + (long)j * r.A, r.A);
    real largest = a[0];
    for (int j = 1; j < r.length; j++)
        largest = a[j] > largest ? a[j] : largest;
    real scale = 1 / vec_exp_shift(a, a, largest, r.length);
    memset(c, 0, (size_t)r.D * sizeof *c);
    for (int j = 0; j < r.length; j++) {
        a[j] *= scale;
        vec_axpy(c, a[j], r.values + (long)j * r.D, r.D);
    }
}

tensor *attention_additive(tape *t, tensor *q, const annotations *h, param *v_a, const int *source,
                           tensor **weights) {
    if (!q || !h->values || !h->keys)
        return tape_fail(t);
    int rows = (int)tensor_rows(q), S = h->longest, D = tensor_cols(h->values), A = tensor_cols(q);
    SA_ASSERT(tensor_cols(h->keys) == A && v_a->dim[0] == A && tensor_rows(h->keys) == tensor_rows(h->values));
    tensor *a = tape_matrix(t, rows, S), *c = tape_matrix(t, rows, D);
    if (!a || !c)
        return NULL;
    memset(a->data, 0, (size_t)tensor_count(a) * sizeof *a->data);
    for (int i = 0; i < rows; i++) {
        int k = source ? source[i] : i;
        attention_row row = {q->data + (long)i * A,
                             h->keys->data + (long)h->at[k] * A,
                             h->values->data + (long)h->at[k] * D,
                             v_a->value,
                             h->lengths[k],
                             A,
                             D};
        attention_additive_row(row, a->data + (long)i * S, c->data + (long)i * D);
    }
    attention_record *r = tape_record(t, sizeof *r, attention_backward);
    if (r) {
        r->q = q;
        r->weights = a;
        r->context = c;
        r->h = *h;
        r->v_a = v_a;
        r->source = source;
    }
    if (weights)
        *weights = a;
    return t->failed ? NULL : c;
}
