#include "op/norm.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct norm_record {
    op_record record;
    tensor *x, *f, *y; /* f holds what was normalised; x NULL: f alone was */
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
    real *dgain = tape_direct_grad(t, r->gain), *dbias = r->bias ? tape_direct_grad(t, r->bias) : NULL;
    if (t->failed)
        return;
    int d = tensor_cols(r->y);
    if (r->x)
        tensor_grad_clear_once(r->x);
    for (long i = 0; i < tensor_rows(r->y); i++) {
        real *z = r->f->data + i * d;
        vec_normalise_backward(z, r->y->grad + i * d, r->gain->value, r->scale[i], dgain, d);
        if (dbias)
            vec_add(dbias, r->y->grad + i * d, d);
        if (r->x)
            vec_add(r->x->grad + i * d, z, d);
        unit_dropout_row(t, &r->dropout, i, z, d);
    }
}

static tensor *make(tape *t, norm_record now) {
    tensor *y = now.y, *f = now.f;
    int d = tensor_cols(f);
    long N = tensor_rows(f);
    SA_ASSERT(now.gain->dim[0] == d && (!now.bias || now.bias->dim[0] == d));
    SA_ASSERT(f->grad == (t->recording ? f->data : NULL));
    now.scale = tape_reals(t, N);
    if (!y || !now.scale)
        return NULL;
    for (long i = 0; i < N; i++) {
        real *z = f->data + i * d;
        unit_dropout_row(t, &now.dropout, i, z, d);
        if (now.x)
            vec_add(z, now.x->data + i * d, d);
        now.scale[i] = vec_normalise(z, d);
        if (now.bias)
            vec_scale(y->data + i * d, z, now.gain->value, now.bias->value, d);
        else
            vec_mul(y->data + i * d, z, now.gain->value, d);
    }
    norm_record *r = tape_record(t, sizeof *r, norm_backward);
    if (r) {
        now.record = r->record;
        *r = now;
    }
    return t->failed ? NULL : y;
}

tensor *op_add_norm(tape *t, tensor *x, tensor *f, param *gain, param *bias, const unit_dropout *dropout) {
    if (!x || !f)
        return tape_fail(t);
    SA_ASSERT(tensor_rows(f) == tensor_rows(x) && tensor_cols(f) == tensor_cols(x));
    return make(
        t, (norm_record){.x = x, .f = f, .y = tape_like(t, x), .gain = gain, .bias = bias, .dropout = *dropout});
}

tensor *op_norm(tape *t, tensor *f, param *gain, param *bias) {
    return f ? make(t, (norm_record){.f = f, .y = tape_like(t, f), .gain = gain, .bias = bias}) : tape_fail(t);
}

tensor *op_norm_consumed(tape *t, tensor *f, param *gain, param *bias) {
    if (!f)
        return tape_fail(t);
    tensor *y = tape_consumed(t, (int)tensor_rows(f), tensor_cols(f));
    return make(t, (norm_record){.f = f, .y = y, .gain = gain, .bias = bias});
}
