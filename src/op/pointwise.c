#include "op/pointwise.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct pointwise_record {
    op_record record;
    tensor *y, *x;
} pointwise_record;

static tensor *record(tape *t, op_backward *backward, tensor *y, tensor *x) {
    pointwise_record *r = tape_record(t, sizeof *r, backward);
    if (r) {
        r->y = y;
        r->x = x;
    }
    return t->failed ? NULL : y;
}

static void tanh_backward(tape *t, op_record *base) {
    (void)t;
    pointwise_record *r = (pointwise_record *)base;
    if (!tensor_has_grad(r->y))
        return;
    tensor_grad_clear_once(r->x);
    int cols = tensor_cols(r->y);
    for (long i = 0; i < tensor_count(r->y); i += cols)
        vec_tanh_backward(r->x->grad + i, r->y->grad + i, r->y->data + i, cols);
}

tensor *op_tanh(tape *t, tensor *x) {
    tensor *y = x ? tape_like(t, x) : tape_fail(t);
    if (!y)
        return NULL;
    int cols = tensor_cols(x);
    for (long i = 0; i < tensor_count(x); i += cols)
        vec_tanh(y->data + i, x->data + i, cols);
    return record(t, tanh_backward, y, x);
}

static void relu_backward(tape *t, op_record *base) {
    (void)t;
    pointwise_record *r = (pointwise_record *)base;
    if (!tensor_has_grad(r->y))
        return;
    int cols = tensor_cols(r->y);
    for (long i = 0; i < tensor_count(r->y); i += cols)
        vec_relu_backward(r->y->grad + i, r->y->data + i, cols);
}

tensor *op_relu(tape *t, tensor *x) {
    if (!x)
        return tape_fail(t);
    int cols = tensor_cols(x);
    for (long i = 0; i < tensor_count(x); i += cols)
        vec_relu(x->data + i, x->data + i, cols);
    return record(t, relu_backward, x, x);
}

typedef struct add_record {
    op_record record;
    tensor *y, *term[2];
} add_record;

static void add_backward(tape *t, op_record *base) {
    (void)t;
    add_record *r = (add_record *)base;
    if (!tensor_has_grad(r->y))
        return;
    int cols = tensor_cols(r->y);
    for (int k = 0; k < 2; k++) {
        tensor_grad_clear_once(r->term[k]);
        for (long i = 0; i < tensor_count(r->y); i += cols)
            vec_add(r->term[k]->grad + i, r->y->grad + i, cols);
    }
}

tensor *op_add(tape *t, tensor *a, tensor *b) {
    tensor *y = a && b ? tape_like(t, a) : tape_fail(t);
    if (!y)
        return NULL;
    SA_ASSERT(tensor_count(a) == tensor_count(b) && tensor_cols(a) == tensor_cols(b));
    int cols = tensor_cols(a);
    memcpy(y->data, a->data, (size_t)tensor_count(a) * sizeof *y->data);
    for (long i = 0; i < tensor_count(a); i += cols)
        vec_add(y->data + i, b->data + i, cols);
    add_record *r = tape_record(t, sizeof *r, add_backward);
    if (r) {
        r->y = y;
        r->term[0] = a;
        r->term[1] = b;
    }
    return t->failed ? NULL : y;
}

static void maxout_backward(tape *t, op_record *base) {
    (void)t;
    pointwise_record *r = (pointwise_record *)base;
    int l = tensor_cols(r->y);
    if (!tensor_has_grad(r->y)) {
        memset(r->x->data, 0, (size_t)tensor_count(r->x) * sizeof(real));
        return;
    }
    for (long i = 0; i < tensor_rows(r->y); i++)
        vec_maxout_backward(r->x->data + 2 * i * l, r->y->grad + i * l, l);
}

tensor *op_maxout(tape *t, tensor *x) {
    if (!x)
        return tape_fail(t);
    SA_ASSERT(tensor_cols(x) % 2 == 0);
    int l = tensor_cols(x) / 2;
    tensor *y = tape_matrix(t, (int)tensor_rows(x), l);
    if (!y)
        return NULL;
    for (long i = 0; i < tensor_rows(y); i++)
        vec_maxout(y->data + i * l, x->data + 2 * i * l, l);
    tape_show(t, "maxout", NULL, x);
    return record(t, maxout_backward, y, x);
}

typedef struct gate_record {
    op_record record;
    tensor *y, *x, *s;
} gate_record;

/* s became its sigmoid g, and becomes its gradient: dg_i = dy_i . x_i. */
static void gate_backward(tape *t, op_record *base) {
    (void)t;
    gate_record *r = (gate_record *)base;
    int D = tensor_cols(r->x);
    bool any = tensor_has_grad(r->y);
    if (any)
        tensor_grad_clear_once(r->x);
    for (long i = 0; i < tensor_rows(r->x); i++) {
        real g = r->s->data[i];
        r->s->data[i] = any ? vec_dot(r->y->grad + i * D, r->x->data + i * D, D) * g * (1 - g) : 0;
        if (any)
            vec_axpy(r->x->grad + i * D, g, r->y->grad + i * D, D);
    }
}

tensor *op_gate(tape *t, tensor *x, tensor *s) {
    tensor *y = x && s ? tape_like(t, x) : tape_fail(t);
    if (!y)
        return NULL;
    int D = tensor_cols(x), N = (int)tensor_rows(x);
    SA_ASSERT(tensor_count(s) == N);
    vec_sigmoid(s->data, s->data, N);
    memset(y->data, 0, (size_t)tensor_count(y) * sizeof *y->data);
    for (long i = 0; i < N; i++)
        vec_axpy(y->data + i * D, s->data[i], x->data + i * D, D);
    gate_record *r = tape_record(t, sizeof *r, gate_backward);
    if (r) {
        r->y = y;
        r->x = x;
        r->s = s;
    }
    return t->failed ? NULL : y;
}
