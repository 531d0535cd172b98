#include "op/norm.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct norm_record {
    op_record record;
    tensor *x, *f, *y; /* f holds what was normalised */
    param *gain, *bias;
    real *scale; /* (N) */
    unit_dropout dropout;
} norm_record;

static void norm_backward(tape *t, op_record *record) {
    norm_record *r = (norm_record *)record;
    if (!tensor_has_grad(r->y)) { /* f waits for a gradient in its place */
        memset(r->f->data, 0, (size_t)tensor_count(r->f) * sizeof(real));
        return;
    }
    real *dgain = tape_direct_grad(t, r->gain), *dbias = tape_direct_grad(t, r->bias);
    if (!dgain || !dbias)
        return;
    int d = tensor_cols(r->y);
    tensor_grad_clear_once(r->x);
    for (long i = 0; i < tensor_rows(r->y); i++) {
        real *z = r->f->data + i * d;
        vec_normalise_backward(z, r->y->grad + i * d, r->gain->value, r->scale[i], dgain, dbias, d);
        vec_add(r->x->grad + i * d, z, d);
        unit_dropout_row(t, &r->dropout, i, z, d);
    }
}

tensor *op_add_norm(tape *t, tensor *x, tensor *f, param *gain, param *bias, const unit_dropout *dropout) {
    if (!x || !f)
        return tape_fail(t);
    int d = tensor_cols(x);
    long N = tensor_rows(x);
    SA_ASSERT(tensor_rows(f) == N && tensor_cols(f) == d && gain->dim[0] == d && bias->dim[0] == d);
    SA_ASSERT(f->grad == (t->recording ? f->data : NULL));
    tensor *y = tape_like(t, x);
    real *scale = tape_reals(t, N);
    if (!y || !scale)
        return NULL;
    for (long i = 0; i < N; i++) {
        real *z = f->data + i * d;
        unit_dropout_row(t, dropout, i, z, d);
        vec_add(z, x->data + i * d, d);
        scale[i] = vec_normalise(z, d);
        vec_scale(y->data + i * d, z, gain->value, bias->value, d);
    }
    norm_record *r = tape_record(t, sizeof *r, norm_backward);
    if (r) {
        r->x = x;
        r->f = f;
        r->y = y;
        r->gain = gain;
        r->bias = bias;
        r->scale = scale;
        r->dropout = *dropout;
    }
    return t->failed ? NULL : y;
}
