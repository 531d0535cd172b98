#include "op/cover.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct coverage_record {
    op_record record;
    tensor *y, *before, *a, *fertility; /* of a sum; fertility may be NULL */
    tensor *p, *q;                      /* of an input */
    param *w;
    annotations h;
    const int *source;
} coverage_record;

static int source_of(const coverage_record *r, int i) {
    return r->source ? r->source[i] : i;
}

static void keep(tape *t, const coverage_record *now, op_backward *backward) {
    coverage_record *r = tape_record(t, sizeof *r, backward);
    if (!r)
        return;
    op_record record = r->record;
    *r = *now;
    r->record = record;
}

/* ---- sum --------------------------------------------------------------------------------------------- */

/* phi, from the positions of row i's source; 1 everywhere where none is learned. */
static void fertilities(const coverage_record *r, int i, real *phi) {
    int k = source_of(r, i), n = r->h.lengths[k];
    for (int j = 0; j < n; j++)
        phi[j] = 1;
    if (r->fertility)
        vec_sigmoid(phi, r->fertility->data + r->h.at[k], n);
    for (int j = 0; r->fertility && j < n; j++)
        phi[j] *= 2;
}

/* da_j = dy_j / phi_j, and of what phi is made of: phi' = phi (1 - phi / 2). */
static void sum_backward_row(const coverage_record *r, int i, real *phi) {
    int S = r->h.longest, k = source_of(r, i), n = r->h.lengths[k];
    const real *dy = r->y->grad + (long)i * S, *a = r->a->data + (long)i * S;
    real *df = r->fertility ? r->fertility->grad + r->h.at[k] : NULL;
    vec_add(r->before->grad + (long)i * S, dy, n);
    fertilities(r, i, phi);
    for (int j = 0; j < n; j++) {
        r->a->grad[(long)i * S + j] += dy[j] / phi[j];
        if (df)
            df[j] -= dy[j] * a[j] / phi[j] * (1 - phi[j] / 2);
    }
}

static void sum_backward(tape *t, op_record *record) {
    coverage_record *r = (coverage_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    real *phi = tape_scratch(t, r->h.longest);
    if (!phi)
        return;
    tensor_grad_clear_once(r->before);
    tensor_grad_clear_once(r->a);
    if (r->fertility)
        tensor_grad_clear_once(r->fertility);
    for (int i = 0; i < (int)tensor_rows(r->y); i++)
        sum_backward_row(r, i, phi);
}

tensor *coverage_sum(tape *t, tensor *before, tensor *a, tensor *fertility, const annotations *h,
                     const int *source) {
    if (!before || !a)
        return tape_fail(t);
    int S = h->longest;
    SA_ASSERT(tensor_cols(a) == S && tensor_cols(before) == S && tensor_rows(before) >= tensor_rows(a));
    coverage_record now = {.before = before, .a = a, .fertility = fertility, .h = *h, .source = source};
    now.y = tape_like(t, a);
    real *phi = tape_scratch(t, S);
    if (!now.y || !phi)
        return NULL;
    for (int i = 0; i < (int)tensor_rows(a); i++) {
        real *y = now.y->data + (long)i * S;
        int n = h->lengths[source_of(&now, i)];
        memset(y, 0, (size_t)S * sizeof *y);
        fertilities(&now, i, phi);
        for (int j = 0; j < n; j++)
            y[j] = before->data[(long)i * S + j] + a->data[(long)i * S + j] / phi[j];
    }
    keep(t, &now, sum_backward);
    return t->failed ? NULL : now.y;
}

/* ---- input ------------------------------------------------------------------------------------------- */

static void input_backward(tape *t, op_record *record) {
    coverage_record *r = (coverage_record *)record;
    int S = r->h.longest, W = tensor_cols(r->y);
    real *dw = tape_direct_grad(t, r->w);
    if (!dw)
        return;
    tensor_grad_clear_once(r->a);
    tensor_grad_clear_once(r->p);
    tensor_grad_clear_once(r->q);
    for (int i = 0; i < (int)tensor_rows(r->a); i++) {
        int k = source_of(r, i);
        for (long j = 0; j < r->h.lengths[k]; j++) {
            const real *dy = r->y->grad + ((long)i * S + j) * W;
            r->a->grad[(long)i * S + j] += vec_dot(dy, r->w->value, W);
            vec_axpy(dw, r->a->data[(long)i * S + j], dy, W);
            vec_add(r->p->grad + (r->h.at[k] + j) * W, dy, W);
            vec_add(r->q->grad + (long)i * W, dy, W);
        }
    }
}

tensor *coverage_input(tape *t, tensor *a, param *w, tensor *p, tensor *q, const annotations *h,
                       const int *source) {
    if (!a || !p || !q)
        return tape_fail(t);
    int rows = (int)tensor_rows(a), S = h->longest, W = tensor_cols(p);
    SA_ASSERT(tensor_cols(a) == S && tensor_cols(q) == W && w->dim[0] == W && tensor_rows(q) == rows);
    coverage_record now = {.a = a, .w = w, .p = p, .q = q, .h = *h, .source = source};
    now.y = tape_consumed(t, rows * S, W);
    if (!now.y)
        return NULL;
    memset(now.y->data, 0, (size_t)tensor_count(now.y) * sizeof(real));
    for (int i = 0; i < rows; i++) {
        int k = source_of(&now, i);
        for (long j = 0; j < h->lengths[k]; j++) {
            real *y = now.y->data + ((long)i * S + j) * W;
            memcpy(y, p->data + (h->at[k] + j) * W, (size_t)W * sizeof *y);
            vec_add(y, q->data + (long)i * W, W);
            vec_axpy(y, a->data[(long)i * S + j], w->value, W);
        }
    }
    keep(t, &now, input_backward);
    return t->failed ? NULL : now.y;
}
