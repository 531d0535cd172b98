#include "op/pointwise.h"

#include "math/vecmath.h"

typedef struct pointwise_record {
    op_record record;
    tensor *y, *a, *b;
} pointwise_record;

static tensor *record(tape *t, op_backward *backward, tensor *y, tensor *a, tensor *b) {
    pointwise_record *r = tape_record(t, sizeof *r, backward);
    if (r) {
        r->y = y;
        r->a = a;
        r->b = b;
    }
    return t->failed ? NULL : y;
}

static void tanh_backward(tape *t, op_record *base) {
    (void)t;
    pointwise_record *r = (pointwise_record *)base;
    if (!r->y->has_grad)
        return;
    tensor_grad_clear_once(r->a);
    int cols = tensor_cols(r->y);
    for (long i = 0; i < tensor_count(r->y); i += cols)
        vec_tanh_backward(r->a->grad + i, r->y->grad + i, r->y->data + i, cols);
}

tensor *op_tanh(tape *t, tensor *x) {
    tensor *y = x ? tape_like(t, x) : tape_fail(t);
    if (!y)
        return NULL;
    int cols = tensor_cols(x);
    for (long i = 0; i < tensor_count(x); i += cols)
        vec_tanh(y->data + i, x->data + i, cols);
    return record(t, tanh_backward, y, x, NULL);
}

static void add_backward(tape *t, op_record *base) {
    (void)t;
    pointwise_record *r = (pointwise_record *)base;
    if (!r->y->has_grad)
        return;
    tensor_grad_clear_once(r->a);
    tensor_grad_clear_once(r->b);
    int cols = tensor_cols(r->y);
    for (long i = 0; i < tensor_count(r->y); i += cols) {
        vec_add(r->a->grad + i, r->y->grad + i, cols);
        vec_add(r->b->grad + i, r->y->grad + i, cols);
    }
}

tensor *op_add(tape *t, tensor *a, tensor *b) {
    tensor *y = a && b ? tape_like(t, a) : tape_fail(t);
    if (!y)
        return NULL;
    SA_ASSERT(tensor_count(a) == tensor_count(b));
    long n = tensor_count(a);
#pragma omp simd
    for (long i = 0; i < n; i++)
        y->data[i] = a->data[i] + b->data[i];
    return record(t, add_backward, y, a, b);
}

static void maxout_backward(tape *t, op_record *base) {
    (void)t;
    pointwise_record *r = (pointwise_record *)base;
    if (!r->y->has_grad)
        return;
    tensor_grad_clear_once(r->a);
    const real *x = r->a->data, *dy = r->y->grad;
    real *dx = r->a->grad;
    for (long i = 0; i < tensor_count(r->y); i++)
        dx[2 * i + (x[2 * i + 1] > x[2 * i])] += dy[i];
}

tensor *op_maxout(tape *t, tensor *x) {
    if (!x)
        return tape_fail(t);
    SA_ASSERT(tensor_cols(x) % 2 == 0);
    tensor *y = tape_matrix(t, (int)tensor_rows(x), tensor_cols(x) / 2);
    if (!y)
        return NULL;
    long n = tensor_count(y);
    for (long i = 0; i < n; i++)
        y->data[i] = x->data[2 * i + 1] > x->data[2 * i] ? x->data[2 * i + 1] : x->data[2 * i];
    return record(t, maxout_backward, y, x, NULL);
}
